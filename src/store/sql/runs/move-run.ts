/** How runs change their state, and what follows for the workflow that waits for one, or that has started others. */
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
import { lanesThatWaitForRun, runBegins } from "../sites/site-deps.ts";
import { recordRunEnd } from "../catalog/webhooks.ts";
import { moveHold, RAN_UNTIL, shortOf, tellHold } from "../lanes/write-hold.ts";

const LEVELS: Partial<Record<RunState, "warn" | "error">> = {
  failed: "error",
  partial: "warn",
  waiting_for_human: "warn",
};

/** A run that is held has not begun, and its time stands still, whatever its state is called. */
const UNLESS_HELD = "CASE WHEN hold IS NULL THEN CAST(?4 AS BIGINT) END";

/** How the log tells of a move. */
export interface MoveEvent {
  type: EventType;
  message: string;
  meta?: unknown;
}

/**
 * The one place that changes a run's status: the stamp and the event go with it. Its end wakes the step that waits for
 * it, ends the runs that its own steps have started, and lets sites go on that waited for what it has left. Returns the
 * lanes that got work.
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
  if (!terminal && row.start_event === null) runBegins(context, run);
  if (row.kind === "workflow") workflowMoved(context, run, to, now);
  if (row.hold !== null) moveHold(context, run, row.hold, to, now);
  if (!terminal) return [];
  if (row.completion_hooks !== null) recordRunEnd(context, run, row.completion_hooks, to, now);
  // People and webhooks are told of it.
  connection.dialect.outliveCrash(connection);
  const parent = row.parent_task === null ? [] : wakeParent(context, row.parent_task, row.id);
  return [...parent, ...lanesThatWaitForRun(context, run)];
}

/** Nothing holds the run any more, and its time goes on. */
export function letGoOn({ connection }: Context, run: number, now: number): void {
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
 * Opens an ended run again, as a new generation: each has one end. A crawl waits its turn once more, and what needs
 * proxies waits for them as when it began.
 */
export function reopenRun(
  context: Context,
  run: { n: number; kind: string },
  event: MoveEvent,
  now: number,
  to: RunState = run.kind === "crawl" ? "queued" : "running",
): void {
  refuseLeftBehind(context, run.n);
  const hold = shortOf(context, run.n, now);
  keepRanTime(context, run.n);
  context.connection
    .sql(
      `UPDATE runs SET generation = generation + 1, start_event = NULL, ran_ms = 0, page_ms = 0, stall = NULL,
         facts = json_remove(facts, '$.end_reason', '$.failure_code', '$.failure_reason', '$.error_message'), hold = ?
       WHERE n = ?`,
    )
    .run(toJson(hold), run.n);
  moveRun(context, run.n, to, event, now);
  if (hold !== null) tellHold(context, run.n, hold, now);
}

/** The time that a run may take begins anew; what it has taken is kept, for whoever asks how fast it was. */
function keepRanTime(context: Context, run: number): void {
  const timed = context.connection
    .sql("SELECT ran_ms, facts FROM runs WHERE n = ? AND time_limit_ms IS NOT NULL")
    .get(run) as { ran_ms: number; facts: string | null } | undefined;
  if (timed === undefined) return;
  const { ran_before_ms: before = 0 } = parseJson<RunFacts>(timed.facts, {});
  mergeFacts(context, run, { ran_before_ms: before + timed.ran_ms });
}

/** The end of a step's run is what its step went on with: another end would be seen by nobody. */
function refuseLeftBehind({ connection }: Context, run: number): void {
  const workflow = connection
    .sql("SELECT w.id FROM runs r JOIN runs w ON w.n = r.parent_run WHERE r.n = ?")
    .get(run) as { id: string } | undefined;
  if (workflow === undefined) return;
  const why = `the run was started by a step of workflow ${workflow.id}, which has gone on with what came of it`;
  throw new OrbError("illegal_transition", why, {
    hint: `Recover the workflow from that step (orb workflows recover ${workflow.id} --from STEP), or run it again.`,
  });
}

function workflowMoved(context: Context, run: number, to: RunState, now: number): void {
  const { connection } = context;
  connection.sql("UPDATE workflows SET updated_at = ? WHERE run = ?").run(now, run);
  countStopped(context, run, to, now);
  if (to === "completed") connection.sql("UPDATE runs SET progress = 100 WHERE n = ?").run(run);
  if (!TERMINAL_RUN_STATES.includes(to)) return;
  // Said as the partial index says it.
  const live = connection.sql("SELECT n FROM runs WHERE parent_run = ? AND finished_at IS NULL").all(run);
  cancelAll(context, live, `its workflow is ${to}`, now);
}

const STOPPED: ReadonlySet<RunState> = new Set(["paused", "waiting_for_human"]);

/** How long it was paused or waited for a person is none of its work: what it still takes is reckoned without. */
function countStopped(context: Context, run: number, to: RunState, now: number): void {
  const row = context.connection.sql("SELECT facts FROM runs WHERE n = ?").get(run) as { facts: string | null };
  const { stopped_at: since = null, stopped_ms: before = 0 } = parseJson<RunFacts>(row.facts, {});
  if (STOPPED.has(to)) return since === null ? mergeFacts(context, run, { stopped_at: now }) : undefined;
  if (since !== null) mergeFacts(context, run, { stopped_at: null, stopped_ms: before + Math.max(0, now - since) });
}

/** Whoever has tasks of them in hand is told to look. */
function cancelAll(context: Context, live: unknown[], why: string, now: number): void {
  const event = { type: "run.cancelled", message: `Run cancelled: ${why}` } as const;
  for (const { n } of rows<{ n: number }>(live)) moveRun(context, n, "cancelled", event, now);
  if (live.length > 0) bumpControl(context);
}

/** Cancels those runs that a task has started and that have not ended. */
export function cancelChildrenOf(context: Context, task: number, why: string, now: number): void {
  const live = context.connection.sql("SELECT n FROM runs WHERE parent_task = ? AND finished_at IS NULL").all(task);
  cancelAll(context, live, why, now);
}

/** Cancels those of these runs that have not ended. */
export function cancelRuns(context: Context, ids: readonly string[], why: string, now: number): void {
  const live = context.connection
    .sql("SELECT n FROM runs WHERE id IN (SELECT value FROM json_each(?)) AND finished_at IS NULL")
    .all(JSON.stringify(ids));
  cancelAll(context, live, why, now);
}

/** Of a workflow that has ended itself nobody is woken. */
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

/** Work of this stream is ready; says which lane to look at. */
export function laneGotWork(context: Context, stream: number): string {
  const lane = context.connection
    .sql("SELECT l.id, l.lane FROM streams s JOIN lanes l ON l.id = s.lane WHERE s.id = ?")
    .get(stream) as { id: number; lane: string };
  stampIdleLane(context, lane.id);
  return lane.lane;
}
