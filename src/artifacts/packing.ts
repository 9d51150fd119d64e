/** Compression of files in the archive tier. */
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { constants, createZstdCompress, createZstdDecompress, zstdCompress, type ZstdCompress } from "node:zlib";

export const PACKED_SUFFIX = ".zst";
export const SAMPLE_BYTES = 256 * 1024;
/** The Zstandard frame header, which holds the content size. */
export const HEAD_BYTES = 18;
const PACKING = { [constants.ZSTD_c_compressionLevel]: 9 };
/** Images and archives shrink by 1 %, which does not pay for decompressing them. */
const PAYS_BELOW = 0.95;

/** Judges by a sample from the start of the file, which distinguishes text from compressed data. */
export async function packingPays(sample: Buffer): Promise<boolean> {
  return (await promisify(zstdCompress)(sample)).length < sample.length * PAYS_BELOW;
}

/** Pledges the size, so that the frame header holds it. */
export function packer(size: number): ZstdCompress {
  return createZstdCompress({ pledgedSrcSize: size, params: PACKING });
}

export function unpacked(compressed: Readable): Readable {
  const bytes = createZstdDecompress();
  compressed.once("error", (error) => bytes.destroy(error));
  bytes.once("close", () => compressed.destroy());
  return compressed.pipe(bytes);
}

const FRAME = 0xfd2fb528;

/** The content size in a Zstandard frame header (RFC 8878, 3.1.1.1); null when it has none. */
export function contentSize(head: Buffer): number | null {
  if (head.length < 6 || head.readUInt32LE(0) !== FRAME) return null;
  const descriptor = head[4]!;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const at = 5 + (isSingleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]!;
  const length = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
  if (length === 0 || head.length < at + length) return null;
  if (length === 8) return Number(head.readBigUInt64LE(at));
  return head.readUIntLE(at, length) + (length === 2 ? 256 : 0);
}
