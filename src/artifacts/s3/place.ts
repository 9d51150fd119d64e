import { rm } from "node:fs/promises";
import type { Draft, KeepingPlace } from "../place.ts";
import { YOUNG_MS } from "../loose.ts";
import type { Bucket } from "./bucket.ts";

/** What was found is to stay young for as long as its finder may need; half of the time is plenty. */
const STILL_NEW_MS = YOUNG_MS / 2;

/**
 * Where whole files go when they are kept in a bucket. An object is there when all of it is, and the same content twice
 * is the same object: two that store it at once do no harm.
 */
export class BucketPlace implements KeepingPlace {
  readonly #bucket: Bucket;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  /** Sent without a question: it is hardly larger than one, and makes what is there young. */
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
