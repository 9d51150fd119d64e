/** Bundles of many files: datasets of workflows. */
import { createGzip } from "node:zlib";
import type { PackedFile } from "./exporter.ts";
import { through } from "./stream.ts";
import { tar } from "./tar.ts";
import { zip } from "./zip.ts";

interface Packing {
  readonly contentType: string;
  /** Of file names, without the first dot. */
  readonly extension: string;
  /** Pulls files as the consumer pulls bytes. The same files in the same order give the same bytes. */
  pack(files: AsyncIterable<PackedFile>): AsyncIterable<Uint8Array>;
}

export const PACKINGS = {
  zip: { contentType: "application/zip", extension: "zip", pack: (files) => zip(files) },
  tar: { contentType: "application/x-tar", extension: "tar", pack: tar },
  "tar.gz": {
    contentType: "application/gzip",
    extension: "tar.gz",
    pack: (files) => through(tar(files), createGzip()),
  },
} as const satisfies Record<string, Packing>;

export type PackingName = keyof typeof PACKINGS;
