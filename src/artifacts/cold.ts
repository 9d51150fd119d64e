/**
 * The archive tier: files that are kept but rarely read, compressed where that pays. It is a separate folder, `cold/`,
 * so that a slower, larger disk can be mounted there. At any moment a file is complete in at least one tier: it leaves
 * the hot tier only once it is durable in the archive tier, and unpacking it leaves the archived copy in place. Readers
 * look in the hot tier first. Moving a file refreshes its age: its content may have been stored a moment ago, for a row
 * that is not written yet.
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
  /** Size on disk. */
  bytes: number;
}

export class ArchiveTier {
  readonly #dir: string;
  readonly #tmp: string;
  readonly #folder: Folder;
  /** Moves under way; a process moves a file only once at a time. */
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

  /** Unpacked size. */
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

  /** Null when it is not archived. */
  open(hash: string): Readable | null {
    const found = this.find(hash);
    if (found === null) return null;
    const stored = createReadStream(found.path, { highWaterMark: PIECE_BYTES });
    if (!found.packed) return stored;
    return unpacked(stored);
  }

  /** Null when the file is in neither tier. */
  coolDown(hash: string): Promise<{ before: number; after: number } | null> {
    const underWay = this.#moving.get(hash);
    if (underWay !== undefined) return underWay;
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
        // Moved or removed by another process in between.
        if (systemCode(error) !== "ENOENT") throw error;
      }
      cold = this.#findAgain(hash);
    }
    if (cold === null) return null;
    await unlinkIfThere(hot);
    return { before: this.sizeOf(hash) ?? cold.bytes, after: cold.bytes };
  }

  /** Finds the archived file and refreshes its age. */
  #findAgain(hash: string): ColdFile | null {
    const found = this.find(hash);
    if (found === null) return null;
    const now = this.#folder.clock.now() / 1000;
    try {
      utimesSync(found.path, now, now);
      return found;
    } catch (error) {
      // Removed in between.
      if (systemCode(error) === "ENOENT") return null;
      throw error;
    }
  }

  /** Writes a temporary file, makes it durable, then renames it: a named file in the archive tier is complete. */
  async #copy(hot: string, size: number, hash: string): Promise<void> {
    const { plain, packed } = this.#paths(hash);
    const pays = await compresses(hot);
    const target = pays ? packed : plain;
    const shard = target.slice(0, target.lastIndexOf("/"));
    makeFolder(shard);
    makeFolder(this.#tmp);
    // On the same disk, an uncompressed file needs no copy.
    if (!pays && (await movedByRename(hot, target))) return;
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

  /** As `ArtifactStore.removeOrphaned`: false when the file stays for now. */
  async removeOrphaned(hash: string, isOrphaned: () => Promise<boolean>): Promise<boolean> {
    if (this.find(hash) === null) return true;
    makeFolder(this.#tmp);
    for (const path of Object.values(this.#paths(hash))) {
      const quarantined = quarantinePath(this.#tmp, path.slice(path.lastIndexOf("/") + 1));
      if (!(await removeOrphaned({ path, quarantined }, this.#folder.clock, isOrphaned))) return false;
    }
    return true;
  }

  /** Removes leftovers of processes that died while moving a file, and restores quarantined files. */
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

async function movedByRename(from: string, to: string): Promise<boolean> {
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

async function compresses(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0);
    return await packingPays(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}
