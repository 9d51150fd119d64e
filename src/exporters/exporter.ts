/** What every export format is: a name, and a way to turn a stream of records, or of what servers sent, into bytes. */
import type { JsonValue } from "../domain/lane/queue-item.ts";

/** A result as the API shows it. */
export interface ExportRecord {
  id: string;
  run_id: string;
  /** The task that gave the record: of a crawl, the page's. */
  task_id: string;
  /** Where the record was found. */
  url: string;
  /** The extracted fields. */
  data: Record<string, JsonValue>;
  /** ISO 8601, UTC. */
  created_at: string;
}

export interface ExportOptions {
  /** Fields in the order in which tables show them, when they are known beforehand; other fields are not lost. */
  columns?: readonly string[];
  /** Only the address and the fields stand in the file: `id`, `run_id`, `task_id` and `created_at` are left out. */
  plain?: boolean;
}

export interface Format {
  /** What users ask for: `jsonl`. */
  readonly name: string;
  readonly contentType: string;
  /** Of file names, without a dot. */
  readonly extension: string;
  /** One line for help texts. */
  readonly about: string;
  /** Fit for a terminal. */
  readonly isText: boolean;
}

/** Makes a file of records. */
export interface Exporter extends Format {
  /**
   * Pulls records as the consumer pulls bytes, and holds a bounded number of them. A failure of the source is thrown from
   * the iteration; a consumer that stops early stops the source.
   */
  export(records: AsyncIterable<ExportRecord>, options?: ExportOptions): AsyncIterable<Uint8Array>;
}

/** Makes a file of what servers sent, which is kept piece by piece in the form in which the file has it. */
export interface Archiver extends Format {
  /** Pulls the pieces as the consumer pulls bytes, as `Exporter.export` does. */
  archive(pieces: AsyncIterable<AsyncIterable<Uint8Array>>, about: ArchiveAbout): AsyncIterable<Uint8Array>;
}

interface ArchiveAbout {
  id: string;
  now: number;
  fileName: string;
  /** What stands in the archive about itself. */
  fields: Readonly<Record<string, string>>;
}

/** One of many files that are made into one. */
export interface PackedFile {
  /** Parts of letters that every file system takes, with slashes between them. */
  path: string;
  size: number;
  /** Compressing it pays: it is text. Pictures are compressed already. */
  shrinks: boolean;
  /** May be called more than once, and gives the same bytes each time. */
  open(): AsyncIterable<Uint8Array>;
}
