/**
 * ZIP files (APPNOTE 6.3.9) as a stream. Deterministic: every entry has the same time, mode and creator. Sizes and
 * checksums precede the bytes, so that streaming readers can use them, too; that requires reading large files twice.
 * Entries, sizes and offsets beyond the original format's limits use ZIP64.
 */
import { crc32, createDeflateRaw, deflateRawSync } from "node:zlib";
import type { PackedFile } from "./exporter.ts";
import { through } from "./stream.ts";

/** Names are UTF-8. */
const FLAGS = 0x0800;
const STORED = 0;
const DEFLATED = 8;
/** 1 January 1980, the earliest date of the format. */
const DATE = 0x0021;
const MADE_ON_UNIX = 3 << 8;
/** A regular file, mode 0644. */
const ATTRIBUTES = 0o100_644 * 0x1_0000;
const MAX_ENTRIES = 0xffff;
const MAX_BYTES = 0xffff_ffff;
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

/** ZIP64 applies from `zip64From` bytes or entries on; tests lower it. */
export async function* zip(
  files: AsyncIterable<PackedFile> | Iterable<PackedFile>,
  zip64From: number = MAX_BYTES,
): AsyncGenerator<Uint8Array> {
  const directory = new Directory();
  let offset = 0;
  for await (const file of files) {
    const method = file.shrinks ? DEFLATED : STORED;
    const { kept, ...measured } = await measure(file, method);
    const entry: Entry = { name: Buffer.from(file.path), method, offset, ...measured };
    const head = localHead(entry, zip64From);
    yield head;
    let sent = 0;
    for await (const chunk of kept ?? packed(file, method)) {
      sent += chunk.length;
      yield chunk;
    }
    if (sent !== entry.packedSize) throw new Error(`${file.path} has changed while it was packed`);
    offset += head.length + sent;
    directory.add(directoryHead(entry, zip64From));
  }
  yield* directory.parts();
  yield end(directory.entries, directory.bytes, offset, zip64From);
}

const LINES_PER_PART = 1000;

/** The central directory, in large buffers: one for each of a million entries would fill the heap. */
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

/** In one call: with many small files, a stream for each would take most of the time. */
async function* deflated(file: PackedFile): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.open()) chunks.push(chunk);
  yield deflateRawSync(Buffer.concat(chunks));
}

type Measured = Pick<Entry, "crc" | "size" | "packedSize">;

/** `kept`: small output, which is not computed again. */
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

function localHead({ name, method, crc, size, packedSize }: Entry, zip64From: number): Buffer {
  const large = size >= zip64From || packedSize >= zip64From;
  const extra = large ? zip64Extra([size, packedSize]) : Buffer.alloc(0);
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x0403_4b50, 0);
  head.writeUInt16LE(large ? 45 : 20, 4);
  head.writeUInt16LE(FLAGS, 6);
  head.writeUInt16LE(method, 8);
  head.writeUInt16LE(DATE, 12);
  head.writeUInt32LE(crc, 14);
  head.writeUInt32LE(large ? MAX_BYTES : packedSize, 18);
  head.writeUInt32LE(large ? MAX_BYTES : size, 22);
  head.writeUInt16LE(name.length, 26);
  head.writeUInt16LE(extra.length, 28);
  return Buffer.concat([head, name, extra]);
}

function directoryHead({ name, method, crc, size, packedSize, offset }: Entry, zip64From: number): Buffer {
  const large = size >= zip64From || packedSize >= zip64From;
  const far = offset >= zip64From;
  const extra = large || far ? zip64Extra([...(large ? [size, packedSize] : []), ...(far ? [offset] : [])]) : null;
  const version = extra === null ? 20 : 45;
  const head = Buffer.alloc(46);
  head.writeUInt32LE(0x0201_4b50, 0);
  head.writeUInt16LE(MADE_ON_UNIX | version, 4);
  head.writeUInt16LE(version, 6);
  head.writeUInt16LE(FLAGS, 8);
  head.writeUInt16LE(method, 10);
  head.writeUInt16LE(DATE, 14);
  head.writeUInt32LE(crc, 16);
  head.writeUInt32LE(large ? MAX_BYTES : packedSize, 20);
  head.writeUInt32LE(large ? MAX_BYTES : size, 24);
  head.writeUInt16LE(name.length, 28);
  head.writeUInt16LE(extra?.length ?? 0, 30);
  head.writeUInt32LE(ATTRIBUTES, 38);
  head.writeUInt32LE(far ? MAX_BYTES : offset, 42);
  return Buffer.concat([head, name, extra ?? Buffer.alloc(0)]);
}

function zip64Extra(values: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + 8 * values.length);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return extra;
}

function end(entries: number, bytes: number, offset: number, zip64From: number): Buffer {
  const large = entries >= Math.min(MAX_ENTRIES, zip64From) || bytes >= zip64From || offset >= zip64From;
  const tail = Buffer.alloc(22);
  tail.writeUInt32LE(0x0605_4b50, 0);
  tail.writeUInt16LE(large ? MAX_ENTRIES : entries, 8);
  tail.writeUInt16LE(large ? MAX_ENTRIES : entries, 10);
  tail.writeUInt32LE(large ? MAX_BYTES : bytes, 12);
  tail.writeUInt32LE(large ? MAX_BYTES : offset, 16);
  if (!large) return tail;
  const full = Buffer.alloc(76);
  full.writeUInt32LE(0x0606_4b50, 0);
  // The size of the rest of this record.
  full.writeBigUInt64LE(44n, 4);
  full.writeUInt16LE(MADE_ON_UNIX | 45, 12);
  full.writeUInt16LE(45, 14);
  full.writeBigUInt64LE(BigInt(entries), 24);
  full.writeBigUInt64LE(BigInt(entries), 32);
  full.writeBigUInt64LE(BigInt(bytes), 40);
  full.writeBigUInt64LE(BigInt(offset), 48);
  // The locator of that record.
  full.writeUInt32LE(0x0706_4b50, 56);
  full.writeBigUInt64LE(BigInt(offset + bytes), 64);
  full.writeUInt32LE(1, 72);
  return Buffer.concat([full, tail]);
}
