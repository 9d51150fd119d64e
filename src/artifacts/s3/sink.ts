import { rm } from "node:fs/promises";
import type { Draft, ArtifactSink } from "../sink.ts";
import { YOUNG_MS } from "../orphaned-files.ts";
import type { Bucket } from "./bucket.ts";

/** An existing object must not count as old while its finder still needs it; half of the time is plenty. */
const STILL_NEW_MS = YOUNG_MS / 2;

/**
 * Stores complete files in a bucket. An object appears only once it is complete, and equal content is the same object:
 * two concurrent writers do no harm.
 */
export class BucketSink implements ArtifactSink {
  readonly #bucket: Bucket;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  /** Uploads without a HEAD: the body is hardly larger than one, and the write refreshes the object's age. */
  keepSmall(name: string, body: Buffer): Promise<void> {
    return this.#bucket.put(name, body);
  }

  /** An existing old object is uploaded again: nothing else refreshes its age. */
  async keepFile(name: string, { path, size }: Draft): Promise<void> {
    const found = await this.#bucket.head(name);
    if (found === null || found.bytes !== size || found.ageMs > STILL_NEW_MS)
      await this.#bucket.putFile(name, path, size);
    await rm(path, { force: true });
  }
}
