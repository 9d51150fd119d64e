import { statfsSync, statSync } from "node:fs";
import type { Clock } from "../clock.ts";
import { OrbError } from "../errors.ts";

interface PathSpace {
  /** What is stored there: "the database". */
  what: string;
  freeBytes: number;
  /** Equal for all paths on one disk. */
  disk: string;
}

interface DiskSpaceOptions {
  clock: Clock;
  /** Below this the disk counts as full; 0: no reserve. */
  minBytes: number;
  paths: readonly { what: string; path: string }[];
  /** Free bytes at a path. */
  freeAt?: (path: string) => number;
}

const MEASURE_MS = 500;
/** Hysteresis: work that resumes with the first free byte would stop again at once. */
const ENOUGH = 1.1;
const MB = 1024 * 1024;

/** Free space on the disks that this installation writes to. Measured on demand, at most every half second. */
export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #spaces: PathSpace[] = [];
  #low: { what: string; since: number } | null = null;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
  }

  get spaces(): readonly PathSpace[] {
    this.#measure();
    return this.#spaces;
  }

  /** Each disk once, with all that is stored there: "the database and the artifacts". */
  get disks(): { what: string; freeBytes: number }[] {
    const disks = Map.groupBy(this.spaces, ({ disk }) => disk);
    return [...disks.values()].map((spaces) => ({
      what: spaces.map(({ what }) => what).join(" and "),
      freeBytes: Math.min(...spaces.map(({ freeBytes }) => freeBytes)),
    }));
  }

  get minBytes(): number {
    return this.#options.minBytes;
  }

  /** What has too little free space, and since when. */
  get low(): { what: string; since: number } | null {
    this.#measure();
    return this.#low;
  }

  /** Throws `disk_full` while there is too little free space. */
  check(): void {
    const { low } = this;
    if (low === null) return;
    throw new OrbError("disk_full", this.describe(low.what), {
      hint: "Free some space, or lower APP_MIN_FREE_DISK_MB. Work resumes automatically.",
    });
  }

  describe(what: string): string {
    const free = this.#spaces.find((space) => space.what === what)?.freeBytes ?? 0;
    return `the disk is nearly full: ${inMb(free)} MB are free for ${what}, less than the required ${inMb(this.minBytes)} MB`;
  }

  #measure(): void {
    const { clock, minBytes, paths, freeAt = freeBytes } = this.#options;
    if (clock.monotonic() - this.#measuredAt < MEASURE_MS) return;
    this.#measuredAt = clock.monotonic();
    this.#spaces = paths.map(({ what, path }) => ({ what, freeBytes: freeAt(path), disk: diskOf(path) }));
    const tight = this.#spaces.toSorted((a, b) => a.freeBytes - b.freeBytes)[0];
    const wanted = this.#low === null ? minBytes : minBytes * ENOUGH;
    if (tight === undefined || tight.freeBytes >= wanted) this.#low = null;
    else this.#low ??= { what: tight.what, since: clock.now() };
  }
}

function inMb(bytes: number): number {
  return Math.floor(bytes / MB);
}

/** 79.2 GB: three significant digits, as in the dashboard. */
export function sizeWords(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB", "PB"];
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${Number((bytes / 1000 ** unit).toPrecision(3))} ${units[unit]}`;
}

function diskOf(path: string): string {
  return String(statSync(path, { throwIfNoEntry: false })?.dev ?? path);
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}
