/** Entries of the list that a step is done for: tasks that take turns in as many lanes as may be at work at once. */
import { TASK_STATES, type TaskState } from "../../../domain/run/states.ts";
import { laneOfStep } from "../../../domain/workflow/definition.ts";
import type { ClaimedTask } from "../../ports/port.ts";
import { type Context, rows, STATE } from "../kernel/context.ts";
import { laneId, streamId } from "../lanes/lane-assignments.ts";
import { STREAM_IS_OPEN } from "../lanes/lanes.ts";
import { cancelChildrenOf, laneGotWork } from "../runs/move-run.ts";
import type { CounterDeltas } from "../tasks/counter-deltas.ts";

/** What a step's row says of its list. */
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
  /** Those that have a slot: at work, or waiting for it. */
  items_in_flight: number;
  items_completed: number;
  items_failed: number;
  items_skipped: number;
}

/** Gives free slots to entries that wait; returns how many have one. */
export function openSlots(
  context: Context,
  step: StepItems,
  runId: string,
  { concurrency, stopAtFailure }: { concurrency: number; stopAtFailure: boolean },
  deltas: CounterDeltas,
  opened: Set<string>,
): number {
  const { connection } = context;
  let inHand = step.items_in_flight;
  for (let slot = 0; slot < concurrency && inHand < concurrency; slot += 1) {
    const next = nextItem(context, step);
    if (next === null || (stopAtFailure && step.items_failed > 0)) break;
    const lane = laneId(context, laneOfStep(runId, step.idx, slot));
    const stream = streamId(context, step.run, { lane, site: "", resolver: null, auxiliary: true });
    const busy = connection.sql(`SELECT 1 FROM streams s WHERE s.id = ? AND ${STREAM_IS_OPEN}`).get(stream);
    if (busy !== undefined) continue;
    giveSlot(context, step, next, stream, deltas, opened);
    inHand += 1;
  }
  connection
    .sql("UPDATE steps SET items_in_flight = ?, stop_at_failure = ? WHERE task = ?")
    .run(inHand, Number(stopAtFailure), step.task);
  return inHand;
}

/** The first entry of the list that has not begun. */
function nextItem({ connection }: Context, { items_stream: stream }: StepItems): number | null {
  const row = connection
    .sql(`SELECT id FROM tasks WHERE stream = ? AND state = ${STATE.pending} ORDER BY id LIMIT 1`)
    .get(stream) as { id: number } | undefined;
  return row?.id ?? null;
}

function giveSlot(
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
 * An entry has ended: the next one takes its slot, or, when it was the last one at work, the step wakes. null: it was an
 * entry of a list that the step has no more.
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
    giveSlot(context, step, next, item.streamId, deltas, opened);
    connection.sql("UPDATE steps SET items_in_flight = items_in_flight + 1 WHERE task = ?").run(step.task);
  } else if (step.items_in_flight === 0) wakeStep(context, step.task, deltas, opened);
  return step;
}

/** The step goes on, if it sleeps because of its entries. */
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

const IN_HAND: readonly TaskState[] = ["queued", "running", "retrying"];

/** A step that ends or begins anew leaves no entry behind that is open, and none of their child runs. */
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
             AND t.state IN (${IN_HAND.map((name) => STATE[name]).join(", ")})`,
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

/** Ends entries that have not begun; returns how many there were. */
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
