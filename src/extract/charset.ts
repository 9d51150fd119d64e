/**
 * Bytes to text. Headers and pages lie about their encoding, so a claim is believed only as far as the bytes allow:
 * text that is valid UTF-8 with characters beyond ASCII is UTF-8 whatever anybody says, and text that is not is not.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { guessCharset } from "./charset/guess.ts";

export interface Decoded {
  text: string;
  /** The WHATWG name of what the bytes were read as. */
  charset: string;
}

/** Where browsers look for `<meta charset>`, and a little beyond: big inline scripts come first on some pages. */
const PRESCAN = 4096;
const SAMPLE = 64 * 1024;

export function decodeBody(bytes: Uint8Array, contentType: string | null): Decoded {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const marked = byteOrderMark(buffer);
  if (marked !== null) return decodeAs(buffer.subarray(marked.length), marked.charset);
  const header = known(/charset\s*=\s*["']?\s*([^\s"';,]+)/i.exec(contentType ?? "")?.[1]);
  const wide = withoutMark(buffer);
  if (wide !== null) return decodeAs(buffer, wide);
  // Most pages are plain ASCII or UTF-8: one fast pass settles it. ISO-2022-JP is ASCII in disguise.
  if (isAscii(buffer)) {
    const named = header ?? declaredIn(buffer) ?? (switchesToJapanese(buffer) ? "iso-2022-jp" : null);
    if (named === "iso-2022-jp") return decodeAs(buffer, named);
    return {
      text: buffer.toString("latin1"),
      charset: named?.startsWith("utf-16") === true ? "utf-8" : (named ?? "utf-8"),
    };
  }
  if (isUtf8(buffer)) return { text: buffer.toString("utf8"), charset: "utf-8" };
  const declared = declaredIn(buffer);
  for (const claim of [header, declared]) {
    // UTF-8 was ruled out above, but a page cut in the middle of a character, or with one bad byte, still is.
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

/** UTF-16 without a mark: every other byte of `<html` is zero. */
function withoutMark(buffer: Buffer): string | null {
  const sample = buffer.subarray(0, 256);
  let even = 0;
  let odd = 0;
  for (let at = 0; at < sample.length; at += 1) {
    if (sample[at] !== 0) continue;
    if (at % 2 === 0) even += 1;
    else odd += 1;
  }
  const many = sample.length / 4;
  if (sample.length < 8 || (even < many && odd < many)) return null;
  if (odd >= many && even === 0) return "utf-16le";
  return even >= many && odd === 0 ? "utf-16be" : null;
}

/** `<meta charset>`, `<meta http-equiv>` or the XML declaration. */
function declaredIn(buffer: Buffer): string | null {
  const head = buffer.toString("latin1", 0, PRESCAN).replace(/<!--[\s\S]*?(?:-->|$)/g, "");
  const xml = /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]+)/i.exec(head)?.[1];
  const meta = /<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1];
  const named = known(xml ?? meta);
  // A page that can be read byte by byte is not UTF-16, whatever it says (HTML standard).
  return named?.startsWith("utf-16") === true ? "utf-8" : named;
}

/** `ESC $ B` or `ESC $ @`, and back by `ESC (`: nothing else has both. */
function switchesToJapanese(buffer: Buffer): boolean {
  return buffer.includes("\x1b(") && (buffer.includes("\x1b$B") || buffer.includes("\x1b$@"));
}

function known(label: string | undefined): string | null {
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

/** A page cut in the middle of a character, or with a bad byte here and there, is damaged; more is another encoding. */
function isMostlyUtf8(buffer: Buffer): boolean {
  const text = buffer.subarray(0, SAMPLE).toString("utf8");
  let broken = 0;
  let beyond = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 127) beyond += 1;
    if (code === 0xfffd) broken += 1;
  }
  return broken <= Math.max(2, beyond / 50) && broken * 2 < beyond;
}

/** Single-byte encodings fit any bytes; the others show it when they are wrong. */
function fits(buffer: Buffer, charset: string): boolean {
  const text = decodeAs(buffer.subarray(0, SAMPLE), charset).text;
  let broken = 0;
  for (let at = text.indexOf("\ufffd"); at >= 0; at = text.indexOf("\ufffd", at + 1)) broken += 1;
  return broken * 100 <= text.length;
}
