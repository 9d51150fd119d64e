import type { Readable } from "node:stream";
import type { PartOf, ResumablePart } from "./part.ts";

export interface StoredArtifact {
  /** SHA-256 of the bytes, in hexadecimal: the name of the file. */
  hash: string;
  size: number;
  /** Relative to the store's folder, or to the prefix in the bucket. */
  path: string;
}

export interface ArtifactWriter {
  /** Bytes so far, including those of a resumed part. */
  readonly size: number;
  /** A returned promise is back-pressure. The caller must not modify the chunk afterwards. */
  write(chunk: Buffer): void | Promise<void>;
  finish(): Promise<StoredArtifact>;
  /** Leaves nothing behind, or with `keepPart` the part that a later writer can resume. */
  abort(keepPart: boolean): Promise<void>;
}

export interface WriterOptions {
  /** Makes the transfer resumable: the bytes survive a kill, and an abort with `keepPart`. */
  part?: PartOf;
  /** Continues after the part's existing bytes (they are read once more for the hash). */
  resume?: boolean;
}

/** Content-addressed files: equal bytes are stored once. */
export interface ArtifactStore {
  /** A folder, or the URL of a bucket. */
  readonly home: string;
  /** The folder for temporary files on this machine; those named `w-…` are removed when they are an hour old. */
  readonly temporary: string;
  writer(options?: WriterOptions): ArtifactWriter;
  /**
   * Parts are local to this machine. Parts that another process left since this store was opened become known by
   * iterating `parts`.
   */
  resumable(partKey: string): ResumablePart | null;
  dropPart(partKey: string): void;
  parts(): AsyncIterable<string>;
  has(hash: string): Promise<boolean>;
  sizeOf(hash: string): Promise<number | null>;
  /** Throws `not_found` when there is none. */
  open(hash: string): Promise<Readable>;
  /** The location as far as this machine knows without a request; for a missing file, where it would be. */
  locationOf(hash: string): string;
  /**
   * The path of an uncompressed local file; a compressed or remote one is unpacked or downloaded first. It may be moved
   * before it is opened: on ENOENT, call again.
   */
  pathOf(hash: string): Promise<string>;
  /** Milliseconds since it was stored or found again; null: it is not in the hot tier. */
  ageOf(hash: string): Promise<number | null>;
  /** Moves it to the archive tier and returns its size before and after; null: there is no such file. */
  coolDown(hash: string): Promise<{ before: number; after: number } | null>;
  /** Reads the file and compares its hash; false also when it is missing. */
  verify(hash: string): Promise<boolean>;
  /**
   * Removes a file that no row references. False: it stays for now, because it was stored or found again recently, or
   * because removal takes several steps.
   */
  removeOrphaned(hash: string, isOrphaned: () => Promise<boolean>): Promise<boolean>;
  /** Throws `disk_full` or another storage error when a small file cannot be stored now. */
  probe(): Promise<void>;
}
