import { createHash, type Hash, hash as hashAtOnce } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { OrbError } from "../base/errors.ts";
import { fileMode } from "../base/files/file-modes.ts";
import { asDiskError, onDiskAsync } from "./disk.ts";
import { artifactPath, type Folder } from "./layout.ts";
import { dropPart, writeSidecar } from "./part.ts";
import { type ArtifactSink, SMALL_BYTES } from "./sink.ts";
import type { ArtifactWriter, StoredArtifact, WriterOptions } from "./port.ts";

/** Larger bodies go to disk in pieces of this size: fewer trips to the thread pool than one per socket read. */
const PIECE_BYTES = 256 * 1024;
const READ_BACK_BYTES = 1024 * 1024;

/** Collects bytes in memory or in a local file, and passes them to the sink when complete. */
export class FileWriter implements ArtifactWriter {
  readonly #folder: Folder;
  readonly #sink: ArtifactSink;
  readonly #options: WriterOptions;
  #size = 0;
  #resumedBytes = 0;
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;
  #file: { handle: FileHandle; path: string; hash: Hash; position: number } | null = null;
  /** Serialises file operations; a failure reaches the next caller. */
  #queue: Promise<void> = Promise.resolve();

  constructor(folder: Folder, sink: ArtifactSink, options: WriterOptions) {
    this.#folder = folder;
    this.#sink = sink;
    this.#options = options;
    if (options.resume === true) {
      if (options.part === undefined) throw new OrbError("input_invalid", "only a part can be resumed");
      this.#size = statSync(folder.part(options.part.key)).size;
      this.#resumedBytes = this.#size;
    }
  }

  get size(): number {
    return this.#size;
  }

  write(chunk: Buffer): void | Promise<void> {
    this.#size += chunk.length;
    this.#buffered.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (this.#size <= SMALL_BYTES) return undefined;
    if (this.#file !== null && this.#bufferedBytes < PIECE_BYTES) return undefined;
    return this.#flush();
  }

  async finish(): Promise<StoredArtifact> {
    if (this.#file === null && this.#size <= SMALL_BYTES && this.#options.resume !== true) {
      const body =
        this.#buffered.length === 1 ? this.#buffered[0]! : Buffer.concat(this.#buffered, this.#bufferedBytes);
      this.#buffered = [];
      const name = artifactPath(hashAtOnce("sha256", body, "hex"));
      await this.#sink.keepSmall(name, body);
      return { hash: name.slice(-64), size: body.length, path: name };
    }
    try {
      await this.#flush();
      const { handle, path, hash } = this.#file!;
      if (!(await this.#isStillOurs())) throw new OrbError("engine_lost", "another process took over the partial file");
      const name = artifactPath(hash.digest("hex"));
      await this.#sink.keepFile(name, { handle, path, size: this.#size });
      await handle.close();
      if (this.#options.part !== undefined) dropPart(this.#folder, this.#options.part.key);
      return { hash: name.slice(-64), size: this.#size, path: name };
    } catch (error) {
      await this.abort(false);
      throw error;
    }
  }

  async abort(keepPart: boolean): Promise<void> {
    const { part } = this.#options;
    const keep = keepPart && part !== undefined;
    if (keep && this.#file !== null) await this.#flush().catch(() => {});
    this.#buffered = [];
    await this.#queue.catch(() => {});
    const file = this.#file;
    const ours = await this.#isStillOurs();
    this.#file = null;
    await file?.handle.close().catch(() => {});
    if (keep || !ours) return;
    if (part !== undefined) dropPart(this.#folder, part.key);
    else if (file !== null) rmSync(file.path, { force: true });
  }

  /** A process that was frozen and replaced must neither publish nor remove its successor's part under the same key. */
  async #isStillOurs(): Promise<boolean> {
    if (this.#file === null || this.#options.part === undefined) return true;
    const openStat = await this.#file.handle.stat().catch(() => null);
    const pathStat = statSync(this.#file.path, { throwIfNoEntry: false });
    return (
      openStat !== null &&
      pathStat !== undefined &&
      openStat.ino === pathStat.ino &&
      openStat.size === this.#file.position
    );
  }

  #flush(): Promise<void> {
    const pieces = this.#buffered;
    const bytes = this.#bufferedBytes;
    this.#buffered = [];
    this.#bufferedBytes = 0;
    this.#queue = this.#queue.then(() => this.#append(Buffer.concat(pieces, bytes)));
    this.#queue.catch(() => {});
    return this.#queue;
  }

  async #append(piece: Buffer): Promise<void> {
    const file = (this.#file ??= await onDiskAsync(() => this.#openFile()));
    file.hash.update(piece);
    try {
      for (let done = 0; done < piece.length;) {
        // Positional: if a frozen process resumes the same part, both write the same bytes to the same offset.
        const { bytesWritten } = await file.handle.write(piece, done, piece.length - done, file.position);
        done += bytesWritten;
        file.position += bytesWritten;
      }
    } catch (error) {
      throw asDiskError(error);
    }
  }

  async #openFile() {
    const { part, resume } = this.#options;
    const hash = createHash("sha256");
    if (part === undefined) {
      const path = this.#folder.temporary();
      return { handle: await open(path, "wx", fileMode()), path, hash, position: 0 };
    }
    const path = this.#folder.part(part.key);
    if (resume !== true) {
      // A new file, not a truncated one: a writer that still holds the old part does not touch it.
      dropPart(this.#folder, part.key);
      writeSidecar(this.#folder, part);
      return { handle: await open(path, "wx", fileMode()), path, hash, position: 0 };
    }
    const handle = await open(path, "r+");
    try {
      return { handle, path, hash, position: await readBack(handle, hash, this.#resumedBytes) };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
}

/** Feeds the existing bytes to the hash. */
async function readBack(handle: FileHandle, hash: Hash, bytes: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(READ_BACK_BYTES, Math.max(bytes, 1)));
  for (let position = 0; position < bytes;) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, bytes - position), position);
    if (bytesRead === 0) throw new OrbError("engine_lost", "another process shortened the partial file");
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
  return bytes;
}
