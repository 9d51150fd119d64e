/** Filtered lists of runs. */
import { type RunFilter, SEARCHED_RUNS } from "../../records/job-records.ts";
import type { RunRecord } from "../../ports/port.ts";
import { ofVisibleRuns } from "../kernel/caller-limits.ts";
import { badPosition, type Context } from "../kernel/context.ts";
import { readIdsFrom } from "../kernel/ids-from.ts";
import { likePattern } from "../kernel/like.ts";
import { readRunsWhere, runRow } from "./runs.ts";

/** No run has this number: they start at 1. */
const NO_RUN = 0;

interface Conditions {
  condition: string;
  values: (string | number)[];
}

export function readRuns(context: Context, filter: RunFilter): RunRecord[] {
  const { condition, values } = conditionsOf(context, filter);
  return readRunsWhere(context, condition, values, filter.limit);
}

export function countRunsLike(context: Context, filter: RunFilter): number {
  const { condition, values } = conditionsOf(context, filter);
  const count = context.connection.sql(
    `SELECT count(*) AS n FROM (SELECT 1 FROM runs WHERE ${condition} LIMIT ?) AS found`,
  );
  return (count.get(...values, filter.limit) as { n: number }).n;
}

/** Without unused conditions, so that an index applies. */
export function conditionsOf(context: Context, filter: RunFilter): Conditions {
  const before = filter.after === undefined ? Number.MAX_SAFE_INTEGER : runRow(context, filter.after)?.n;
  if (before === undefined) throw badPosition(filter.after ?? "", "a run");
  const from = filter.from === undefined ? before - 1 : runRow(context, filter.from)?.n;
  if (from === undefined) throw badPosition(filter.from ?? "", "a run", "from");
  const conditions: string[] = ["n <= ?", "removing_at IS NULL"];
  const values: (string | number)[] = [Math.min(before - 1, from)];
  const addCondition = (condition: string, ...parameters: (string | number)[]) => {
    conditions.push(condition);
    values.push(...parameters);
  };
  if (filter.jobId !== undefined) addCondition("job = ?", filter.jobId);
  if (filter.kind !== undefined) addCondition("kind = ?", filter.kind);
  if (filter.site !== undefined) addCondition("site = ?", filter.site);
  if (filter.status !== undefined)
    addCondition(`status IN (${filter.status.map(() => "?").join(", ")})`, ...filter.status);
  if (filter.ids !== undefined) addCondition("id IN (SELECT value FROM json_each(?))", JSON.stringify(filter.ids));
  if (filter.parent === "none") addCondition("parent_run IS NULL");
  else if (filter.parent !== undefined) addCondition("parent_run = ?", runRow(context, filter.parent)?.n ?? NO_RUN);
  // Times have no index: converts them to run numbers.
  if (filter.since !== undefined)
    addCondition("n >= ? AND created_at >= ?", firstSince(context, filter.since), filter.since);
  if (filter.until !== undefined)
    addCondition("n < ? AND created_at < ?", firstSince(context, filter.until), filter.until);
  if (filter.endedBefore !== undefined) addCondition("finished_at < ?", filter.endedBefore);
  if (filter.tag !== undefined) addCondition(WITH_TAG, filter.tag);
  if (filter.q !== undefined) addTextCondition(context, filter.q, addCondition);
  const visible = ofVisibleRuns();
  return { condition: conditions.join(" AND ") + visible.text, values: [...values, ...visible.values] };
}

/** A run has the tags of its job. */
const WITH_TAG =
  "job IN (SELECT j.id FROM jobs j WHERE EXISTS (SELECT 1 FROM json_each(j.tags) AS tag WHERE tag.value = ?))";

function addTextCondition(
  context: Context,
  q: string,
  addCondition: (condition: string, ...parameters: (string | number)[]) => void,
): void {
  const named = runRow(context, q)?.id ?? null;
  const ids = named === null ? idsFrom(context, q) : [named];
  if (ids.length > 0) return addCondition("id IN (SELECT value FROM json_each(?))", JSON.stringify(ids));
  const pattern = likePattern(q);
  addCondition(String.raw`(url LIKE ? ESCAPE '\' OR name LIKE ? ESCAPE '\')`, pattern, pattern);
  return addCondition(`n > (SELECT max(n) FROM runs) - ${SEARCHED_RUNS}`);
}

const MAX_WITH_PREFIX = 100;

/** Ids with this prefix; the UI shows prefixes of eight characters. */
function idsFrom(context: Context, text: string): string[] {
  const prefix = text.toLowerCase();
  if (!/^[0-9a-f]{8}[0-9a-f-]*$/.test(prefix)) return [];
  return readIdsFrom(context, "run", prefix, MAX_WITH_PREFIX);
}

/**
 * The number of the first run created at `time` or later, by binary search: numbers follow creation order. A clock set
 * back makes that less exact, so the times are compared as well.
 */
function firstSince({ connection }: Context, time: number): number {
  // As two subqueries: min and max in one SELECT would scan the table.
  const ends = connection.sql(
    "SELECT coalesce((SELECT min(n) FROM runs), 0) AS low, coalesce((SELECT max(n) FROM runs), 0) + 1 AS high",
  );
  let { low, high } = ends.get() as { low: number; high: number };
  const next = connection.sql("SELECT n, created_at FROM runs WHERE n >= ? ORDER BY n LIMIT 1");
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = next.get(middle) as { n: number; created_at: number } | undefined;
    if (row === undefined || row.created_at >= time) high = middle;
    else low = row.n + 1;
  }
  return low;
}
