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
  /** Bytes so far, those of a resumed part included. */
  readonly size: number;
  /** A promise is back-pressure. The chunk must not be altered afterwards. */
  write(chunk: Buffer): void | Promise<void>;
  finish(): Promise<StoredArtifact>;
  /** Leaves nothing behind, or with `keepPart` the part that a later writer can go on from. */
  abort(keepPart: boolean): Promise<void>;
}

export interface WriterOptions {
  /** Makes the transfer resumable: what is written survives an abort that keeps it, and a kill. */
  part?: PartOf;
  /** Go on after the bytes that the part already has (they are read once more for the hash). */
  resume?: boolean;
}

/** Files by content: the same bytes are one file, whoever stores them and however often. */
export interface ArtifactStore {
  /** Where the files are: a folder, or the URL of a bucket. */
  readonly home: string;
  writer(options?: WriterOptions): ArtifactWriter;
  /**
   * Parts are of this machine. Those that another process left since this store was opened are known once `parts` has
   * been walked.
   */
  resumable(partKey: string): ResumablePart | null;
  dropPart(partKey: string): void;
  parts(): AsyncIterable<string>;
  has(hash: string): Promise<boolean>;
  sizeOf(hash: string): Promise<number | null>;
  /** Throws `not_found` when there is none. */
  open(hash: string): Promise<Readable>;
  /** The location, as far as this machine knows without a request; for a missing file, where it would be. */
  locationOf(hash: string): string;
  /**
   * The path of a plain file with its bytes; one that is compressed or elsewhere is unpacked or fetched first. It may be
   * moved before it is opened: who finds nothing there asks again.
   */
  pathOf(hash: string): Promise<string>;
  /** Time since it was stored or found again, in milliseconds; null: it is not in the hot tier. */
  ageOf(hash: string): Promise<number | null>;
  /** Moves it to the archive tier and returns its size before and after; null: there is none. */
  coolDown(hash: string): Promise<{ before: number; after: number } | null>;
  /** Reads the file again and compares; false also when there is none. */
  verify(hash: string): Promise<boolean>;
  /**
   * Removes a file that no row names; false: it stays for now, because it was stored or found again a short time ago, or
   * because it goes in several steps.
   */
  removeOrphaned(hash: string, isOrphaned: () => Promise<boolean>): Promise<boolean>;
  /** Throws `disk_full` (or what else is wrong) when a small file cannot be stored now. */
  probe(): Promise<void>;
}
