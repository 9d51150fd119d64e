/** Compares the records that a page gave with those that it gave before. */
import { canonicalJson } from "../../base/canonical-json.ts";
import type { JsonValue } from "../lane/queue-item.ts";
import type { Pattern } from "../text/regex.ts";
import { Comparison, type Differences } from "./record-comparison.ts";
import { hunksOf, wholeHunk } from "./sequence.ts";

type JsonRecord = Record<string, JsonValue>;

export interface RecordChange {
  /** The value of the key field, or the number of the record, from 1. */
  key: JsonValue;
  change: "new" | "changed" | "removed";
  fields: Differences;
}

export interface RecordRules {
  /** The field that identifies a record; null: `url` if all records have one, else the order. */
  key: string | null;
  /** Names of fields that are left out. */
  without: ReadonlySet<string>;
  ignore: readonly Pattern[];
}

export function compareRecords(
  before: readonly JsonRecord[],
  now: readonly JsonRecord[],
  rules: RecordRules,
): RecordChange[] {
  const key = keyOf(before, now, rules.key);
  return key === null ? byOrder(before, now, rules) : byKey(before, now, key, rules);
}

function keyOf(before: readonly JsonRecord[], now: readonly JsonRecord[], wanted: string | null): string | null {
  if (wanted !== null) return wanted;
  if (before.length <= 1 && now.length <= 1) return null;
  const isKey = (list: readonly JsonRecord[]) => {
    const values = list.map((record) => record["url"]).filter((value) => typeof value === "string");
    return values.length === list.length && new Set(values).size === list.length;
  };
  return isKey(before) && isKey(now) ? "url" : null;
}

/** A record as it is compared. */
function bare(record: JsonRecord, { without, ignore }: RecordRules): JsonRecord {
  const kept = Object.entries(record).filter(([name]) => !without.has(name));
  if (ignore.length === 0) return Object.fromEntries(kept);
  const stripped = (value: JsonValue): JsonValue => {
    if (typeof value === "string") return ignore.reduce((text, pattern) => pattern.without(text), value).trim();
    if (Array.isArray(value)) return value.map(stripped);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, stripped(inner)]));
  };
  return Object.fromEntries(kept.map(([name, value]) => [name, stripped(value)]));
}

/** Differences of the compared values, shown as they were read. */
function differences(comparison: Comparison, old: JsonRecord, recent: JsonRecord, rules: RecordRules): Differences {
  const names = Object.keys(comparison.differences(bare(old, rules), bare(recent, rules)));
  return Object.fromEntries(
    names.map((name) => [name, { before: old[name] ?? null, after: recent[name] ?? null }] as const),
  );
}

const isEmpty = (fields: Differences) => Object.keys(fields).length === 0;

function byKey(
  before: readonly JsonRecord[],
  now: readonly JsonRecord[],
  key: string,
  rules: RecordRules,
): RecordChange[] {
  const comparison = new Comparison([key], null);
  const named = (list: readonly JsonRecord[]) => {
    const nameOf = comparison.names();
    return new Map(list.map((record) => [nameOf(record).name, record]));
  };
  const [old, recent] = [named(before), named(now)];
  const changes: RecordChange[] = [];
  for (const [name, record] of recent) {
    const was = old.get(name);
    const fields = was === undefined ? {} : differences(comparison, was, record, rules);
    if (was === undefined)
      changes.push({ key: comparison.keyOf(record), change: "new", fields: valuesOf(null, record) });
    else if (!isEmpty(fields)) changes.push({ key: comparison.keyOf(record), change: "changed", fields });
  }
  for (const [name, record] of old)
    if (!recent.has(name))
      changes.push({ key: comparison.keyOf(record), change: "removed", fields: valuesOf(record, null) });
  return changes;
}

function byOrder(before: readonly JsonRecord[], now: readonly JsonRecord[], rules: RecordRules): RecordChange[] {
  const comparison = new Comparison([], null);
  const texts = (list: readonly JsonRecord[]) => list.map((record) => canonicalJson(bare(record, rules)));
  const [old, recent] = [texts(before), texts(now)];
  const changes: RecordChange[] = [];
  for (const { from, to, otherFrom, otherTo } of hunksOf(old, recent) ?? wholeHunk(old, recent)) {
    const pairs = Math.min(to - from, otherTo - otherFrom);
    for (let index = 0; index < pairs; index += 1) {
      const fields = differences(comparison, before[from + index]!, now[otherFrom + index]!, rules);
      if (!isEmpty(fields)) changes.push({ key: otherFrom + index + 1, change: "changed", fields });
    }
    for (let index = otherFrom + pairs; index < otherTo; index += 1)
      changes.push({ key: index + 1, change: "new", fields: valuesOf(null, now[index]!) });
    for (let index = from + pairs; index < to; index += 1)
      changes.push({ key: index + 1, change: "removed", fields: valuesOf(before[index]!, null) });
  }
  return changes;
}

function valuesOf(before: JsonRecord | null, after: JsonRecord | null): Differences {
  const names = Object.keys(before ?? after ?? {});
  return Object.fromEntries(
    names.map((name) => [name, { before: before?.[name] ?? null, after: after?.[name] ?? null }] as const),
  );
}

/** One line per value, so that records can be shown as a text. */
export function recordLines(records: readonly JsonRecord[]): string {
  return records
    .flatMap((record, index) => [
      ...(records.length === 1 ? [] : [`# ${index + 1}`]),
      ...Object.entries(record).map(([name, value]) => `${name}: ${lineOf(value)}`),
    ])
    .join("\n");
}

const lineOf = (value: JsonValue) => (typeof value === "string" ? value.replace(/\s+/g, " ") : JSON.stringify(value));
