/**
 * ZIP files (APPNOTE 6.3.9) as a stream, byte for byte the same for the same entries: every entry has the same time, rights
 * and maker. Sizes and checksums stand before the bytes, so that readers of streams can use them, too; for that large files are
 * read twice. Entries, sizes and positions beyond the reach of the old format are written as ZIP64.
 */
import { crc32, createDeflateRaw, deflateRawSync } from "node:zlib";
import type { PackedFile } from "./exporter.ts";
import { through } from "./stream.ts";

/** Names are UTF-8. */
const FLAGS = 0x0800;
const STORED = 0;
const DEFLATED = 8;
/** 1 January 1980, the first day that the format can name. */
const DAY = 0x0021;
const MADE_ON_UNIX = 3 << 8;
/** A plain file that everybody may read. */
const RIGHTS = 0o100_644 * 0x1_0000;
const MOST_ENTRIES = 0xffff;
const MOST_BYTES = 0xffff_ffff;
const KEPT_BYTES = 1024 * 1024;
const SMALL_BYTES = 64 * 1024;

interface Entry {
  name: Buffer;
  method: number;
  crc: number;
  size: number;
  packedSize: number;
  offset: number;
}

/** From `most` bytes or entries on ZIP64 is used, at the latest where the old format ends; a test may want it earlier. */
export async function* zip(
  files: AsyncIterable<PackedFile> | Iterable<PackedFile>,
  most: number = MOST_BYTES,
): AsyncGenerator<Uint8Array> {
  const directory = new Directory();
  let offset = 0;
  for await (const file of files) {
    const method = file.shrinks ? DEFLATED : STORED;
    const { kept, ...measured } = await measure(file, method);
    const entry: Entry = { name: Buffer.from(file.path), method, offset, ...measured };
    const head = localHead(entry, most);
    yield head;
    let sent = 0;
    for await (const chunk of kept ?? packed(file, method)) {
      sent += chunk.length;
      yield chunk;
    }
    if (sent !== entry.packedSize) throw new Error(`${file.path} has changed while it was packed`);
    offset += head.length + sent;
    directory.add(directoryHead(entry, most));
  }
  yield* directory.parts();
  yield end(directory.entries, directory.bytes, offset, most);
}

const LINES_PER_PART = 1000;

/** What stands at the end of the file, in large parts: a buffer for each of a million entries would fill the heap. */
class Directory {
  entries = 0;
  bytes = 0;
  #parts: Buffer[] = [];
  #lines: Buffer[] = [];

  add(line: Buffer): void {
    this.entries += 1;
    this.bytes += line.length;
    this.#lines.push(line);
    if (this.#lines.length === LINES_PER_PART) this.#gather();
  }

  parts(): readonly Buffer[] {
    this.#gather();
    return this.#parts;
  }

  #gather(): void {
    if (this.#lines.length > 0) this.#parts.push(Buffer.concat(this.#lines));
    this.#lines = [];
  }
}

function packed(file: PackedFile, method: number): AsyncIterable<Uint8Array> {
  if (method === STORED) return file.open();
  return file.size <= SMALL_BYTES ? deflated(file) : through(file.open(), createDeflateRaw());
}

/** At once: for many small files, a stream for each would take most of the time. */
async function* deflated(file: PackedFile): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.open()) chunks.push(chunk);
  yield deflateRawSync(Buffer.concat(chunks));
}

type Measured = Pick<Entry, "crc" | "size" | "packedSize">;

/** `kept`: what is small is not read again. */
async function measure(file: PackedFile, method: number): Promise<Measured & { kept: Uint8Array[] | null }> {
  let crc = 0;
  let size = 0;
  const counted = async function* () {
    for await (const chunk of file.open()) {
      crc = crc32(chunk, crc);
      size += chunk.length;
      yield chunk;
    }
  };
  let packedSize = 0;
  let kept: Uint8Array[] | null = [];
  for await (const chunk of packed({ ...file, open: counted }, method)) {
    packedSize += chunk.length;
    if (packedSize > KEPT_BYTES) kept = null;
    kept?.push(chunk);
  }
  return { crc, size, packedSize, kept };
}

function localHead({ name, method, crc, size, packedSize }: Entry, most: number): Buffer {
  const large = size >= most || packedSize >= most;
  const extra = large ? zip64Extra([size, packedSize]) : Buffer.alloc(0);
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x0403_4b50, 0);
  head.writeUInt16LE(large ? 45 : 20, 4);
  head.writeUInt16LE(FLAGS, 6);
  head.writeUInt16LE(method, 8);
  head.writeUInt16LE(DAY, 12);
  head.writeUInt32LE(crc, 14);
  head.writeUInt32LE(large ? MOST_BYTES : packedSize, 18);
  head.writeUInt32LE(large ? MOST_BYTES : size, 22);
  head.writeUInt16LE(name.length, 26);
  head.writeUInt16LE(extra.length, 28);
  return Buffer.concat([head, name, extra]);
}

function directoryHead({ name, method, crc, size, packedSize, offset }: Entry, most: number): Buffer {
  const large = size >= most || packedSize >= most;
  const far = offset >= most;
  const extra = large || far ? zip64Extra([...(large ? [size, packedSize] : []), ...(far ? [offset] : [])]) : null;
  const version = extra === null ? 20 : 45;
  const head = Buffer.alloc(46);
  head.writeUInt32LE(0x0201_4b50, 0);
  head.writeUInt16LE(MADE_ON_UNIX | version, 4);
  head.writeUInt16LE(version, 6);
  head.writeUInt16LE(FLAGS, 8);
  head.writeUInt16LE(method, 10);
  head.writeUInt16LE(DAY, 14);
  head.writeUInt32LE(crc, 16);
  head.writeUInt32LE(large ? MOST_BYTES : packedSize, 20);
  head.writeUInt32LE(large ? MOST_BYTES : size, 24);
  head.writeUInt16LE(name.length, 28);
  head.writeUInt16LE(extra?.length ?? 0, 30);
  head.writeUInt32LE(RIGHTS, 38);
  head.writeUInt32LE(far ? MOST_BYTES : offset, 42);
  return Buffer.concat([head, name, extra ?? Buffer.alloc(0)]);
}

function zip64Extra(values: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + 8 * values.length);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return extra;
}

function end(entries: number, bytes: number, offset: number, most: number): Buffer {
  const large = entries >= Math.min(MOST_ENTRIES, most) || bytes >= most || offset >= most;
  const tail = Buffer.alloc(22);
  tail.writeUInt32LE(0x0605_4b50, 0);
  tail.writeUInt16LE(large ? MOST_ENTRIES : entries, 8);
  tail.writeUInt16LE(large ? MOST_ENTRIES : entries, 10);
  tail.writeUInt32LE(large ? MOST_BYTES : bytes, 12);
  tail.writeUInt32LE(large ? MOST_BYTES : offset, 16);
  if (!large) return tail;
  const full = Buffer.alloc(76);
  full.writeUInt32LE(0x0606_4b50, 0);
  // Of what follows in this record.
  full.writeBigUInt64LE(44n, 4);
  full.writeUInt16LE(MADE_ON_UNIX | 45, 12);
  full.writeUInt16LE(45, 14);
  full.writeBigUInt64LE(BigInt(entries), 24);
  full.writeBigUInt64LE(BigInt(entries), 32);
  full.writeBigUInt64LE(BigInt(bytes), 40);
  full.writeBigUInt64LE(BigInt(offset), 48);
  // Where that record is.
  full.writeUInt32LE(0x0706_4b50, 56);
  full.writeBigUInt64LE(BigInt(offset + bytes), 64);
  full.writeUInt32LE(1, 72);
  return Buffer.concat([full, tail]);
}
