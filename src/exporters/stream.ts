/** Shared by the formats: bounded batches of records, and text collected into byte chunks. */
import { pipeline, Readable, type Transform } from "node:stream";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import type { ExportRecord } from "./exporter.ts";

/** Large enough not to feed a socket line by line, small enough not to matter in memory. */
const CHUNK_CHARACTERS = 64 * 1024;

/** Pulls from `texts` only what the next chunk needs. Never splits a text, so no character either. */
export async function* inChunks(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let parts: string[] = [];
  let length = 0;
  for await (const text of texts) {
    parts.push(text);
    length += text.length;
    if (length < CHUNK_CHARACTERS) continue;
    yield encoder.encode(parts.join(""));
    parts = [];
    length = 0;
  }
  if (length > 0) yield encoder.encode(parts.join(""));
}

export interface Batch {
  records: ExportRecord[];
  /** No record follows. */
  last: boolean;
}

interface BatchLimits {
  records: number;
  /** Approximate characters; a larger record is a batch of its own. */
  weight: number;
}

/** Batches within limits; at least one, which is empty without records. */
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

/** Fields in order of first appearance, limited to `max`. */
export function fieldsOf(records: readonly ExportRecord[], max: number): string[] {
  const fields = new Set<string>();
  for (const { data } of records) {
    for (const field of Object.keys(data)) {
      if (fields.size >= max) return [...fields];
      fields.add(field);
    }
  }
  return [...fields];
}

/**
 * Column names: fields keep theirs, but one that collides with a column of the record itself (`url`) becomes
 * `data_url`.
 */
export function columnNames(fields: readonly string[], reserved: readonly string[]): Map<string, string> {
  const usedNames = new Set([...reserved, ...fields.filter((field) => !reserved.includes(field))]);
  return new Map(
    fields.map((field) => {
      if (!reserved.includes(field)) return [field, field];
      let name = `data_${field}`;
      while (usedNames.has(name)) name = `data_${name}`;
      usedNames.add(name);
      return [field, name];
    }),
  );
}

/** A record without ids and times. An extracted field named `url` replaces the record's. */
export function plainRecord({ url, data }: ExportRecord): Record<string, JsonValue> {
  return { url, ...data };
}

/** Strings as they are, everything else as JSON. */
export function asText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Pipes through a transform. A source failure is thrown to the reader; a reader that stops stops the source. */
export function through(source: AsyncIterable<Uint8Array>, transform: Transform): AsyncIterable<Uint8Array> {
  return pipeline(Readable.from(source), transform, () => {});
}
