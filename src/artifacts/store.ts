import { accessSync, constants, createReadStream, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import type { Clock } from "../base/clock.ts";
import { systemCode } from "../base/errors.ts";
import { fileMode, makeFolder } from "../base/files/file-modes.ts";
import { ArchiveTier } from "./cold.ts";
import { isContentOf, missingArtifact } from "./content.ts";
import { onDisk } from "./disk.ts";
import { artifactPath, Folder } from "./layout.ts";
import { partsIn, removeIfThere, removeLeftovers, STALE_MS } from "./leftovers.ts";
import { quarantinePath, removeOrphaned } from "./orphaned-files.ts";
import { dropPart, readPart } from "./part.ts";
import { FolderSink, SMALL_BYTES } from "./sink.ts";
import type { ArtifactStore } from "./port.ts";
import { FileWriter } from "./writer.ts";

const READ_BYTES = 256 * 1024;

/** Files in a local folder, or in one that several machines share. */
export function createArtifactStore(options: { dir: string; clock: Clock }): ArtifactStore {
  const { dir, clock } = options;
  const folder = new Folder(dir, clock);
  onDisk(() => {
    makeFolder(folder.tmp);
    makeFolder(`${dir}/sha256`);
  });
  const cold = new ArchiveTier(folder);
  removeLeftovers(folder, clock.now() - STALE_MS);
  cold.removeLeftovers(clock.now() - STALE_MS);

  const locate = (hash: string) => `${dir}/${artifactPath(hash)}`;
  // A small file is truncated for a moment, and permanently if its writer is killed then. A process that stored the
  // content before must read the complete file.
  const hotSize = (hash: string) => {
    const size = statSync(locate(hash), { throwIfNoEntry: false })?.size ?? null;
    if (size === null || size > SMALL_BYTES) return size;
    const completeSize = cold.sizeOf(hash) ?? size;
    return completeSize === size ? size : null;
  };
  const sizeOf = (hash: string) => hotSize(hash) ?? cold.sizeOf(hash);
  const openNow = (hash: string) => {
    const size = hotSize(hash);
    return (size === null ? null : openHot(locate(hash), size)) ?? cold.open(hash);
  };

  const sink = new FolderSink(folder);

  return {
    home: dir,
    temporary: folder.tmp,
    writer: (writerOptions = {}) => new FileWriter(folder, sink, writerOptions),
    resumable: (key) => readPart(folder, key),
    dropPart: (key) => dropPart(folder, key),
    parts: () => partsIn(folder),
    has: async (hash) => sizeOf(hash) !== null,
    sizeOf: async (hash) => sizeOf(hash),
    async open(hash) {
      // Tries twice: the file may have changed tiers between the two lookups.
      const found = openNow(hash) ?? openNow(hash);
      if (found === null) throw missingArtifact();
      return found;
    },
    locationOf: (hash) => (hotSize(hash) === null ? cold.find(hash)?.path : undefined) ?? locate(hash),
    async pathOf(hash) {
      if (hotSize(hash) !== null) return locate(hash);
      const found = cold.find(hash);
      if (found?.packed === false) return found.path;
      const bytes = openNow(hash);
      if (bytes === null) throw missingArtifact();
      const writer = new FileWriter(folder, sink, {});
      try {
        for await (const chunk of bytes) await writer.write(chunk as Buffer);
        await writer.finish();
      } catch (error) {
        await writer.abort(false);
        throw error;
      }
      return locate(hash);
    },
    async ageOf(hash) {
      const stored = statSync(locate(hash), { throwIfNoEntry: false })?.mtimeMs;
      return stored === undefined ? null : Math.max(0, clock.now() - stored);
    },
    coolDown: (hash) => cold.coolDown(hash),
    async verify(hash) {
      const bytes = openNow(hash) ?? openNow(hash);
      return bytes !== null && isContentOf(hash, bytes);
    },
    async removeOrphaned(hash, isOrphaned) {
      const hot = { path: locate(hash), quarantined: quarantinePath(folder.tmp, hash) };
      return (await removeOrphaned(hot, clock, isOrphaned)) && cold.removeOrphaned(hash, isOrphaned);
    },
    async probe() {
      const path = folder.temporary();
      onDisk(() => {
        accessSync(`${dir}/sha256`, constants.W_OK);
        try {
          writeFileSync(path, Buffer.alloc(4096), { flag: "wx", mode: fileMode() });
        } finally {
          removeIfThere(path);
        }
      });
    },
  };
}

/**
 * Opens now, so that it can be read to its end even if the file is unlinked. Small files are read synchronously: that
 * takes less time than a stream through the thread pool.
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
