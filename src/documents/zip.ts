/** Reads ZIP files: names by the central directory, contents one at a time, in bounded memory. */
import { createInflateRaw } from "node:zlib";
import { damaged, DocumentError } from "./document.ts";

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
const END_BYTES = 22;
const MAX_COMMENT = 65_535;
/** More entries than any document has. */
const MAX_ENTRIES = 50_000;
const WIDE = 0xffffffff;
const ENCRYPTED = 1;
const STORED = 0;
const DEFLATED = 8;
const CHUNK = 64 * 1024;

interface Entry {
  at: number;
  packedBytes: number;
  method: number;
  isEncrypted: boolean;
}

/** What all entries together may still be inflated to. */
export interface InflateBudget {
  left: number;
}

export class ZipFile {
  readonly #bytes: Buffer;
  readonly #entries: ReadonlyMap<string, Entry>;
  /** Office writes the names of parts in any case. */
  readonly #byLowerCase = new Map<string, Entry>();
  readonly #budget: InflateBudget;

  constructor(bytes: Uint8Array, budget: InflateBudget = { left: 0 }) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#entries = readDirectory(this.#bytes);
    this.#budget = budget;
    for (const [name, entry] of this.#entries) this.#byLowerCase.set(name.toLowerCase(), entry);
  }

  #entry(name: string): Entry | undefined {
    return this.#entries.get(name) ?? this.#byLowerCase.get(name.toLowerCase());
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  has(name: string): boolean {
    return this.#entry(name) !== undefined;
  }

  /** The start of an entry that is stored without compression; null: it is not. */
  peek(name: string, length: number): string | null {
    const entry = this.#entry(name);
    if (entry === undefined || entry.method !== STORED || entry.isEncrypted) return null;
    const data = this.#dataOf(entry);
    return data.subarray(0, length).toString("latin1");
  }

  /** Throws where the entry is encrypted, broken, or longer than everything may be. */
  async *chunks(name: string): AsyncGenerator<Buffer> {
    const entry = this.#entry(name);
    if (entry === undefined) throw damaged(`the file lacks its part ${name.slice(0, 100)}`);
    if (entry.isEncrypted) throw new DocumentError("document_encrypted", "the document is protected by a password");
    const data = this.#dataOf(entry);
    if (entry.method === STORED) {
      this.#spend(data.length);
      for (let at = 0; at < data.length; at += CHUNK) yield data.subarray(at, at + CHUNK);
    } else if (entry.method === DEFLATED) yield* this.#inflated(data);
    else throw damaged("a part of the file is compressed in an unknown way");
  }

  async text(name: string): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.chunks(name)) chunks.push(chunk);
    return decodeXml(Buffer.concat(chunks));
  }

  /** An empty text where there is no such entry. */
  async textIfAny(name: string): Promise<string> {
    return this.has(name) ? this.text(name) : "";
  }

  #dataOf({ at, packedBytes }: Entry): Buffer {
    const bytes = this.#bytes;
    if (at + 30 > bytes.length || bytes.readUInt32LE(at) !== LOCAL_ENTRY)
      throw damaged("the file is damaged: a part of it is not where its directory says");
    const from = at + 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28);
    if (from + packedBytes > bytes.length) throw damaged("the file ends before its content does");
    return bytes.subarray(from, from + packedBytes);
  }

  #spend(bytes: number): void {
    this.#budget.left -= bytes;
    if (this.#budget.left < 0)
      throw new DocumentError("document_too_large", "the document is larger than allowed once it is decompressed");
  }

  async *#inflated(data: Buffer): AsyncGenerator<Buffer> {
    const inflate = createInflateRaw({ chunkSize: CHUNK });
    inflate.end(data);
    try {
      for await (const chunk of inflate as AsyncIterable<Buffer>) {
        this.#spend(chunk.length);
        yield chunk;
      }
    } catch (error) {
      if (error instanceof Error && "code" in error && String(error.code).startsWith("Z_"))
        throw damaged("a part of the file cannot be decompressed");
      throw error;
    } finally {
      inflate.destroy();
    }
  }
}

/** XML is UTF-8, or UTF-16 with a byte order mark. */
function decodeXml(bytes: Buffer): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}

function readDirectory(bytes: Buffer): Map<string, Entry> {
  const end = endOfDirectory(bytes);
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  if (count > MAX_ENTRIES) throw new DocumentError("document_too_large", `the file has more than ${MAX_ENTRIES} parts`);
  const entries = new Map<string, Entry>();
  let packed = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== DIRECTORY_ENTRY)
      throw damaged("the file is damaged: its directory is incomplete");
    const nameLength = bytes.readUInt16LE(at + 28);
    const name = bytes.toString("utf8", at + 46, at + 46 + nameLength).replaceAll("\\", "/");
    const entry: Entry = {
      at: bytes.readUInt32LE(at + 42),
      packedBytes: bytes.readUInt32LE(at + 20),
      method: bytes.readUInt16LE(at + 10),
      isEncrypted: (bytes.readUInt16LE(at + 8) & ENCRYPTED) !== 0,
    };
    if (entry.at === WIDE || entry.packedBytes === WIDE)
      throw new DocumentError("document_too_large", "the file has parts of more than 4 GB");
    packed += entry.packedBytes;
    if (!entries.has(name)) entries.set(name, entry);
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  // The parts of an honest file do not overlap.
  if (packed > bytes.length)
    throw new DocumentError("document_too_large", "the parts of the file overlap, as in a decompression bomb");
  return entries;
}

function endOfDirectory(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_BYTES - MAX_COMMENT);
  for (let at = bytes.length - END_BYTES; at >= first; at -= 1)
    if (bytes.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  throw damaged("the file is damaged or incomplete: it has no directory");
}
