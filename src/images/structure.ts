/**
 * Truncation checks on the file structure, without decoding. Decoders do not always report truncation: for an animation
 * they return the remaining frames, for other files only an unspecific error.
 */
import type { ImageFormat } from "./facts.ts";

export interface Structure {
  cutOff: boolean;
  /** Set only where the decoder does not report it: animated PNG and AVIF. */
  animated: boolean;
}

export function structureOf(format: ImageFormat, bytes: Buffer): Structure {
  switch (format) {
    case "png":
      return pngStructure(bytes);
    case "gif":
      return { cutOff: !gifEnds(bytes), animated: false };
    case "webp":
      return { cutOff: bytes.length < 12 || bytes.readUInt32LE(4) + 8 > bytes.length, animated: false };
    case "avif":
      return { cutOff: boxesRunOut(bytes), animated: bytes.toString("latin1", 8, 12) === "avis" };
    case "tiff":
      return { cutOff: bytes.length < 8 || directoryAt(bytes) >= bytes.length, animated: false };
    // Its decoder reports truncation.
    case "jpeg":
      return { cutOff: false, animated: false };
  }
}

function pngStructure(bytes: Buffer): Structure {
  let animated = false;
  // A chunk: length, name, content, checksum.
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const name = bytes.toString("latin1", at + 4, at + 8);
    if (name === "acTL") animated = true;
    if (name === "IEND") return { cutOff: false, animated };
  }
  return { cutOff: true, animated };
}

/** Whether the block sequence reaches the trailer. */
function gifEnds(bytes: Buffer): boolean {
  const tableBytes = (flags: number) => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  let at = 13 + tableBytes(bytes[10] ?? 0);
  while (at < bytes.length) {
    const kind = bytes[at];
    if (kind === 0x3b) return true;
    if (kind === 0x21) at += 2;
    else if (kind === 0x2c) at += 11 + tableBytes(bytes[at + 9] ?? 0);
    // Unknown bytes between blocks: left to the decoder.
    else return true;
    while (at < bytes.length && bytes[at] !== 0) at += 1 + (bytes[at] ?? 0);
    at += 1;
  }
  return false;
}

/** Whether a top-level box extends past the end of the file. */
function boxesRunOut(bytes: Buffer): boolean {
  let at = 0;
  while (at + 8 <= bytes.length) {
    // Not a box name: trailing data after the image.
    if (!/^[ -~]{4}$/.test(bytes.toString("latin1", at + 4, at + 8))) return false;
    const size = bytes.readUInt32BE(at);
    // 0: up to the end of the file. 1: a 64-bit size follows.
    if (size === 0) return false;
    const length = size !== 1 ? size : at + 16 <= bytes.length ? Number(bytes.readBigUInt64BE(at + 8)) : Infinity;
    if (length < 8) return false;
    at += length;
  }
  return at > bytes.length;
}

function directoryAt(bytes: Buffer): number {
  return bytes[0] === 0x49 ? bytes.readUInt32LE(4) : bytes.readUInt32BE(4);
}
