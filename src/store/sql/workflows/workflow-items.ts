/** Items of a `for_each` step: tasks that take turns in as many lanes as may run concurrently. */
import { TASK_STATES, type TaskState } from "../../../domain/run/states.ts";
import { laneOfStep } from "../../../domain/workflow/definition.ts";
import type { ClaimedTask } from "../../ports/port.ts";
import { type Context, rows, STATE } from "../kernel/context.ts";
import { laneId, streamId } from "../lanes/lane-assignments.ts";
import { STREAM_IS_OPEN } from "../lanes/lanes.ts";
import { cancelChildrenOf, laneGotWork } from "../runs/move-run.ts";
import type { CounterDeltas } from "../tasks/counter-deltas.ts";

/** The list columns of a step's row. */
export interface StepItems {
  task: number;
  run: number;
  idx: number;
  name: string;
  list_hash: string | null;
  epoch: number;
  stop_at_failure: number;
  items_stream: number | null;
  items_total: number | null;
  /** Items with a slot: running or queued. */
  items_in_flight: number;
  items_completed: number;
  items_failed: number;
  items_skipped: number;
}

/** Assigns free slots to waiting items; returns how many have one. */
export function openSlots(
  context: Context,
  step: StepItems,
  runId: string,
  { concurrency, stopAtFailure }: { concurrency: number; stopAtFailure: boolean },
  deltas: CounterDeltas,
  opened: Set<string>,
): number {
  const { connection } = context;
  let inFlight = step.items_in_flight;
  for (let slot = 0; slot < concurrency && inFlight < concurrency; slot += 1) {
    const next = nextItem(context, step);
    if (next === null || (stopAtFailure && step.items_failed > 0)) break;
    const lane = laneId(context, laneOfStep(runId, step.idx, slot));
    const stream = streamId(context, step.run, { lane, site: "", resolver: null, auxiliary: true });
    const busy = connection.sql(`SELECT 1 FROM streams s WHERE s.id = ? AND ${STREAM_IS_OPEN}`).get(stream);
    if (busy !== undefined) continue;
    assignSlot(context, step, next, stream, deltas, opened);
    inFlight += 1;
  }
  connection
    .sql("UPDATE steps SET items_in_flight = ?, stop_at_failure = ? WHERE task = ?")
    .run(inFlight, Number(stopAtFailure), step.task);
  return inFlight;
}

/** The first item that has not started. */
function nextItem({ connection }: Context, { items_stream: stream }: StepItems): number | null {
  const row = connection
    .sql(`SELECT id FROM tasks WHERE stream = ? AND state = ${STATE.pending} ORDER BY id LIMIT 1`)
    .get(stream) as { id: number } | undefined;
  return row?.id ?? null;
}

function assignSlot(
  context: Context,
  step: StepItems,
  item: number,
  stream: number,
  deltas: CounterDeltas,
  opened: Set<string>,
): void {
  context.connection.sql(`UPDATE tasks SET state = ${STATE.queued}, stream = ? WHERE id = ?`).run(stream, item);
  deltas.shift(step.items_stream ?? 0, "pending", stream, "queued");
  opened.add(laneGotWork(context, stream));
}

/**
 * An item has ended: the next one takes its slot, or the step wakes if it was the last in flight. null: an item of a
 * former list of the step.
 */
export function itemEnded(
  context: Context,
  item: ClaimedTask,
  end: "completed" | "failed" | "skipped",
  deltas: CounterDeltas,
  opened: Set<string>,
  now: number,
): StepItems | null {
  const { connection } = context;
  const step = connection
    .sql(
      `UPDATE steps SET items_${end} = items_${end} + 1, items_in_flight = items_in_flight - 1, updated_at = ?1
       WHERE task = (SELECT item_of FROM tasks WHERE id = ?2) AND epoch = (SELECT item_epoch FROM tasks WHERE id = ?2)
       RETURNING *`,
    )
    .get(now, item.row) as unknown as StepItems | undefined;
  if (step === undefined) return null;
  const stops = step.stop_at_failure === 1 && step.items_failed > 0;
  const next = stops ? null : nextItem(context, step);
  if (next !== null) {
    assignSlot(context, step, next, item.streamId, deltas, opened);
    connection.sql("UPDATE steps SET items_in_flight = items_in_flight + 1 WHERE task = ?").run(step.task);
  } else if (step.items_in_flight === 0) wakeStep(context, step.task, deltas, opened);
  return step;
}

/** Wakes the step if it waits for its items. */
function wakeStep(context: Context, task: number, deltas: CounterDeltas, opened: Set<string>): void {
  const woken = context.connection
    .sql(
      `UPDATE tasks SET state = ${STATE.queued}, ready_at = 0 WHERE id = ? AND state = ${STATE.retrying}
         AND json_extract(outcome, '$.waiting.for') = 'items' RETURNING stream`,
    )
    .get(task) as { stream: number } | undefined;
  if (woken === undefined) return;
  deltas.shift(woken.stream, "retrying", woken.stream, "queued");
  opened.add(laneGotWork(context, woken.stream));
}

const IN_FLIGHT: readonly TaskState[] = ["queued", "running", "retrying"];

/** Closes all open items, and their child runs, when a step ends or starts over. */
export function closeItems(context: Context, step: StepItems, deltas: CounterDeltas, why: string, now: number): void {
  if (step.items_total === null) return;
  const { connection } = context;
  let closed = 0;
  if (step.items_in_flight > 0) {
    const list = rows<{ id: number; stream: number; state: number }>(
      connection
        .sql(
          `SELECT t.id, t.stream, t.state FROM streams s CROSS JOIN tasks t ON t.stream = s.id
           WHERE s.run = ? AND s.auxiliary = 1 AND ${STREAM_IS_OPEN} AND t.item_of = ?
             AND t.state IN (${IN_FLIGHT.map((name) => STATE[name]).join(", ")})`,
        )
        .all(step.run, step.task),
    );
    for (const { id, stream, state } of list) {
      connection.sql(`UPDATE tasks SET state = ${STATE.cancelled}, ended_at = ? WHERE id = ?`).run(now, id);
      deltas.shift(stream, TASK_STATES[state] as TaskState, stream, "cancelled");
      cancelChildrenOf(context, id, why, now);
    }
    closed += list.length;
  }
  closed += skipPending(context, step, Number.MAX_SAFE_INTEGER, why, deltas, now);
  if (closed === 0) return;
  connection
    .sql("UPDATE steps SET items_in_flight = 0, items_skipped = items_skipped + ? WHERE task = ?")
    .run(closed, step.task);
}

/** Skips items that have not started; returns how many. */
export function skipPending(
  { connection }: Context,
  { items_stream: stream }: StepItems,
  limit: number,
  why: string,
  deltas: CounterDeltas,
  now: number,
): number {
  if (stream === null) return 0;
  const skipped = Number(
    connection
      .sql(
        `UPDATE tasks SET state = ${STATE.skipped}, ended_at = ?, outcome = ? WHERE id IN
         (SELECT id FROM tasks WHERE stream = ? AND state = ${STATE.pending} ORDER BY id LIMIT ?)`,
      )
      .run(now, JSON.stringify({ why }), stream, limit).changes,
  );
  if (skipped > 0) deltas.shift(stream, "pending", stream, "skipped", skipped);
  return skipped;
}
