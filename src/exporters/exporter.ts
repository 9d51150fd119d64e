/** What every result format is: a name, and a way to turn a stream of records into a stream of bytes. */
import type { JsonValue } from "../domain/queue-item.ts";

/** A result as the API shows it. */
export interface ExportRecord {
  id: string;
  run_id: string;
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
}

export interface Exporter {
  /** What users ask for: `jsonl`. */
  readonly name: string;
  readonly contentType: string;
  /** Of file names, without a dot. */
  readonly extension: string;
  /** One line for help texts. */
  readonly about: string;
  /**
   * Pulls records as the consumer pulls bytes, and holds a bounded number of them. A failure of the source is thrown from
   * the iteration; a consumer that stops early stops the source.
   */
  export(records: AsyncIterable<ExportRecord>, options?: ExportOptions): AsyncIterable<Uint8Array>;
}
