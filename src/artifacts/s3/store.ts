/**
 * Files in an S3-compatible bucket, so that every machine has all of them. Drafts, partial downloads and copies for
 * tools that need a path are in a local folder.
 */
import type { Clock } from "../../base/clock.ts";
import { makeFolder } from "../../base/files/file-modes.ts";
import { isContentOf, missingArtifact } from "../content.ts";
import { onDisk } from "../disk.ts";
import { artifactPath, Folder } from "../layout.ts";
import { partsIn, removeLeftovers, STALE_MS } from "../leftovers.ts";
import { dropPart, readPart } from "../part.ts";
import type { ArtifactStore } from "../port.ts";
import { FileWriter } from "../writer.ts";
import type { Bucket } from "./bucket.ts";
import { FetchedFiles, type FetchedLimits } from "./fetched.ts";
import { StoredObjects } from "./objects.ts";
import { BucketSink } from "./sink.ts";

export function createBucketArtifactStore(options: {
  bucket: Bucket;
  /** For local files. */
  dir: string;
  clock: Clock;
  fetched?: FetchedLimits;
}): ArtifactStore {
  const { bucket, dir, clock } = options;
  const folder = new Folder(dir, clock);
  onDisk(() => makeFolder(folder.tmp));
  removeLeftovers(folder, clock.now() - STALE_MS);
  const sink = new BucketSink(bucket);
  const objects = new StoredObjects(bucket, folder);
  const fetched = new FetchedFiles(folder, options.fetched);

  const open = async (hash: string) => {
    const bytes = await objects.open(hash);
    if (bytes === null) throw missingArtifact();
    return bytes;
  };
  return {
    home: bucket.home,
    temporary: folder.tmp,
    writer: (writerOptions = {}) => new FileWriter(folder, sink, writerOptions),
    resumable: (key) => readPart(folder, key),
    dropPart: (key) => dropPart(folder, key),
    parts: () => partsIn(folder),
    has: async (hash) => (await objects.find(hash)) !== null,
    sizeOf: (hash) => objects.sizeOf(hash),
    open,
    locationOf: (hash) => bucket.addressOf(artifactPath(hash)),
    pathOf: (hash) => fetched.pathOf(hash, () => open(hash)),
    ageOf: async (hash) => (await bucket.head(artifactPath(hash)))?.ageMs ?? null,
    coolDown: (hash) => objects.coolDown(hash),
    async verify(hash) {
      const bytes = await objects.open(hash);
      return bytes !== null && isContentOf(hash, bytes);
    },
    removeOrphaned: (hash, isOrphaned) => objects.removeOrphaned(hash, isOrphaned),
    probe: () => bucket.probe(folder.temporary().slice(dir.length + 1)),
  };
}
