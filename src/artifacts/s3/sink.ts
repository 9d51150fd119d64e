import { rm } from "node:fs/promises";
import type { Draft, ArtifactSink } from "../sink.ts";
import { YOUNG_MS } from "../orphaned-files.ts";
import type { Bucket } from "./bucket.ts";

/** A found object must stay young while its finder needs it; half of the time is plenty. */
const STILL_NEW_MS = YOUNG_MS / 2;

/**
 * Where whole files go when they are kept in a bucket. An object is there when all of it is, and the same content twice
 * is the same object: two that store it at once do no harm.
 */
export class BucketSink implements ArtifactSink {
  readonly #bucket: Bucket;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  /** Sent without a check: it is hardly larger than one, and the write makes it young. */
  keepSmall(name: string, body: Buffer): Promise<void> {
    return this.#bucket.put(name, body);
  }

  /** One that is there and old is sent again, because nothing else makes it young. */
  async keepFile(name: string, { path, size }: Draft): Promise<void> {
    const found = await this.#bucket.head(name);
    if (found === null || found.bytes !== size || found.ageMs > STILL_NEW_MS)
      await this.#bucket.putFile(name, path, size);
    await rm(path, { force: true });
  }
}
