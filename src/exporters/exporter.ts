/**
 * The interface of export formats: a name, and a conversion of a stream of records, or of archived responses, into
 * bytes.
 */
import type { JsonValue } from "../domain/lane/queue-item.ts";

/** A result as the API shows it. */
export interface ExportRecord {
  id: string;
  run_id: string;
  /** The task that produced the record; in a crawl, the page's. */
  task_id: string;
  /** Where the record was found. */
  url: string;
  /** The extracted fields. */
  data: Record<string, JsonValue>;
  /** ISO 8601, UTC. */
  created_at: string;
}

export interface ExportOptions {
  /** The order of table columns, when known beforehand; other fields are not lost. */
  columns?: readonly string[];
  /** Writes only URL and fields: `id`, `run_id`, `task_id` and `created_at` are omitted. */
  plain?: boolean;
}

export interface Format {
  /** As users name it: `jsonl`. */
  readonly name: string;
  readonly contentType: string;
  /** Of file names, without a dot. */
  readonly extension: string;
  /** One line for help texts. */
  readonly about: string;
  /** Fit for a terminal. */
  readonly isText: boolean;
}

export interface Exporter extends Format {
  /**
   * Pulls records as the consumer pulls bytes, and buffers a bounded number of them. A source failure is thrown from
   * the iteration; a consumer that stops early stops the source.
   */
  export(records: AsyncIterable<ExportRecord>, options?: ExportOptions): AsyncIterable<Uint8Array>;
}

/** Concatenates archived responses, which are stored piece by piece in the target format. */
export interface Archiver extends Format {
  /** Pulls the pieces as the consumer pulls bytes, as `Exporter.export` does. */
  archive(pieces: AsyncIterable<AsyncIterable<Uint8Array>>, about: ArchiveAbout): AsyncIterable<Uint8Array>;
}

interface ArchiveAbout {
  id: string;
  now: number;
  fileName: string;
  /** The archive's own metadata. */
  fields: Readonly<Record<string, string>>;
}

/** One file of a bundle. */
export interface PackedFile {
  /** Path segments with characters that every file system accepts, joined by slashes. */
  path: string;
  size: number;
  /** Compressing pays: it is text. Images are compressed already. */
  shrinks: boolean;
  /** May be called more than once, and yields the same bytes each time. */
  open(): AsyncIterable<Uint8Array>;
}
