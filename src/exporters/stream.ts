/** Pieces that the formats share: bounded batches of records, and text gathered into chunks of bytes. */
import { pipeline, Readable, type Transform } from "node:stream";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import type { ExportRecord } from "./exporter.ts";

/** Large enough that a socket is not fed line by line, small enough not to matter. */
const CHUNK_CHARACTERS = 64 * 1024;

/** Pulls from `texts` only what the next chunk needs. A text is never cut, so no character is. */
export async function* inChunks(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let gathered: string[] = [];
  let length = 0;
  for await (const text of texts) {
    gathered.push(text);
    length += text.length;
    if (length < CHUNK_CHARACTERS) continue;
    yield encoder.encode(gathered.join(""));
    gathered = [];
    length = 0;
  }
  if (length > 0) yield encoder.encode(gathered.join(""));
}

export interface Batch {
  records: ExportRecord[];
  /** No record follows. */
  last: boolean;
}

interface BatchLimits {
  records: number;
  /** In characters, roughly; one record may be larger and is then a batch of its own. */
  weight: number;
}

/** Batches within limits; always at least one, which is empty when there are no records. */
export async function* batchesOf(records: AsyncIterable<ExportRecord>, limits: BatchLimits): AsyncGenerator<Batch> {
  let batch: ExportRecord[] = [];
  let weight = 0;
  for await (const record of records) {
    const more = weightOf(record.data) + record.url.length + 100;
    if (batch.length > 0 && (batch.length >= limits.records || weight + more > limits.weight)) {
      yield { records: batch, last: false };
      batch = [];
      weight = 0;
    }
    batch.push(record);
    weight += more;
  }
  yield { records: batch, last: true };
}

function weightOf(value: JsonValue): number {
  if (typeof value === "string") return value.length + 8;
  if (value === null || typeof value !== "object") return 8;
  if (Array.isArray(value)) return value.reduce<number>((sum, element) => sum + weightOf(element), 16);
  return Object.entries(value).reduce((sum, [key, element]) => sum + key.length + weightOf(element), 32);
}

/** Fields in the order in which they first appear, at most so many. */
export function fieldsOf(records: readonly ExportRecord[], most: number): string[] {
  const fields = new Set<string>();
  for (const { data } of records) {
    for (const field of Object.keys(data)) {
      if (fields.size >= most) return [...fields];
      fields.add(field);
    }
  }
  return [...fields];
}

/**
 * The columns' names: fields keep theirs, but one that is called like a column of the record itself (`url`) becomes
 * `data_url`.
 */
export function columnNames(fields: readonly string[], taken: readonly string[]): Map<string, string> {
  const used = new Set([...taken, ...fields.filter((field) => !taken.includes(field))]);
  return new Map(
    fields.map((field) => {
      if (!taken.includes(field)) return [field, field];
      let name = `data_${field}`;
      while (used.has(name)) name = `data_${name}`;
      used.add(name);
      return [field, name];
    }),
  );
}

/** A record without what the product says of it. A field that is called `url` as well is what the address says. */
export function plainRecord({ url, data }: ExportRecord): Record<string, JsonValue> {
  return { url, ...data };
}

/** A value where only text fits: text as it is, everything else as JSON. */
export function asText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What comes out of a transform; a failure of the source is thrown to the reader, and a reader that stops stops the source. */
export function through(source: AsyncIterable<Uint8Array>, transform: Transform): AsyncIterable<Uint8Array> {
  // The failure is thrown where the bytes are read.
  return pipeline(Readable.from(source), transform, () => {});
}
