import { decodeId, encodeId } from "../../../domain/run/ids.ts";
import { HOPELESS_REASONS } from "../../../domain/run/classify.ts";
import type { Failure } from "../../../domain/run/failure.ts";
import type { TaskCounts } from "../../../domain/run/run-end.ts";
import { OPEN_TASK_STATES, TASK_STATES, type TaskState } from "../../../domain/run/states.ts";
import type { SiteCounts, TaskFilter, TaskRecord } from "../../ports/port.ts";
import { SEARCHED_TASKS } from "../../ports/progress-port.ts";
import { badPosition, type Context, keyHash, parseJson, rows, STATE } from "../kernel/context.ts";
import { unpackAttempts } from "./history.ts";
import { STREAM_IS_OPEN } from "../lanes/lanes.ts";
import { likePattern } from "../kernel/like.ts";
import { requireRun } from "../runs/runs.ts";

export interface TaskRow {
  id: number;
  run_id: string;
  lane: string;
  site: string;
  resolver: string;
  state: number;
  priority: number;
  tries: number;
  waits: number;
  ready_at: number;
  created_at: number;
  ended_at: number | null;
  key: string;
  url: string | null;
  next_url: string | null;
  handler: string | null;
  payload: string | null;
  attempts: string | null;
  outcome: string | null;
}

export const SELECT_TASK = `SELECT t.*, s.resolver, s.site, l.lane, r.id AS run_id
  FROM tasks t JOIN streams s ON s.id = t.stream JOIN lanes l ON l.id = s.lane JOIN runs r ON r.n = s.run`;

export function toTaskRecord(context: Context, row: TaskRow): TaskRecord {
  const outcome = parseJson<{ failure?: Failure } | null>(row.outcome, null);
  return {
    id: encodeId(context.instance, "task", row.id),
    runId: row.run_id,
    key: row.key,
    lane: row.lane,
    site: row.site === "" ? null : row.site,
    resolver: row.resolver === "" ? null : row.resolver,
    state: TASK_STATES[row.state] as TaskState,
    url: row.url,
    nextUrl: row.next_url,
    priority: row.priority,
    handler: row.handler,
    payload: parseJson<unknown>(row.payload, null),
    tries: row.tries,
    waits: row.waits,
    readyAt: row.ready_at,
    attempts: unpackAttempts(row.attempts),
    failure: outcome?.failure ?? null,
    detail: outcome,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
}

/** Rare states among a million tasks: they have their own indexes. */
const RARE: ReadonlySet<TaskState> = new Set(["running", "retrying", "failed"]);

/** SQL fragments shared by the list and its index lookups. */
interface ListSql {
  order: "" | "DESC";
  /** A condition on the task table of this name, or ''. */
  text: (table: string) => string;
}

/** Excludes failures that a retry cannot fix. */
const isRetryable = (table: string) =>
  `AND (${table}.state <> ${STATE.failed} OR json_extract(${table}.outcome, '$.failure.reason') NOT IN (${HOPELESS_REASONS.map((name) => `'${name}'`).join(", ")}))`;

const rareIds = (
  name: TaskState,
  { order, text }: ListSql,
) => `SELECT id FROM (SELECT f.id FROM streams q CROSS JOIN tasks f INDEXED BY tasks_${name}
    ON f.stream = q.id AND f.state = ${STATE[name]} AND f.id > ?1 AND f.id <= ?6 ${text("f")}
  WHERE q.run = ?2 AND q.${name} > 0 AND q.auxiliary <= ?5 AND (CAST(?3 AS TEXT) IS NULL OR q.site = ?3) ORDER BY f.id ${order} LIMIT ?4) AS ${name}`;

export function readTask(context: Context, id: string): TaskRecord | null {
  const row = decodeId(context.instance, "task", id);
  if (row === null) return null;
  const found = context.connection.sql(`${SELECT_TASK} WHERE t.id = ? AND r.removing_at IS NULL`).get(row) as
    | TaskRow
    | undefined;
  return found === undefined ? null : toTaskRecord(context, found);
}

export function readTaskByKey(context: Context, runId: string, key: string): TaskRecord | null {
  const found = context.connection
    .sql(`${SELECT_TASK} WHERE t.key_hash = ? AND r.removing_at IS NULL`)
    .get(keyHash(runId, key)) as TaskRow | undefined;
  return found === undefined ? null : toTaskRecord(context, found);
}

export function readTasks(context: Context, runId: string, filter: TaskFilter): TaskRecord[] {
  const { connection } = context;
  if (filter.order === "slowest" || filter.order === "largest")
    return readRankedTasks(context, runId, filter, MEASURES[filter.order]);
  const run = requireRun(context, runId);
  const names = filter.states ?? TASK_STATES;
  const states = names.map((name) => STATE[name]);
  const areRare = names.length > 0 && names.every((name) => RARE.has(name));
  const { low, high } = windowOf(context, run, filter);
  const sql: ListSql = {
    order: filter.order === "newest" ? "DESC" : "",
    text: (table) =>
      `${filter.q === undefined ? "" : String.raw`AND ${table}.url LIKE ?7 ESCAPE '\'`} ${filter.retryable === true ? isRetryable(table) : ""}`,
  };
  // Walks the run's tasks by id from the cursor to its last; the states are literals, so that the partial indexes
  // apply.
  const list = connection
    .sql(
      `${SELECT_TASK} WHERE t.id > ?1 AND t.id <= ?6 AND r.n = ?2 AND t.state IN (${states.join(", ")}) AND (CAST(?3 AS TEXT) IS NULL OR s.site = ?3)
         AND s.auxiliary <= ?5 ${sql.text("t")} ${areRare ? `AND t.id IN (${names.map((name) => rareIds(name, sql)).join(" UNION ALL ")})` : ""}
       ORDER BY t.id ${sql.order} LIMIT ?4`,
    )
    .all(
      low,
      run.n,
      filter.site ?? null,
      filter.limit,
      filter.pagesOnly === true ? 0 : 1,
      high,
      ...(filter.q === undefined ? [] : [likePattern(filter.q)]),
    );
  return rows<TaskRow>(list).map((row) => toTaskRecord(context, row));
}

/** The duration of the last attempt; the size of its files, or the counted bytes where none was kept. */
const MEASURES = {
  slowest: "coalesce(CAST(json_extract(t.attempts, '$[#-1][4]') AS NUMERIC), -1)",
  largest: `coalesce((SELECT sum(a.size) FROM artifacts a WHERE a.task = t.id AND coalesce(a.role, 'file') = 'file'),
    CAST(json_extract(t.outcome, '$.bytes') AS NUMERIC), -1)`,
} as const;

/**
 * Largest first. No index covers these numbers: it would slow down every settle for a rare query. So they are computed
 * for a bounded number of tasks.
 */
function readRankedTasks(context: Context, runId: string, filter: TaskFilter, measure: string): TaskRecord[] {
  const { connection } = context;
  const run = requireRun(context, runId);
  const high = run.last_task ?? 0;
  const low = Math.max((run.first_task ?? 1) - 1, high - SEARCHED_TASKS);
  const cursor = positionIn(context, filter);
  const before =
    cursor === undefined ? undefined : connection.sql(`SELECT ${measure} AS n FROM tasks t WHERE t.id = ?`).get(cursor);
  const states = (filter.states ?? TASK_STATES).map((name) => STATE[name]);
  const list = connection
    .sql(
      `${SELECT_TASK} WHERE t.id > ?1 AND t.id <= ?2 AND r.n = ?3 AND t.state IN (${states.join(", ")})
         AND (CAST(?4 AS TEXT) IS NULL OR s.site = ?4) AND s.auxiliary <= ?5
         ${before === undefined ? "" : `AND (${measure} < ?7 OR (${measure} = ?7 AND t.id > ?8))`}
         ${filter.q === undefined ? "" : String.raw`AND t.url LIKE ${before === undefined ? "?7" : "?9"} ESCAPE '\'`}
       ORDER BY ${measure} DESC, t.id LIMIT ?6`,
    )
    .all(
      low,
      high,
      run.n,
      filter.site ?? null,
      filter.pagesOnly === true ? 0 : 1,
      filter.limit,
      ...(before === undefined ? [] : [Number(before["n"]), cursor as number]),
      ...(filter.q === undefined ? [] : [likePattern(filter.q)]),
    );
  return rows<TaskRow>(list).map((row) => toTaskRecord(context, row));
}

/** Tasks with numbers above `low`, up to `high`, are examined. */
function windowOf(
  context: Context,
  run: { first_task: number | null; last_task: number | null },
  filter: TaskFilter,
): { low: number; high: number } {
  const { order, q } = filter;
  const cursor = positionIn(context, filter);
  const first = (run.first_task ?? 1) - 1;
  const last = run.last_task ?? 0;
  const maxTasks = q === undefined ? Number.MAX_SAFE_INTEGER : SEARCHED_TASKS;
  if (order === "newest") {
    const high = Math.min(last, (cursor ?? last + 1) - 1);
    return { low: Math.max(first, high - maxTasks), high };
  }
  const low = Math.max(first, cursor ?? 0);
  return { low, high: Math.min(last, low + maxTasks) };
}

function positionIn({ instance }: Context, { after }: TaskFilter): number | undefined {
  const cursor = after === undefined ? undefined : decodeId(instance, "task", after);
  if (cursor === null) throw badPosition(after ?? "", "a task");
  return cursor;
}

const SUMS = TASK_STATES.map((name) => `coalesce(sum(s.${name}), 0) AS ${name}`).join(", ");

type CountsRow = TaskCounts & { site: string; lane: string };

function toSiteCounts({ site, lane, ...counts }: CountsRow): SiteCounts {
  return { site: site === "" ? null : site, lane, counts };
}

export function readCounts(context: Context, runId: string): SiteCounts[] {
  const run = requireRun(context, runId);
  const list = context.connection
    .sql(
      `SELECT s.site, l.lane, ${SUMS} FROM streams s LEFT JOIN sites p ON p.site = s.site
       JOIN lanes l ON l.id = coalesce(p.lane, s.lane) WHERE s.run = ? AND s.auxiliary = 0 GROUP BY s.site, l.lane`,
    )
    .all(run.n);
  return rows<CountsRow>(list).map(toSiteCounts);
}

export function readOverview(
  context: Context,
  runId: string,
  mostSites: number,
): { totals: TaskCounts; open: SiteCounts[]; openStreams: number } {
  const { connection } = context;
  const run = requireRun(context, runId);
  const totals = {
    ...(connection
      .sql(`SELECT ${SUMS} FROM streams s WHERE s.run = ? AND s.auxiliary = 0`)
      .get(run.n) as unknown as TaskCounts),
  };
  const laneRows = rows<{ site: string; id: number; lane: string }>(
    connection
      .sql(
        `SELECT DISTINCT s.site, l.id, l.lane FROM streams s LEFT JOIN sites p ON p.site = s.site
           JOIN lanes l ON l.id = coalesce(p.lane, s.lane)
         WHERE s.run = ? AND ${STREAM_IS_OPEN} ORDER BY s.site, l.id LIMIT ?`,
      )
      .all(run.n, mostSites),
  );
  const open = laneRows.map(({ site, id, lane }) => {
    // Streams without open work may still be in a former lane of the site.
    const counted = connection.sql(
      `SELECT ${SUMS} FROM streams s WHERE s.run = ? AND s.site = ? AND s.auxiliary = 0 ${site === "" ? "AND s.lane = ?" : ""}`,
    );
    const counts = counted.get(run.n, site, ...(site === "" ? [id] : [])) as unknown as TaskCounts;
    return toSiteCounts({ site, lane, ...counts });
  });
  return { totals, open, openStreams: run.open_streams };
}

export function openTasks(context: Context, ids: readonly string[]): Set<string> {
  const open = OPEN_TASK_STATES.map((name) => STATE[name]).join(", ");
  const select = context.connection.sql(`SELECT 1 FROM tasks WHERE id = ? AND state IN (${open})`);
  return new Set(
    ids.filter((id) => {
      const row = decodeId(context.instance, "task", id);
      return row !== null && select.get(row) !== undefined;
    }),
  );
}
