import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  createReadStream,
  mkdirSync,
  opendirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Clock } from "../base/clock.ts";
import { OrbError, systemCode } from "../base/errors.ts";
import { ColdPlace } from "./cold.ts";
import { onDisk } from "./disk.ts";
import { artifactPath, Folder, PART_PREFIX, SIDECAR_SUFFIX } from "./layout.ts";
import { asideName, asideOf, putBack, removeLoose } from "./loose.ts";
import { dropPart, readPart, type ResumablePart } from "./part.ts";
import { type ArtifactWriter, FileWriter, SMALL_BYTES, type WriterOptions } from "./writer.ts";

/** Files by content: the same bytes are one file, whoever stores them and however often. */
export interface ArtifactStore {
  writer(options?: WriterOptions): ArtifactWriter;
  /** Parts that another process left since this store was opened are known once `parts` has been walked. */
  resumable(partKey: string): ResumablePart | null;
  dropPart(partKey: string): void;
  parts(): AsyncIterable<string>;
  has(hash: string): boolean;
  sizeOf(hash: string): number | null;
  open(hash: string): Readable;
  /** Where it lies, as it lies there; where it would, when there is none. */
  placeOf(hash: string): string;
  /**
   * The path of a plain file with its bytes; one that lies compressed in the cold place is unpacked first. Somebody may
   * move it before it is opened: who finds nothing there asks again.
   */
  pathOf(hash: string): Promise<string>;
  /** Moves it to the cold place, and says how many bytes it took and takes; null: there is none. */
  coolDown(hash: string): Promise<{ before: number; after: number } | null>;
  /** Reads the file again and compares; false also when there is none. */
  verify(hash: string): Promise<boolean>;
  /** Removes a file that no row names; false: it was stored or found again a short time ago, and stays for now. */
  removeLoose(hash: string, isLoose: () => Promise<boolean>): Promise<boolean>;
  /** Throws `disk_full` (or what else is wrong) when a small file cannot be written now. */
  probe(): void;
}

const STALE_MS = 60 * 60 * 1000;
const READ_BYTES = 256 * 1024;

export function createArtifactStore(options: { dir: string; clock: Clock }): ArtifactStore {
  const { dir, clock } = options;
  const folder = new Folder(dir, clock);
  onDisk(() => {
    mkdirSync(folder.tmp, { recursive: true });
    mkdirSync(`${dir}/sha256`, { recursive: true });
  });
  const cold = new ColdPlace(folder);
  removeLeftovers(folder, clock.now() - STALE_MS);
  cold.removeLeftovers(clock.now() - STALE_MS);

  const locate = (hash: string) => `${dir}/${artifactPath(hash)}`;
  // Small files are short for a moment, and for good when their writer is killed then. Whoever has stored the content
  // before is to read what is whole.
  const hotSize = (hash: string) => {
    const size = statSync(locate(hash), { throwIfNoEntry: false })?.size ?? null;
    if (size === null || size > SMALL_BYTES) return size;
    const whole = cold.sizeOf(hash) ?? size;
    return whole === size ? size : null;
  };
  const sizeOf = (hash: string) => hotSize(hash) ?? cold.sizeOf(hash);
  const missing = () => new OrbError("not_found", "there is no artifact with that hash");
  const openNow = (hash: string) => {
    const size = hotSize(hash);
    return (size === null ? null : openHot(locate(hash), size)) ?? cold.open(hash);
  };

  return {
    writer: (writerOptions = {}) => new FileWriter(folder, writerOptions),
    resumable: (key) => readPart(folder, key),
    dropPart: (key) => dropPart(folder, key),
    async *parts() {
      for await (const entry of opendirSync(folder.tmp)) {
        const { name } = entry;
        const key = partKeyOf(name);
        if (key === null) continue;
        // Parts of the engine before us become known here.
        folder.knownParts.add(key);
        yield key;
      }
    },
    has: (hash) => sizeOf(hash) !== null,
    sizeOf,
    open: (hash) => {
      // Asked a second time: it may have been unpacked between the two looks.
      const found = openNow(hash) ?? openNow(hash);
      if (found === null) throw missing();
      return found;
    },
    placeOf: (hash) => (hotSize(hash) === null ? cold.find(hash)?.path : undefined) ?? locate(hash),
    async pathOf(hash) {
      if (hotSize(hash) !== null) return locate(hash);
      const found = cold.find(hash);
      if (found?.packed === false) return found.path;
      const bytes = openNow(hash);
      if (bytes === null) throw missing();
      const writer = new FileWriter(folder, {});
      try {
        for await (const chunk of bytes) await writer.write(chunk as Buffer);
        await writer.finish();
      } catch (error) {
        await writer.abort(false);
        throw error;
      }
      return locate(hash);
    },
    coolDown: (hash) => cold.coolDown(hash),
    async verify(hash) {
      const bytes = openNow(hash) ?? openNow(hash);
      if (bytes === null) return false;
      const actual = createHash("sha256");
      try {
        await pipeline(bytes, actual);
      } catch (error) {
        // Packed bytes that the disk has altered cannot be unpacked.
        if (/^Z(?:STD)?_/.test(systemCode(error) ?? "")) return false;
        throw error;
      }
      return actual.digest("hex") === hash;
    },
    async removeLoose(hash, isLoose) {
      const hot = { path: locate(hash), aside: asideOf(folder.tmp, hash) };
      return (await removeLoose(hot, clock, isLoose)) && cold.removeLoose(hash, isLoose);
    },
    probe() {
      const path = folder.temporary();
      onDisk(() => {
        accessSync(`${dir}/sha256`, constants.W_OK);
        try {
          writeFileSync(path, Buffer.alloc(4096), { flag: "wx" });
        } finally {
          removeIfThere(path);
        }
      });
    },
  };
}

/**
 * Opened at once, so that it can be read to its end whatever becomes of its name. What is small is read at once, too: that
 * takes less than a stream's way through the thread pool.
 */
function openHot(path: string, size: number): Readable | null {
  try {
    if (size <= SMALL_BYTES) return Readable.from([readFileSync(path)], { objectMode: false });
    return createReadStream(path, { fd: openSync(path, "r"), highWaterMark: READ_BYTES });
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
}

function partKeyOf(name: string): string | null {
  if (!name.startsWith(PART_PREFIX) || !name.endsWith(SIDECAR_SUFFIX)) return null;
  return name.slice(PART_PREFIX.length, -SIDECAR_SUFFIX.length);
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never made, or someone was faster.
  }
}

/** Temporary files of processes that died; what was about to be removed is put back. Parts are somebody's progress: only the janitor knows whether it is wanted. */
function removeLeftovers(folder: Folder, before: number): void {
  for (const name of readdirSync(folder.tmp)) {
    const key = partKeyOf(name);
    if (key !== null) folder.knownParts.add(key);
    if (name.startsWith(PART_PREFIX)) continue;
    const path = `${folder.tmp}/${name}`;
    const hash = asideName(name);
    if (hash !== null) {
      putBack(path, folder.prepare(artifactPath(hash)));
      continue;
    }
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() === true && found.mtimeMs < before) removeIfThere(path);
  }
}
