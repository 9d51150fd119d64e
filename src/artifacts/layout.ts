import { randomUUID } from "node:crypto";
import { statSync, utimesSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import { OrbError, systemCode } from "../base/errors.ts";
import { makeFolder } from "../base/files/file-modes.ts";

export const PART_PREFIX = "part-";
export const SIDECAR_SUFFIX = ".json";

/** `sha256/ab/<64 digits>`. The check is what keeps every path inside the store's folder. */
export function artifactPath(hash: string): string {
  if (!/^[0-9a-f]{64}$/.test(hash))
    throw new OrbError("input_invalid", "the name of an artifact must be 64 hexadecimal digits");
  return `sha256/${hash.slice(0, 2)}/${hash}`;
}

export class Folder {
  readonly dir: string;
  readonly tmp: string;
  readonly clock: Clock;
  /**
   * A random id, not pid and time: two stores of one process may open in the same millisecond, and containers share
   * pids.
   */
  readonly #label = randomUUID();
  readonly #shards = new Set<string>();
  /** Keys of the parts this process knows of: a stat before every fetch costs 15 µs. */
  readonly knownParts = new Set<string>();
  #count = 0;

  constructor(dir: string, clock: Clock) {
    this.dir = dir;
    this.clock = clock;
    this.tmp = `${dir}/tmp`;
  }

  temporary(): string {
    this.#count += 1;
    return `${this.tmp}/w-${this.#label}-${this.#count}`;
  }

  /** The absolute path of an artifact. Creates its shard folder on first use. */
  prepare(path: string): string {
    const shard = path.slice(0, -65);
    if (!this.#shards.has(shard)) {
      makeFolder(`${this.dir}/${shard}`);
      this.#shards.add(shard);
    }
    return `${this.dir}/${path}`;
  }

  /**
   * Whether a complete file of that name exists. If so its age restarts: the removal of orphaned files skips it until
   * the caller has written its row.
   */
  findAgain(path: string, size: number): boolean {
    if (statSync(path, { throwIfNoEntry: false })?.size !== size) return false;
    const now = this.clock.now() / 1000;
    try {
      utimesSync(path, now, now);
      return true;
    } catch (error) {
      // Removed in between: the caller writes it again.
      if (systemCode(error) === "ENOENT") return false;
      throw error;
    }
  }

  part(key: string): string {
    if (!/^[A-Za-z0-9_-]{1,100}$/.test(key))
      throw new OrbError("input_invalid", "the name of a part may contain only letters, digits, - and _");
    return `${this.tmp}/${PART_PREFIX}${key}`;
  }

  sidecar(key: string): string {
    return this.part(key) + SIDECAR_SUFFIX;
  }
}
