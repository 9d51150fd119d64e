/**
 * Decodes bytes. Headers and pages lie about their encoding, so the bytes decide first: valid UTF-8 with non-ASCII
 * characters is UTF-8 whatever is declared, and invalid UTF-8 is not.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { guessCharset } from "./charset/guess.ts";

export interface Decoded {
  text: string;
  /** WHATWG name. */
  charset: string;
}

/** More than the 1024 bytes of browsers: some pages have large inline scripts before `<meta charset>`. */
const PRESCAN = 4096;
const SAMPLE = 64 * 1024;

export function decodeBody(bytes: Uint8Array, contentType: string | null): Decoded {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const bom = byteOrderMark(buffer);
  if (bom !== null) return decodeAs(buffer.subarray(bom.length), bom.charset);
  const header = charsetNamed(/charset\s*=\s*["']?\s*([^\s"';,]+)/i.exec(contentType ?? "")?.[1]);
  const utf16 = utf16WithoutBom(buffer);
  if (utf16 !== null) return decodeAs(buffer, utf16);
  // Fast path: most pages are ASCII or UTF-8. ISO-2022-JP consists of ASCII bytes.
  if (isAscii(buffer)) {
    const named = header ?? declaredIn(buffer) ?? (hasJapaneseEscapes(buffer) ? "iso-2022-jp" : null);
    if (named === "iso-2022-jp") return decodeAs(buffer, named);
    return {
      text: buffer.toString("latin1"),
      charset: named?.startsWith("utf-16") === true ? "utf-8" : (named ?? "utf-8"),
    };
  }
  if (isUtf8(buffer)) return { text: buffer.toString("utf8"), charset: "utf-8" };
  const declared = declaredIn(buffer);
  for (const claim of [header, declared]) {
    // Strict UTF-8 was ruled out above, but a truncated page, or one with a bad byte, still counts.
    if (claim === "utf-8" ? isMostlyUtf8(buffer) : claim !== null && fits(buffer, claim)) {
      return decodeAs(buffer, claim as string);
    }
  }
  if (isMostlyUtf8(buffer)) return decodeAs(buffer, "utf-8");
  return decodeAs(buffer, guessCharset(buffer));
}

function byteOrderMark(buffer: Buffer): { charset: string; length: number } | null {
  if (buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf) return { charset: "utf-8", length: 3 };
  if (buffer[0] === 0xff && buffer[1] === 0xfe) return { charset: "utf-16le", length: 2 };
  if (buffer[0] === 0xfe && buffer[1] === 0xff) return { charset: "utf-16be", length: 2 };
  return null;
}

/** UTF-16 without a BOM: every other byte of `<html` is zero. */
function utf16WithoutBom(buffer: Buffer): string | null {
  const sample = buffer.subarray(0, 256);
  let even = 0;
  let odd = 0;
  for (let at = 0; at < sample.length; at += 1) {
    if (sample[at] !== 0) continue;
    if (at % 2 === 0) even += 1;
    else odd += 1;
  }
  const threshold = sample.length / 4;
  if (sample.length < 8 || (even < threshold && odd < threshold)) return null;
  if (odd >= threshold && even === 0) return "utf-16le";
  return even >= threshold && odd === 0 ? "utf-16be" : null;
}

/** `<meta charset>`, `<meta http-equiv>` or the XML declaration. */
function declaredIn(buffer: Buffer): string | null {
  const head = buffer.toString("latin1", 0, PRESCAN).replace(/<!--[\s\S]*?(?:-->|$)/g, "");
  const xml = /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]+)/i.exec(head)?.[1];
  const meta = /<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1];
  const named = charsetNamed(xml ?? meta);
  // A declaration that is readable as ASCII cannot be UTF-16 (HTML standard).
  return named?.startsWith("utf-16") === true ? "utf-8" : named;
}

/** The escape sequences of ISO-2022-JP: `ESC $ B` or `ESC $ @`, and `ESC (` back to ASCII. */
function hasJapaneseEscapes(buffer: Buffer): boolean {
  return buffer.includes("\x1b(") && (buffer.includes("\x1b$B") || buffer.includes("\x1b$@"));
}

function charsetNamed(label: string | undefined): string | null {
  if (label === undefined) return null;
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch {
    return null;
  }
}

function decodeAs(buffer: Buffer, charset: string): Decoded {
  if (charset === "utf-8") return { text: buffer.toString("utf8"), charset };
  return { text: new TextDecoder(charset, { ignoreBOM: true }).decode(buffer), charset };
}

/** Tolerates a truncated character and a few bad bytes; more means another encoding. */
function isMostlyUtf8(buffer: Buffer): boolean {
  const text = buffer.subarray(0, SAMPLE).toString("utf8");
  let broken = 0;
  let nonAscii = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 127) nonAscii += 1;
    if (code === 0xfffd) broken += 1;
  }
  return broken <= Math.max(2, nonAscii / 50) && broken * 2 < nonAscii;
}

/** Single-byte encodings accept any bytes; the others produce replacement characters when wrong. */
function fits(buffer: Buffer, charset: string): boolean {
  const text = decodeAs(buffer.subarray(0, SAMPLE), charset).text;
  let broken = 0;
  for (let at = text.indexOf("\ufffd"); at >= 0; at = text.indexOf("\ufffd", at + 1)) broken += 1;
  return broken * 100 <= text.length;
}
