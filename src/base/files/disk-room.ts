import { statfsSync, statSync } from "node:fs";
import type { Clock } from "../clock.ts";
import { OrbError } from "../errors.ts";

export interface Room {
  /** What lies there: "the database". */
  what: string;
  freeBytes: number;
  /** Places on the same disk have the same. */
  disk: string;
}

interface DiskRoomOptions {
  clock: Clock;
  /** Below it the disk counts as full; 0: only when it is. */
  minBytes: number;
  places: readonly { what: string; path: string }[];
  /** How many bytes are free at a path. */
  freeAt?: (path: string) => number;
}

const LOOK_MS = 500;
/** Work that goes on with the first free byte would stop again at once. */
const ENOUGH = 1.1;
const MB = 1024 * 1024;

/** Free space on the disks that this installation writes to. Measured on demand, at most every half second. */
export class DiskRoom {
  readonly #options: DiskRoomOptions;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #rooms: Room[] = [];
  #low: { what: string; since: number } | null = null;

  constructor(options: DiskRoomOptions) {
    this.#options = options;
  }

  get rooms(): readonly Room[] {
    this.#look();
    return this.#rooms;
  }

  /** Each disk once, with all that lies there: "the database and the artifacts". */
  get disks(): { what: string; freeBytes: number }[] {
    const disks = Map.groupBy(this.rooms, ({ disk }) => disk);
    return [...disks.values()].map((rooms) => ({
      what: rooms.map(({ what }) => what).join(" and "),
      freeBytes: Math.min(...rooms.map(({ freeBytes }) => freeBytes)),
    }));
  }

  get minBytes(): number {
    return this.#options.minBytes;
  }

  /** What has too little space, and since when that is known. */
  get low(): { what: string; since: number } | null {
    this.#look();
    return this.#low;
  }

  /** Throws `disk_full` while there is too little room. */
  check(): void {
    const { low } = this;
    if (low === null) return;
    throw new OrbError("disk_full", this.describe(low.what), {
      hint: "Free some space, or lower APP_MIN_FREE_DISK_MB. Work goes on by itself.",
    });
  }

  describe(what: string): string {
    const free = this.#rooms.find((room) => room.what === what)?.freeBytes ?? 0;
    return `the disk is nearly full: ${inMb(free)} MB are free where ${what} is kept, and ${inMb(this.minBytes)} MB are to stay free`;
  }

  #look(): void {
    const { clock, minBytes, places, freeAt = freeBytes } = this.#options;
    if (clock.monotonic() - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = clock.monotonic();
    this.#rooms = places.map(({ what, path }) => ({ what, freeBytes: freeAt(path), disk: diskOf(path) }));
    const tight = this.#rooms.toSorted((a, b) => a.freeBytes - b.freeBytes)[0];
    const wanted = this.#low === null ? minBytes : minBytes * ENOUGH;
    if (tight === undefined || tight.freeBytes >= wanted) this.#low = null;
    else this.#low ??= { what: tight.what, since: clock.now() };
  }
}

function inMb(bytes: number): number {
  return Math.floor(bytes / MB);
}

/** 79.2 GB: as the dashboard says it, three digits that count. */
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
