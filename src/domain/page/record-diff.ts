/** Compares the records of a page with those that it gave before, field by field. */
import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "../lane/queue-item.ts";

/** From bad to good; a field of several records has the worst of its results. */
export const FIELD_RESULTS = ["lost", "changed", "new", "same"] as const;
export type FieldResult = (typeof FIELD_RESULTS)[number];

export interface FieldDiff {
  field: string;
  result: FieldResult;
  /** How many records have which result. */
  counts: Record<FieldResult, number>;
  /** The first records that differ. */
  differences: { record: number; before: JsonValue; now: JsonValue }[];
}

type JsonRecord = Readonly<Record<string, JsonValue>>;

const MAX_DIFFERENCES = 3;
/** Records of JSON items have as many fields as the site likes. */
const MAX_FIELDS = 300;

export function diffRecords(before: readonly JsonRecord[], now: readonly JsonRecord[]): FieldDiff[] {
  const fields = new Map<string, FieldDiff>();
  const diffOf = (field: string): FieldDiff => {
    const known = fields.get(field);
    if (known !== undefined) return known;
    const counts = { lost: 0, changed: 0, new: 0, same: 0 };
    const created: FieldDiff = { field, result: "same", counts, differences: [] };
    fields.set(field, created);
    return created;
  };
  for (const [index, [old, recent]] of aligned(before, now).entries())
    for (const field of new Set([...Object.keys(old), ...Object.keys(recent)])) {
      const [was, is] = [old[field] ?? null, recent[field] ?? null];
      const result = resultOf(was, is);
      const diff = diffOf(field);
      diff.counts[result] += 1;
      if (FIELD_RESULTS.indexOf(result) < FIELD_RESULTS.indexOf(diff.result)) diff.result = result;
      if (result !== "same" && diff.differences.length < MAX_DIFFERENCES)
        diff.differences.push({ record: index, before: was, now: is });
    }
  const list = [...fields.values()];
  if (list.length <= MAX_FIELDS) return list;
  const rank = ({ result }: FieldDiff) => FIELD_RESULTS.indexOf(result);
  return list.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_FIELDS);
}

function resultOf(before: JsonValue, now: JsonValue): FieldResult {
  if (isDeepStrictEqual(before, now)) return "same";
  if (isEmpty(now)) return isEmpty(before) ? "same" : "lost";
  return isEmpty(before) ? "new" : "changed";
}

export function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

const NONE: JsonRecord = {};

/**
 * Pairs the records. Of lists of different lengths, the equal beginning and the equal end belong together, so that one
 * missing record does not make all records behind it differ.
 */
function aligned(before: readonly JsonRecord[], now: readonly JsonRecord[]): [JsonRecord, JsonRecord][] {
  const shorter = Math.min(before.length, now.length);
  let start = 0;
  while (start < shorter && isDeepStrictEqual(before[start], now[start])) start += 1;
  let end = 0;
  if (before.length !== now.length)
    while (end < shorter - start && isDeepStrictEqual(before.at(-1 - end), now.at(-1 - end))) end += 1;
  const middle = Math.max(before.length, now.length) - end;
  const pairs = Array.from({ length: middle }, (_, index): [JsonRecord, JsonRecord] => [
    (index < before.length - end ? before[index] : undefined) ?? NONE,
    (index < now.length - end ? now[index] : undefined) ?? NONE,
  ]);
  const tail = before.slice(before.length - end).map((record): [JsonRecord, JsonRecord] => [record, record]);
  return [...pairs, ...tail];
}
