/** Compression of files in the archive tier. */
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { constants, createZstdCompress, createZstdDecompress, zstdCompress, type ZstdCompress } from "node:zlib";

export const PACKED_SUFFIX = ".zst";
export const SAMPLE_BYTES = 256 * 1024;
/** Where the size of the whole is named. */
export const HEAD_BYTES = 18;
const PACKING = { [constants.ZSTD_c_compressionLevel]: 9 };
/** Pictures and archives shrink by a hundredth; that is not worth unpacking them. */
const PAYS_BELOW = 0.95;

/** Decided by the beginning of a file, which distinguishes text from compressed data. */
export async function packingPays(sample: Buffer): Promise<boolean> {
  return (await promisify(zstdCompress)(sample)).length < sample.length * PAYS_BELOW;
}

/** The size is read from the header of the compressed file. */
export function packer(size: number): ZstdCompress {
  return createZstdCompress({ pledgedSrcSize: size, params: PACKING });
}

export function unpacked(stored: Readable): Readable {
  const bytes = createZstdDecompress();
  stored.once("error", (error) => bytes.destroy(error));
  bytes.once("close", () => stored.destroy());
  return stored.pipe(bytes);
}

const FRAME = 0xfd2fb528;

/** The size that the head of a Zstandard frame (RFC 8878, 3.1.1.1) names; null when it does not. */
export function contentSize(head: Buffer): number | null {
  if (head.length < 6 || head.readUInt32LE(0) !== FRAME) return null;
  const about = head[4]!;
  const single = (about & 0x20) !== 0;
  const at = 5 + (single ? 0 : 1) + [0, 1, 2, 4][about & 3]!;
  const length = [single ? 1 : 0, 2, 4, 8][about >> 6]!;
  if (length === 0 || head.length < at + length) return null;
  if (length === 8) return Number(head.readBigUInt64LE(at));
  return head.readUIntLE(at, length) + (length === 2 ? 256 : 0);
}
