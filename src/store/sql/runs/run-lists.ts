/** Lists of runs, by what they are to be. */
import { type RunFilter, SEARCHED_RUNS } from "../../records/job-records.ts";
import type { RunRecord } from "../../ports/port.ts";
import { badPosition, type Context } from "../kernel/context.ts";
import { readIdsFrom } from "../kernel/ids-from.ts";
import { likePattern } from "../kernel/like.ts";
import { readRunsWhere, runRow } from "./runs.ts";

/** Runs are numbered from one. */
const NO_RUN = 0;

interface Wanted {
  condition: string;
  values: (string | number)[];
}

export function readRuns(context: Context, filter: RunFilter): RunRecord[] {
  const { condition, values } = wantedOf(context, filter);
  return readRunsWhere(context, condition, values, filter.limit);
}

/** Counts up to `limit`. */
export function countRunsLike(context: Context, filter: RunFilter): number {
  const { condition, values } = wantedOf(context, filter);
  const count = context.connection.sql(
    `SELECT count(*) AS n FROM (SELECT 1 FROM runs WHERE ${condition} LIMIT ?) AS found`,
  );
  return (count.get(...values, filter.limit) as { n: number }).n;
}

/** Only what is asked for stands in the statement, so that an index can serve it. */
export function wantedOf(context: Context, filter: RunFilter): Wanted {
  const before = filter.after === undefined ? Number.MAX_SAFE_INTEGER : runRow(context, filter.after)?.n;
  if (before === undefined) throw badPosition(filter.after ?? "", "a run");
  const from = filter.from === undefined ? before - 1 : runRow(context, filter.from)?.n;
  if (from === undefined) throw badPosition(filter.from ?? "", "a run", "from");
  const conditions: string[] = ["n <= ?", "removing_at IS NULL"];
  const values: (string | number)[] = [Math.min(before - 1, from)];
  const also = (condition: string, ...given: (string | number)[]) => {
    conditions.push(condition);
    values.push(...given);
  };
  if (filter.jobId !== undefined) also("job = ?", filter.jobId);
  if (filter.kind !== undefined) also("kind = ?", filter.kind);
  if (filter.site !== undefined) also("site = ?", filter.site);
  if (filter.status !== undefined) also(`status IN (${filter.status.map(() => "?").join(", ")})`, ...filter.status);
  if (filter.ids !== undefined) also("id IN (SELECT value FROM json_each(?))", JSON.stringify(filter.ids));
  if (filter.parent === "none") also("parent_run IS NULL");
  else if (filter.parent !== undefined) also("parent_run = ?", runRow(context, filter.parent)?.n ?? NO_RUN);
  // Times have no index: the number of the first run since then has.
  if (filter.since !== undefined) also("n >= ? AND created_at >= ?", firstSince(context, filter.since), filter.since);
  if (filter.until !== undefined) also("n < ? AND created_at < ?", firstSince(context, filter.until), filter.until);
  if (filter.endedBefore !== undefined) also("finished_at < ?", filter.endedBefore);
  if (filter.tag !== undefined) also(WITH_TAG, filter.tag);
  if (filter.q !== undefined) alsoText(context, filter.q, also);
  return { condition: conditions.join(" AND "), values };
}

/** Runs have the tags of their job. */
const WITH_TAG =
  "job IN (SELECT j.id FROM jobs j WHERE EXISTS (SELECT 1 FROM json_each(j.tags) AS tag WHERE tag.value = ?))";

function alsoText(context: Context, q: string, also: (condition: string, ...given: (string | number)[]) => void): void {
  const named = runRow(context, q)?.id ?? null;
  const ids = named === null ? idsFrom(context, q) : [named];
  if (ids.length > 0) return also("id IN (SELECT value FROM json_each(?))", JSON.stringify(ids));
  const pattern = likePattern(q);
  also(String.raw`(url LIKE ? ESCAPE '\' OR name LIKE ? ESCAPE '\')`, pattern, pattern);
  return also(`n > (SELECT max(n) FROM runs) - ${SEARCHED_RUNS}`);
}

const MOST_WITH_BEGINNING = 100;

/** Those that begin so; a beginning that is shown has eight characters. */
function idsFrom(context: Context, text: string): string[] {
  const beginning = text.toLowerCase();
  if (!/^[0-9a-f]{8}[0-9a-f-]*$/.test(beginning)) return [];
  return readIdsFrom(context, "run", beginning, MOST_WITH_BEGINNING);
}

/**
 * The number of the first run that was created at that time or later. Runs are numbered as they come, so it is found by
 * halving; a clock that was set back makes that a little less exact, and the times themselves are compared as well.
 */
function firstSince({ connection }: Context, time: number): number {
  // Said as one, both ends together would be looked for among all.
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
