/** Stop requests: tasks that end without a result. */
import { OrbError } from "../../../base/errors.ts";
import { failure } from "../../../domain/run/failure.ts";
import { decodeId, encodeId } from "../../../domain/run/ids.ts";
import { type RunState, TASK_STATES, TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { ClaimedTask, Settled } from "../../ports/port.ts";
import { CLAIMED, type ClaimedRow, toClaimed } from "../lanes/claim.ts";
import type { StreamRow } from "../lanes/lane-reader.ts";
import type { Query } from "../kernel/connection.ts";
import { bumpControl, type Context, rows, STATE } from "../kernel/context.ts";
import { changeCounters } from "../kernel/counters.ts";
import { endRunIfDone } from "../runs/end-run.ts";
import { isFree } from "../lanes/owner-rule.ts";
import { lanesForFreedQuota } from "../lanes/freed-quota.ts";
import { cancelChildrenOf, moveRun } from "../runs/move-run.ts";
import { countError, recordFailureFacts } from "../runs/run-errors.ts";
import { lanesThatWaitFor } from "../sites/site-deps.ts";
import { startEvent } from "../runs/start-event.ts";
import { CounterDeltas } from "./counter-deltas.ts";
import { Advance } from "../workflows/workflow-advance.ts";
import { endTasks } from "./write-task.ts";

interface Stoppable {
  id: number;
  state: number;
  reason: string | null;
  lane: string;
  orphaned: number;
  kind: string;
  status: RunState;
}

export function stopTask(
  context: Context,
  taskId: string,
  now: number,
): { state: "failed" | "running"; lanes: string[] } {
  const { connection } = context;
  return connection.write(
    () => {
      const task = requireStoppable(context, taskId);
      if (task.state === STATE.failed) return { state: "failed", lanes: [] };
      connection.sql("INSERT INTO task_stops VALUES (?, ?) ON CONFLICT DO NOTHING").run(task.id, now);
      if (task.state === STATE.running && task.orphaned === 0) {
        bumpControl(context);
        return { state: "running", lanes: [task.lane] };
      }
      const opened = new Set<string>();
      if (task.state === STATE.running) requeueTask(context, task.id);
      endStopped(context, opened, [], now);
      return { state: "failed", lanes: [...opened] };
    },
    { durable: true },
  );
}

/** A running task of a dead owner has no owner. */
function requeueTask(context: Context, task: number): void {
  const { stream } = context.connection
    .sql(`UPDATE tasks SET state = ${STATE.queued} WHERE id = ? RETURNING stream`)
    .get(task) as { stream: number };
  changeCounters(context, stream, { running: -1, queued: 1 });
}

function requireStoppable({ connection, instance, leaseNow }: Context, taskId: string): Stoppable {
  const task = connection
    .sql(
      `SELECT t.id, t.state, json_extract(t.outcome, '$.failure.reason') AS reason, l.lane, r.kind, r.status,
         ${isFree("l", "?1")} AS orphaned
       FROM tasks t JOIN streams s ON s.id = t.stream JOIN lanes l ON l.id = s.lane JOIN runs r ON r.n = s.run
       WHERE t.id = ?2`,
    )
    .get(leaseNow(), decodeId(instance, "task", taskId)) as Stoppable | undefined;
  if (task === undefined) throw new OrbError("not_found", `there is no task with the id ${taskId}`);
  const state = TASK_STATES[task.state] as (typeof TASK_STATES)[number];
  if (state === "failed" && task.reason === "task_stopped") return task;
  if (state === "pending")
    throw new OrbError("illegal_transition", "the task waits for other tasks and has not started", {
      hint: "Stop these tasks, or cancel the run.",
    });
  if (!["queued", "running", "retrying"].includes(state))
    throw new OrbError("illegal_transition", `the task has ended: it is ${state}`);
  if (TERMINAL_RUN_STATES.includes(task.status))
    throw new OrbError("illegal_transition", `the run of this task has ended: it is ${task.status}`);
  if (task.status === "queued" && (task.kind === "crawl" || task.kind === "workflow"))
    throw new OrbError("illegal_transition", "the run of this task has not started", { hint: "Cancel the run." });
  return task;
}

export function stoppedTasks({ connection }: Context, tasks: readonly number[]): Set<number> {
  const found = connection
    .sql("SELECT task FROM task_stops WHERE task IN (SELECT CAST(value AS BIGINT) FROM json_each(?))")
    .all(JSON.stringify(tasks));
  return new Set(rows<{ task: number }>(found).map(({ task }) => task));
}

const WAITING = `t.state IN (${STATE.queued}, ${STATE.retrying})`;
const OPEN = `t.state IN (${STATE.queued}, ${STATE.running}, ${STATE.retrying})`;

/** Nearly always empty. */
export const HAS_STOPS: Query = { text: "SELECT 1 FROM task_stops LIMIT 1", values: [] };

function hasStopRequests({ connection }: Context): boolean {
  return connection.sql(HAS_STOPS.text).get() !== undefined;
}

export function endStoppedNow(context: Context, now: number): string[] {
  if (!hasStopRequests(context)) return [];
  const opened = new Set<string>();
  context.connection.write(() => endStopped(context, opened, [], now));
  return [...opened];
}

/** Ends tasks with a stop request that are not running, however they were requeued. */
export function endStopped(
  context: Context,
  opened: Set<string>,
  ended: Settled["ended"],
  now: number,
  isLocked: (run: number) => boolean = () => true,
): void {
  const { connection } = context;
  const waiting = rows<{ id: number; state: number; run: number }>(
    connection
      .sql(
        `SELECT t.id, t.state, s.run FROM task_stops k JOIN tasks t ON t.id = k.task JOIN streams s ON s.id = t.stream
         WHERE ${WAITING}`,
      )
      .all(),
  ).filter(({ run }) => isLocked(run));
  const deltas = new CounterDeltas();
  const advance = new Advance(context, deltas, opened, now);
  for (const { id, state } of waiting)
    failStopped(context, claimForStop(context, id, state, deltas), deltas, advance, now);
  deltas.throughput.write(context, now);
  advance.write();
  const counted = deltas.apply(context);
  for (const lane of lanesThatWaitFor(context, counted.closed)) opened.add(lane);
  for (const [run, change] of counted.runs) {
    ensureRunning(context, run, now);
    const end = endRunIfDone(context, run, now);
    for (const lane of end?.lanes ?? lanesForFreedQuota(context, run, change)) opened.add(lane);
    if (end === null) continue;
    const { id } = connection.sql("SELECT id FROM runs WHERE n = ?").get(run) as { id: string };
    ended.push({ runId: id, status: end.status });
  }
  connection
    .sql(`DELETE FROM task_stops WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = task_stops.task AND ${OPEN})`)
    .run();
}

/** Like a claim: only a running task may end. */
function claimForStop(context: Context, id: number, from: number, deltas: CounterDeltas): ClaimedTask {
  const { connection } = context;
  const state = TASK_STATES[from] as (typeof TASK_STATES)[number];
  const steps = state === "retrying" ? [STATE.queued, STATE.running] : [STATE.running];
  for (const to of steps) connection.sql("UPDATE tasks SET state = ? WHERE id = ?").run(to, id);
  const row = connection.sql(`SELECT ${CLAIMED} FROM tasks WHERE id = ?`, { lists: true }).get(id) as unknown;
  const stream = connection
    .sql(
      `SELECT s.id, s.run, s.site, s.resolver, s.auxiliary, r.id AS run_id, r.kind, r.generation, r.max_attempts,
         r.time_limit_ms IS NOT NULL AS timed FROM streams s JOIN runs r ON r.n = s.run WHERE s.id = ?`,
    )
    .get((row as ClaimedRow)[1]) as unknown as StreamRow;
  deltas.shift(stream.id, state, stream.id, "running");
  return toClaimed(context, row as ClaimedRow, stream);
}

function failStopped(context: Context, task: ClaimedTask, deltas: CounterDeltas, advance: Advance, now: number): void {
  const why = failure("task_stopped", "a person stopped it; retry-failed retries it");
  const verdict = { kind: "failed", failure: why } as const;
  endTasks(
    context,
    [{ settled: { task, verdict, attempt: null }, state: "failed", outcome: { failure: why } }],
    deltas,
    now,
  );
  if (!task.auxiliary) countError(context, task, why);
  advance.ended(task, verdict);
  if (task.runKind === "page") recordFailureFacts(context, task.runId, why);
  dropChildren(context, task, now);
}

/** Child runs do not continue without their step. */
export function dropChildren(context: Context, task: ClaimedTask, now: number): void {
  if (task.runKind !== "workflow") return;
  cancelChildrenOf(
    context,
    task.row,
    `its step (task ${encodeId(context.instance, "task", task.row)}) was stopped`,
    now,
  );
}

/**
 * A run that has not started, or that waits for a person because of the stopped task, can only end from `running`. A
 * held run is not started by this, unless it has nothing left.
 */
function ensureRunning(context: Context, run: number, now: number): void {
  const { connection } = context;
  const { status, waits } = connection
    .sql("SELECT status, hold IS NOT NULL AND open_streams > 0 AS waits FROM runs WHERE n = ?")
    .get(run) as { status: RunState; waits: number };
  if (status === "queued" && waits === 0) moveRun(context, run, "running", startEvent(context, run), now);
  if (status !== "waiting_for_human") return;
  const others = connection
    .sql(
      `SELECT 1 FROM streams s JOIN tasks t ON t.stream = s.id AND t.state = ${STATE.queued}
       WHERE s.run = ? AND s.queued > 0 AND json_extract(t.outcome, '$.human') IS NOT NULL LIMIT 1`,
    )
    .get(run);
  if (others !== undefined) return;
  const message = "Run resumed: the task that waited for a person was stopped";
  moveRun(context, run, "running", { type: "run.resumed", message }, now);
  bumpControl(context);
}
