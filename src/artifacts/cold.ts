/**
 * The archive tier: files that are kept but hardly read, compressed where that pays. It is a separate folder, `cold/`,
 * so that a slower and larger disk can be mounted there. A file is complete in one of the two tiers at any moment: it
 * leaves the hot tier only when it is safe in the archive tier, and an unpacked one stays archived as well. Readers
 * look in the hot tier first. A moved file is young again: it may have been stored a moment ago, for a row that is not
 * written yet.
 */
import {
  closeSync,
  createReadStream,
  createWriteStream,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { open, rename, rm, unlink } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { systemCode } from "../base/errors.ts";
import { fileMode, makeFolder } from "../base/files/file-modes.ts";
import { onDiskAsync } from "./disk.ts";
import { artifactPath, type Folder } from "./layout.ts";
import { quarantinedName, quarantinePath, putBack, removeOrphaned } from "./orphaned-files.ts";
import { contentSize, HEAD_BYTES, PACKED_SUFFIX, packer, packingPays, SAMPLE_BYTES, unpacked } from "./packing.ts";

const PIECE_BYTES = 256 * 1024;

interface ColdFile {
  path: string;
  packed: boolean;
  /** As it lies there. */
  bytes: number;
}

export class ArchiveTier {
  readonly #dir: string;
  readonly #tmp: string;
  readonly #folder: Folder;
  /** In one process a file is moved once at a time. */
  readonly #moving = new Map<string, Promise<{ before: number; after: number } | null>>();

  constructor(folder: Folder) {
    this.#folder = folder;
    this.#dir = `${folder.dir}/cold`;
    this.#tmp = `${this.#dir}/tmp`;
  }

  #paths(hash: string): { plain: string; packed: string } {
    const plain = `${this.#dir}/${artifactPath(hash).slice("sha256/".length)}`;
    return { plain, packed: plain + PACKED_SUFFIX };
  }

  find(hash: string): ColdFile | null {
    const { plain, packed } = this.#paths(hash);
    for (const path of [packed, plain]) {
      const bytes = statSync(path, { throwIfNoEntry: false })?.size;
      if (bytes !== undefined) return { path, packed: path === packed, bytes };
    }
    return null;
  }

  /** Of the bytes when they are unpacked. */
  sizeOf(hash: string): number | null {
    const found = this.find(hash);
    if (found === null || !found.packed) return found?.bytes ?? null;
    const head = Buffer.alloc(HEAD_BYTES);
    const file = openSync(found.path, "r");
    try {
      return contentSize(head.subarray(0, readSync(file, head)));
    } finally {
      closeSync(file);
    }
  }

  /** Null when it is not here. */
  open(hash: string): Readable | null {
    const found = this.find(hash);
    if (found === null) return null;
    const stored = createReadStream(found.path, { highWaterMark: PIECE_BYTES });
    if (!found.packed) return stored;
    return unpacked(stored);
  }

  /** Null when the file is in neither tier. */
  coolDown(hash: string): Promise<{ before: number; after: number } | null> {
    const before = this.#moving.get(hash);
    if (before !== undefined) return before;
    const moving = onDiskAsync(() => this.#coolDown(hash)).finally(() => this.#moving.delete(hash));
    this.#moving.set(hash, moving);
    return moving;
  }

  async #coolDown(hash: string): Promise<{ before: number; after: number } | null> {
    const hot = `${this.#folder.dir}/${artifactPath(hash)}`;
    let cold = this.#findAgain(hash);
    if (cold === null) {
      const size = statSync(hot, { throwIfNoEntry: false })?.size;
      try {
        if (size !== undefined) await this.#copy(hot, size, hash);
      } catch (error) {
        // Moved by another process just now, or removed.
        if (systemCode(error) !== "ENOENT") throw error;
      }
      cold = this.#findAgain(hash);
    }
    if (cold === null) return null;
    await unlinkIfThere(hot);
    return { before: this.sizeOf(hash) ?? cold.bytes, after: cold.bytes };
  }

  /** The stored file, which is young from now on. */
  #findAgain(hash: string): ColdFile | null {
    const found = this.find(hash);
    if (found === null) return null;
    const now = this.#folder.clock.now() / 1000;
    try {
      utimesSync(found.path, now, now);
      return found;
    } catch (error) {
      // Removed just now.
      if (systemCode(error) === "ENOENT") return null;
      throw error;
    }
  }

  /** Written to a temporary file, made durable, then renamed: a named file in the archive tier is complete. */
  async #copy(hot: string, size: number, hash: string): Promise<void> {
    const { plain, packed } = this.#paths(hash);
    const pays = await shrinks(hot);
    const target = pays ? packed : plain;
    const shard = target.slice(0, target.lastIndexOf("/"));
    makeFolder(shard);
    makeFolder(this.#tmp);
    // On the same disk, an uncompressed file needs no copy.
    if (!pays && (await moved(hot, target))) return;
    const draft = `${this.#tmp}/${this.#folder.temporary().slice(this.#folder.tmp.length + 1)}`;
    try {
      const from = createReadStream(hot, { highWaterMark: PIECE_BYTES });
      const to = createWriteStream(draft, { flags: "wx", flush: true, mode: fileMode() });
      if (pays) await pipeline(from, packer(size), to);
      else await pipeline(from, to);
      await rename(draft, target);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    const folder = await open(shard);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  /** As the store's own: false when it stays for now. */
  async removeOrphaned(hash: string, isOrphaned: () => Promise<boolean>): Promise<boolean> {
    if (this.find(hash) === null) return true;
    makeFolder(this.#tmp);
    for (const path of Object.values(this.#paths(hash))) {
      const quarantined = quarantinePath(this.#tmp, path.slice(path.lastIndexOf("/") + 1));
      if (!(await removeOrphaned({ path, quarantined }, this.#folder.clock, isOrphaned))) return false;
    }
    return true;
  }

  /** Leftovers of processes that died while moving a file; quarantined files are put back. */
  removeLeftovers(before: number): void {
    let names: string[];
    try {
      names = readdirSync(this.#tmp);
    } catch (error) {
      if (systemCode(error) === "ENOENT") return;
      throw error;
    }
    for (const name of names) {
      const path = `${this.#tmp}/${name}`;
      const quarantined = quarantinedName(name);
      if (quarantined !== null) {
        putBack(path, `${this.#dir}/${quarantined.slice(0, 2)}/${quarantined}`);
        continue;
      }
      const found = statSync(path, { throwIfNoEntry: false });
      if (found !== undefined && found.mtimeMs < before) rmSync(path, { force: true });
    }
  }
}

async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) === "EXDEV") return false;
    throw error;
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

async function shrinks(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0);
    return await packingPays(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}
