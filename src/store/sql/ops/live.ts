import type { Failure, FailureCode, FailureReason } from "../../../domain/run/failure.ts";
import { encodeId } from "../../../domain/run/ids.ts";
import type { TaskCounts } from "../../../domain/run/run-end.ts";
import { STEP_LANES } from "../../../domain/workflow/definition.ts";
import { RUN_STATES, type RunState, TASK_STATES, TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { ActiveRunCount, LaneRecord, LiveStore, RecentErrorRecord } from "../../ports/live-port.ts";
import type { RunRecord } from "../../records/run-records.ts";
import type { StepWait } from "../../ports/workflow-port.ts";
import type { Connection } from "../kernel/connection.ts";
import { type Context, NEVER, rows, STATE } from "../kernel/context.ts";
import { STREAM_IS_OPEN } from "../lanes/lanes.ts";
import { readRunsWhere } from "../runs/runs.ts";
import { BUSIEST } from "../sites/site-lists.ts";

/** In display order. */
const ACTIVE: readonly RunState[] = ["running", "recovering", "waiting_for_human", "paused", "queued"];

function countActiveRuns({ connection }: Context): ActiveRunCount[] {
  const states = RUN_STATES.filter((state) => !TERMINAL_RUN_STATES.includes(state));
  return rows(
    connection
      .sql(
        `SELECT kind, status, count(*) AS count,
           CAST(coalesce(sum(max(0, pages_known - pages_uncounted - pages_limit)), 0) AS BIGINT) AS beyond FROM runs
         WHERE status IN (${states.map(() => "?").join(", ")}) AND parent_run IS NULL AND removing_at IS NULL
         GROUP BY kind, status`,
      )
      .all(...states),
  );
}

/** By state: an index finds the newest of each, however many runs have ended. */
function readActiveRuns(context: Context, limit: number): RunRecord[] {
  const found: RunRecord[] = [];
  for (const state of ACTIVE) {
    const left = limit - found.length;
    if (left === 0) break;
    found.push(...readRunsWhere(context, "status = ? AND parent_run IS NULL AND removing_at IS NULL", [state], left));
  }
  return found;
}

/** Streams examined: the oldest with queued tasks. */
const MAX_STREAMS = 500;
const MAX_PRIORITIES = 20;

/** A stream is ordered by priority: the first task of each priority is its oldest. */
const oldestQueuedOf = (streams: string, more: string) => `WITH RECURSIVE
  oldest AS (SELECT s.id, s.run FROM streams s INDEXED BY streams_ready WHERE s.queued > 0 ${streams} ORDER BY s.id LIMIT ${MAX_STREAMS}),
  heads(stream, priority, step) AS (
    SELECT o.id, (SELECT max(t.priority) FROM tasks t WHERE t.stream = o.id AND t.state = ${STATE.queued}), 1
    FROM oldest o JOIN runs r ON r.n = o.run WHERE r.finished_at IS NULL ${more}
    UNION ALL
    SELECT h.stream, (SELECT max(t.priority) FROM tasks t
      WHERE t.stream = h.stream AND t.state = ${STATE.queued} AND t.priority < h.priority), h.step + 1
    FROM heads h WHERE h.priority IS NOT NULL AND h.step < ${MAX_PRIORITIES})
  SELECT min((SELECT t.created_at FROM tasks t WHERE t.stream = h.stream AND t.state = ${STATE.queued}
    AND t.priority = h.priority ORDER BY t.id LIMIT 1)) AS at FROM heads h WHERE h.priority IS NOT NULL`;

const OLDEST_QUEUED = oldestQueuedOf("", "AND r.status IN ('queued', 'running') AND r.hold IS NULL");
const OLDEST_IN_LANE = oldestQueuedOf("AND s.lane = ?", "");

function readOldestQueued({ connection }: Context): number | null {
  return (connection.sql(OLDEST_QUEUED).get() as { at: number | null }).at;
}

const SITES_SHOWN = 5;

function readOpenLanes(
  { connection }: Context,
  { after = "", limit }: { after?: string; limit: number },
): LaneRecord[] {
  type Row = { id: number; lane: string; owner: string | null; runs: number } & LaneRecord["counts"];
  const list = rows<Row>(
    connection
      .sql(
        `SELECT l.id, l.lane, l.owner, count(DISTINCT s.run) AS runs, sum(s.queued) AS queued, sum(s.running) AS running,
           sum(s.retrying) AS retrying FROM streams s INDEXED BY streams_open JOIN lanes l ON l.id = s.lane
         WHERE ${STREAM_IS_OPEN} AND l.lane > ? GROUP BY l.id, l.lane, l.owner ORDER BY l.lane LIMIT ?`,
      )
      .all(after, limit),
  );
  const sites = connection.sql(
    `SELECT DISTINCT s.site FROM streams s WHERE s.lane = ? AND ${STREAM_IS_OPEN} AND s.site <> '' ORDER BY s.site LIMIT ${SITES_SHOWN}`,
  );
  return list.map(({ id, lane, owner, runs, queued, running, retrying }) => ({
    lane,
    sites: rows<{ site: string }>(sites.all(id)).map(({ site }) => site),
    counts: {
      queued,
      running,
      retrying: retrying > 0 && lane.startsWith(STEP_LANES) ? countRetries(connection, id) : retrying,
    },
    runs,
    isOwned: owner !== null,
    sleeps: retrying > 0 && lane.startsWith(STEP_LANES) ? readSleep(connection, id) : null,
    oldestQueued: queued === 0 ? null : (connection.sql(OLDEST_IN_LANE).get(id) as { at: number | null }).at,
  }));
}

interface SleepOutcome {
  waiting?: { for: StepWait["for"] };
  failure?: Failure;
}

/** A step that waits for its run, its entries or a time has the same state as one that failed and is retried. */
function countRetries(connection: Connection, lane: number): number {
  const row = connection
    .sql(
      `SELECT count(*) AS count FROM streams s JOIN tasks t ON t.stream = s.id
       WHERE s.lane = ? AND ${STREAM_IS_OPEN} AND t.state = ${STATE.retrying} AND json_extract(t.outcome, '$.waiting') IS NULL`,
    )
    .get(lane) as { count: number };
  return row.count;
}

/** The lane of a step has few tasks: the step, or one item at a time. */
function readSleep(connection: Connection, lane: number): LaneRecord["sleeps"] {
  const row = connection
    .sql(
      `SELECT t.ready_at AS at, t.outcome FROM streams s JOIN tasks t ON t.stream = s.id
       WHERE s.lane = ? AND ${STREAM_IS_OPEN} AND t.state = ${STATE.retrying} ORDER BY t.ready_at LIMIT 1`,
    )
    .get(lane) as { at: number; outcome: string | null } | undefined;
  if (row === undefined) return null;
  const { waiting, failure = null } = JSON.parse(row.outcome ?? "{}") as SleepOutcome;
  const why = waiting === undefined ? failure : null;
  return { for: waiting?.for ?? "retry", until: row.at >= NEVER ? null : row.at, failure: why };
}

/** Rows examined: those of the newest runs, and of the oldest that are still running. */
const MAX_ERRORS = 2000;
const MAX_OLD_RUNS = 100;

const RECENT_ERRORS = `WITH seen AS (
    SELECT run, code, reason, count FROM (
      SELECT run, code, reason, count FROM run_errors ORDER BY run DESC LIMIT ${MAX_ERRORS}) AS newest
    UNION
    SELECT e.run, e.code, e.reason, e.count FROM (
      SELECT n FROM runs WHERE status = 'running' ORDER BY n LIMIT ${MAX_OLD_RUNS}) AS old
    JOIN run_errors e ON e.run = old.n)
  SELECT s.code, s.reason, sum(s.count) AS count, max(s.run) AS run FROM seen s JOIN runs r ON r.n = s.run
  WHERE r.removing_at IS NULL AND (r.finished_at IS NULL OR r.finished_at >= ?)
  GROUP BY s.code, s.reason ORDER BY count DESC, s.reason LIMIT ?`;

const EXAMPLE = `SELECT e.example_task AS task, e.example_message AS message, r.id AS run_id,
    (SELECT t.url FROM tasks t WHERE t.id = e.example_task) AS url
  FROM run_errors e JOIN runs r ON r.n = e.run WHERE e.run = ? AND e.code = ? AND e.reason = ?`;

function readRecentErrors({ connection, instance }: Context, since: number, limit: number): RecentErrorRecord[] {
  type Group = { code: FailureCode; reason: FailureReason; count: number; run: number };
  type Example = { task: number; message: string; run_id: string; url: string | null };
  return connection.read(() =>
    rows<Group>(connection.sql(RECENT_ERRORS).all(since, limit)).map(({ code, reason, count, run }) => {
      const example = connection.sql(EXAMPLE).get(run, code, reason) as unknown as Example;
      return {
        code,
        reason,
        count,
        exampleRunId: example.run_id,
        exampleTaskId: encodeId(instance, "task", example.task),
        exampleUrl: example.url,
        exampleMessage: example.message,
      };
    }),
  );
}

function readSiteCounts(
  { connection }: Context,
  { sites, busiest }: { sites: readonly string[]; busiest: number },
): Map<string, TaskCounts> {
  const list = connection
    .sql(
      `SELECT site, ${TASK_STATES.join(", ")} FROM site_counts
       WHERE site IN (SELECT value FROM json_each(?)) OR site IN (${BUSIEST})`,
    )
    .all(JSON.stringify(sites), busiest);
  return new Map(rows<TaskCounts & { site: string }>(list).map(({ site, ...counts }) => [site, counts]));
}

export function liveStore(context: Context): LiveStore {
  return {
    countActiveRuns: async () => countActiveRuns(context),
    activeRuns: async (limit) => readActiveRuns(context, limit),
    oldestQueued: async () => readOldestQueued(context),
    openLanes: async (filter) => readOpenLanes(context, filter),
    recentErrors: async (since, limit) => readRecentErrors(context, since, limit),
    siteCounts: async (choice) => readSiteCounts(context, choice),
  };
}
