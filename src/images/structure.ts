/**
 * What the outline of a file says without decoding it: whether it goes on to the end that its format announces. Decoders
 * do not always tell: of an animation that was cut off they show the pictures that are left, and of other files they only
 * say that something is wrong.
 */
import type { ImageFormat } from "./facts.ts";

export interface Structure {
  cutOff: boolean;
  /** Only where the decoder does not know: animated PNG and AVIF. */
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
    // Its decoder does tell.
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

/** Whether block follows block up to the trailer. */
function gifEnds(bytes: Buffer): boolean {
  const tableBytes = (flags: number) => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  let at = 13 + tableBytes(bytes[10] ?? 0);
  while (at < bytes.length) {
    const kind = bytes[at];
    if (kind === 0x3b) return true;
    if (kind === 0x21) at += 2;
    else if (kind === 0x2c) at += 11 + tableBytes(bytes[at + 9] ?? 0);
    // Something else between blocks: for the decoder to judge.
    else return true;
    while (at < bytes.length && bytes[at] !== 0) at += 1 + (bytes[at] ?? 0);
    at += 1;
  }
  return false;
}

/** Whether one of the boxes that the file is made of would end behind its end. */
function boxesRunOut(bytes: Buffer): boolean {
  let at = 0;
  while (at + 8 <= bytes.length) {
    // No name of a box: something was added behind the picture.
    if (!/^[ -~]{4}$/.test(bytes.toString("latin1", at + 4, at + 8))) return false;
    const size = bytes.readUInt32BE(at);
    // 0: up to the end of the file. 1: a longer number follows.
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
