import { decodeId, encodeId } from "../../domain/ids.ts";
import type { Failure } from "../../domain/failure.ts";
import type { TaskCounts } from "../../domain/run-end.ts";
import { OPEN_TASK_STATES, TASK_STATES, type TaskState } from "../../domain/states.ts";
import type { SiteCounts, TaskFilter, TaskRecord } from "../port.ts";
import { badPosition, type Context, keyHash, parseJson, rows, STATE } from "./context.ts";
import { unpackAttempts } from "./history.ts";
import { STREAM_IS_OPEN } from "./lanes.ts";
import { requireRun } from "./runs.ts";

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

const FAILED_IDS = `SELECT f.id FROM streams q CROSS JOIN tasks f INDEXED BY tasks_failed
    ON f.stream = q.id AND f.state = ${STATE.failed} AND f.id > ?1
  WHERE q.run = ?2 AND q.failed > 0 AND q.aside <= ?5 AND (?3 IS NULL OR q.site = ?3) ORDER BY f.id LIMIT ?4`;

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
  const run = requireRun(context, runId);
  const states = (filter.states ?? TASK_STATES).map((name) => STATE[name]);
  const after = filter.after === undefined ? 0 : decodeId(context.instance, "task", filter.after);
  if (after === null) throw badPosition(filter.after ?? "", "a task");
  const isFailed = states.length === 1 && states[0] === STATE.failed;
  // Walks the tasks in order of id from the cursor, or the first of the run, to its last; the states are literals, so that the partial indexes serve. What
  // failed may be a few among a million: it is found by an index of its own.
  const list = connection
    .sql(
      `${SELECT_TASK} WHERE t.id > ?1 AND t.id <= ?6 AND r.n = ?2 AND t.state IN (${states.join(", ")}) AND (?3 IS NULL OR s.site = ?3)
         AND s.aside <= ?5 ${isFailed ? `AND t.id IN (${FAILED_IDS})` : ""} ORDER BY t.id LIMIT ?4`,
    )
    .all(
      Math.max(after, (run.first_task ?? 1) - 1),
      run.n,
      filter.site ?? null,
      filter.limit,
      filter.pagesOnly === true ? 0 : 1,
      run.last_task ?? 0,
    );
  return rows<TaskRow>(list).map((row) => toTaskRecord(context, row));
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
       JOIN lanes l ON l.id = coalesce(p.lane, s.lane) WHERE s.run = ? AND s.aside = 0 GROUP BY s.site, l.lane`,
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
      .sql(`SELECT ${SUMS} FROM streams s WHERE s.run = ? AND s.aside = 0`)
      .get(run.n) as unknown as TaskCounts),
  };
  const places = rows<{ site: string; id: number; lane: string }>(
    connection
      .sql(
        `SELECT DISTINCT s.site, s.lane AS id, l.lane FROM streams s JOIN lanes l ON l.id = s.lane
         WHERE s.run = ? AND ${STREAM_IS_OPEN} ORDER BY s.site, s.lane LIMIT ?`,
      )
      .all(run.n, mostSites),
  );
  const open = places.map(({ site, id, lane }) => {
    // What a site has no more work of may still be where the site was before.
    const there = connection.sql(
      `SELECT ${SUMS} FROM streams s WHERE s.run = ? AND s.site = ? AND s.aside = 0 ${site === "" ? "AND s.lane = ?" : ""}`,
    );
    const counts = there.get(run.n, site, ...(site === "" ? [id] : [])) as unknown as TaskCounts;
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
