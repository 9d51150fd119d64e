/** State changes of runs, and their effects on parent and child runs of workflows. */
import { OrbError } from "../../../base/errors.ts";
import type { EventType } from "../../../domain/run/event-catalogue.ts";
import type { RunFacts } from "../../../domain/run/run-facts.ts";
import { type RunState, TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import {
  appendEvent,
  bumpControl,
  type Context,
  mergeFacts,
  parseJson,
  rows,
  stampIdleLane,
  STATE,
  toJson,
} from "../kernel/context.ts";
import { changeCounters } from "../kernel/counters.ts";
import { lanesThatWaitForRun, stampStartEvent } from "../sites/site-deps.ts";
import { recordRunEnd } from "../catalog/webhooks.ts";
import { moveHold, RAN_UNTIL, proxyHoldOfRun, appendHoldEvent } from "../lanes/write-hold.ts";

const LEVELS: Partial<Record<RunState, "warn" | "error">> = {
  failed: "error",
  partial: "warn",
  waiting_for_human: "warn",
};

/** A held run has not started, and its clock is stopped, in any state. */
const UNLESS_HELD = "CASE WHEN hold IS NULL THEN CAST(?4 AS BIGINT) END";

/** The event of a state change. */
export interface MoveEvent {
  type: EventType;
  message: string;
  meta?: unknown;
}

/**
 * The only place that changes a run's status, together with its timestamps and event. Its end wakes the step that waits
 * for it, ends its own child runs, and releases sites that waited for its tasks. Returns the lanes that got work.
 */
export function moveRun(
  context: Context,
  run: number,
  to: RunState,
  { type, message, meta }: MoveEvent,
  now: number,
): string[] {
  const { connection } = context;
  const terminal = TERMINAL_RUN_STATES.includes(to);
  const row = connection
    .sql(
      `UPDATE runs SET status = ?1, message = ?2, finished_at = ?3,
         started_at = coalesce(started_at, ${UNLESS_HELD}), ran_ms = ${RAN_UNTIL("?5")}, running_since = ${UNLESS_HELD},
         hold = CASE WHEN CAST(?3 AS BIGINT) IS NULL THEN hold END WHERE n = ?6
       RETURNING id, kind, parent_task, start_event, hold, completion_hooks`,
    )
    .get(to, message, terminal ? now : null, to === "running" ? now : null, now, run) as unknown as MovedRun;
  appendEvent(context, run, { type, level: LEVELS[to] ?? "info", message, meta, terminal }, now);
  if (!terminal && row.start_event === null) stampStartEvent(context, run);
  if (row.kind === "workflow") workflowMoved(context, run, to, now);
  if (row.hold !== null) moveHold(context, run, row.hold, to, now);
  if (!terminal) return [];
  if (row.completion_hooks !== null) recordRunEnd(context, run, row.completion_hooks, to, now);
  // Webhooks and users act on it.
  connection.dialect.outliveCrash(connection);
  const parent = row.parent_task === null ? [] : wakeParent(context, row.parent_task, row.id);
  return [...parent, ...lanesThatWaitForRun(context, run)];
}

/** Clears the hold and restarts the run's clock. */
export function clearHold({ connection }: Context, run: number, now: number): void {
  const since = "CASE WHEN status = 'running' THEN CAST(?1 AS BIGINT) END";
  connection
    .sql(
      `UPDATE runs SET hold = NULL, running_since = ${since}, started_at = coalesce(started_at, ${since}) WHERE n = ?2`,
    )
    .run(now, run);
}

interface MovedRun {
  id: string;
  kind: string;
  parent_task: number | null;
  start_event: number | null;
  hold: string | null;
  completion_hooks: string | null;
}

/**
 * Reopens an ended run as a new generation: each has one end. A crawl queues again, and a run that needs proxies waits
 * for them as at its start.
 */
export function reopenRun(
  context: Context,
  run: { n: number; kind: string },
  event: MoveEvent,
  now: number,
  to: RunState = run.kind === "crawl" ? "queued" : "running",
): void {
  refuseChildRun(context, run.n);
  const hold = proxyHoldOfRun(context, run.n, now);
  keepRanTime(context, run.n);
  context.connection
    .sql(
      `UPDATE runs SET generation = generation + 1, start_event = NULL, ran_ms = 0, page_ms = 0, stall = NULL,
         facts = json_remove(facts, '$.end_reason', '$.goal.saturated', '$.goal.recent', '$.failure_code', '$.failure_reason', '$.error_message'), hold = ?
       WHERE n = ?`,
    )
    .run(toJson(hold), run.n);
  moveRun(context, run.n, to, event, now);
  if (hold !== null) appendHoldEvent(context, run.n, hold, now);
}

/** The time limit restarts; the time used so far is kept for throughput figures. */
function keepRanTime(context: Context, run: number): void {
  const timed = context.connection
    .sql("SELECT ran_ms, facts FROM runs WHERE n = ? AND time_limit_ms IS NOT NULL")
    .get(run) as { ran_ms: number; facts: string | null } | undefined;
  if (timed === undefined) return;
  const { ran_before_ms: before = 0 } = parseJson<RunFacts>(timed.facts, {});
  mergeFacts(context, run, { ran_before_ms: before + timed.ran_ms });
}

/** Its step continued with the first end of its child run: a second one would have no effect. */
function refuseChildRun({ connection }: Context, run: number): void {
  const workflow = connection
    .sql("SELECT w.id FROM runs r JOIN runs w ON w.n = r.parent_run WHERE r.n = ?")
    .get(run) as { id: string } | undefined;
  if (workflow === undefined) return;
  const why = `this run cannot be reopened: a step of workflow ${workflow.id} started it, and that step has already used its result`;
  throw new OrbError("illegal_transition", why, {
    hint: `Recover the workflow from that step (orb workflows recover ${workflow.id} --from STEP), or rerun it.`,
  });
}

function workflowMoved(context: Context, run: number, to: RunState, now: number): void {
  const { connection } = context;
  connection.sql("UPDATE workflows SET updated_at = ? WHERE run = ?").run(now, run);
  countStoppedTime(context, run, to, now);
  if (to === "completed") connection.sql("UPDATE runs SET progress = 100 WHERE n = ?").run(run);
  if (!TERMINAL_RUN_STATES.includes(to)) return;
  // Worded like the partial index, so that it applies.
  const live = connection.sql("SELECT n FROM runs WHERE parent_run = ? AND finished_at IS NULL").all(run);
  cancelAll(context, live, `its workflow is ${to}`, now);
}

const STOPPED: ReadonlySet<RunState> = new Set(["paused", "waiting_for_human"]);

/** Pauses and waits for a person are not working time: the estimate of the remaining time excludes them. */
function countStoppedTime(context: Context, run: number, to: RunState, now: number): void {
  const row = context.connection.sql("SELECT facts FROM runs WHERE n = ?").get(run) as { facts: string | null };
  const { stopped_at: since = null, stopped_ms: before = 0 } = parseJson<RunFacts>(row.facts, {});
  if (STOPPED.has(to)) return since === null ? mergeFacts(context, run, { stopped_at: now }) : undefined;
  if (since !== null) mergeFacts(context, run, { stopped_at: null, stopped_ms: before + Math.max(0, now - since) });
}

/** Notifies the owners of their running tasks. */
function cancelAll(context: Context, live: unknown[], why: string, now: number): void {
  const event = { type: "run.cancelled", message: `Run cancelled: ${why}` } as const;
  for (const { n } of rows<{ n: number }>(live)) moveRun(context, n, "cancelled", event, now);
  if (live.length > 0) bumpControl(context);
}

/** Cancels child runs of a task that have not ended. */
export function cancelChildrenOf(context: Context, task: number, why: string, now: number): void {
  const live = context.connection.sql("SELECT n FROM runs WHERE parent_task = ? AND finished_at IS NULL").all(task);
  cancelAll(context, live, why, now);
}

/** Cancels runs that have not ended. */
export function cancelRuns(context: Context, ids: readonly string[], why: string, now: number): void {
  const live = context.connection
    .sql("SELECT n FROM runs WHERE id IN (SELECT value FROM json_each(?)) AND finished_at IS NULL")
    .all(JSON.stringify(ids));
  cancelAll(context, live, why, now);
}

/** Steps of an ended workflow are not woken. */
function wakeParent(context: Context, task: number, runId: string): string[] {
  const woken = context.connection
    .sql(
      `UPDATE tasks SET state = ${STATE.queued}, ready_at = 0
       WHERE id = ? AND state = ${STATE.retrying} AND json_extract(outcome, '$.waiting.runId') = ?
         AND EXISTS (SELECT 1 FROM streams s JOIN runs r ON r.n = s.run WHERE s.id = tasks.stream AND r.finished_at IS NULL)
       RETURNING stream`,
    )
    .get(task, runId) as { stream: number } | undefined;
  if (woken === undefined) return [];
  changeCounters(context, woken.stream, { retrying: -1, queued: 1 });
  return [laneGotWork(context, woken.stream)];
}

/** Stamps the lane of a stream with ready work; returns the lane. */
export function laneGotWork(context: Context, stream: number): string {
  const lane = context.connection
    .sql("SELECT l.id, l.lane FROM streams s JOIN lanes l ON l.id = s.lane WHERE s.id = ?")
    .get(stream) as { id: number; lane: string };
  stampIdleLane(context, lane.id);
  return lane.lane;
}
