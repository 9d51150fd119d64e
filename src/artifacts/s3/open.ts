import type { ArtifactStore } from "../port.ts";
import { Bucket, type BucketOptions } from "./bucket.ts";
import { createBucketArtifactStore } from "./store.ts";

/** `dir` is for local files. */
export function openBucketArtifacts({ dir, ...options }: BucketOptions & { dir: string }): ArtifactStore {
  return createBucketArtifactStore({ bucket: new Bucket(options), dir, clock: options.clock });
}
