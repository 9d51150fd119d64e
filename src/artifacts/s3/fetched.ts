/**
 * A local cache of bucket objects for tools that need a path: downloaded once and kept for a while, because the next
 * step often wants the same file. Several processes may share the folder.
 */
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readdir, rename, rm, stat, utimes } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { OrbError, systemCode } from "../../base/errors.ts";
import { fileMode, makeFolder } from "../../base/files/file-modes.ts";
import { onDisk, onDiskAsync } from "../disk.ts";
import { artifactPath, type Folder } from "../layout.ts";
import { Semaphore } from "../../base/semaphore.ts";

export interface FetchedLimits {
  /** Above this size, the least recently used files are removed. */
  maxBytes: number;
  /** How long a returned path stays valid even when the folder is full. */
  keptMs: number;
}

const FETCHED_LIMITS: FetchedLimits = { maxBytes: 2 * 1024 ** 3, keptMs: 10 * 60_000 };
/** Unused copies are removed after this time. */
const UNUSED_MS = 60 * 60_000;
const SWEEP_MS = 60_000;
const MAX_CONCURRENT = 8;

export class FetchedFiles {
  readonly #dir: string;
  readonly #folder: Folder;
  readonly #limits: FetchedLimits;
  readonly #underWay = new Map<string, Promise<string>>();
  readonly #semaphore = new Semaphore(MAX_CONCURRENT);
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(folder: Folder, limits: FetchedLimits = FETCHED_LIMITS) {
    this.#folder = folder;
    this.#limits = limits;
    this.#dir = `${folder.dir}/fetched`;
    onDisk(() => makeFolder(this.#dir));
  }

  async pathOf(hash: string, open: () => Promise<Readable>): Promise<string> {
    const path = `${this.#dir}/${artifactPath(hash).slice(-64)}`;
    if (await this.#touch(path)) return path;
    const fetching =
      this.#underWay.get(hash) ??
      this.#semaphore.run(() => this.#fetch(hash, path, open)).finally(() => this.#underWay.delete(hash));
    this.#underWay.set(hash, fetching);
    return fetching;
  }

  async #touch(path: string): Promise<boolean> {
    const now = this.#folder.clock.now() / 1000;
    try {
      await utimes(path, now, now);
      return true;
    } catch (error) {
      if (systemCode(error) === "ENOENT") return false;
      throw error;
    }
  }

  async #fetch(hash: string, path: string, open: () => Promise<Readable>): Promise<string> {
    const draft = this.#folder.temporary();
    const bytes = await open();
    try {
      const actual = createHash("sha256");
      bytes.on("data", (chunk: Buffer) => actual.update(chunk));
      await onDiskAsync(() => pipeline(bytes, createWriteStream(draft, { flags: "wx", mode: fileMode() })));
      if (actual.digest("hex") !== hash)
        throw new OrbError("not_found", `the stored file ${hash} is damaged`, {
          hint: "orb audit --deep checks all files.",
        });
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    await this.#sweep();
    return path;
  }

  /** Scans the whole folder, at most once per `SWEEP_MS`. */
  async #sweep(): Promise<void> {
    const { clock } = this.#folder;
    if (clock.monotonic() - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = clock.monotonic();
    const found = [];
    for (const name of await readdir(this.#dir)) {
      const path = `${this.#dir}/${name}`;
      const stats = await stat(path).catch(() => null);
      if (stats !== null) found.push({ path, bytes: stats.size, unusedMs: clock.now() - stats.mtimeMs });
    }
    let bytes = found.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of found.toSorted((a, b) => b.unusedMs - a.unusedMs)) {
      const isEvictable = bytes > this.#limits.maxBytes && file.unusedMs > this.#limits.keptMs;
      if (!isEvictable && file.unusedMs <= UNUSED_MS) return;
      await rm(file.path, { force: true });
      bytes -= file.bytes;
    }
  }
}
