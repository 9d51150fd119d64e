/** Writes of a step's owner while the step runs. */
import { TASK_STATES, TERMINAL_RUN_STATES, type RunState, type TaskState } from "../../../domain/run/states.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import { keyOfItem, STEP_HANDLER } from "../../../domain/workflow/definition.ts";
import type { ClaimedTask, LaneHold } from "../../ports/port.ts";
import { type Context, keyHash, STATE } from "../kernel/context.ts";
import { lockRuns } from "../kernel/lock-runs.ts";
import { streamId } from "../lanes/lane-assignments.ts";
import { holdsLane } from "../lanes/lanes.ts";
import { CounterDeltas } from "../tasks/counter-deltas.ts";
import { showProgress } from "./workflow-advance.ts";
import { skipPending, type StepItems } from "./workflow-items.ts";
import { IS_CLAIMED, proofOf } from "../tasks/write-task.ts";

/** The step's row, if it is still claimed by the owner and its run is active. */
function claimedStep(context: Context, hold: LaneHold, task: ClaimedTask): StepItems | null {
  if (!holdsLane(context, hold)) return null;
  const row = context.connection
    .sql(
      `SELECT p.*, r.status FROM tasks t JOIN steps p ON p.task = t.id JOIN runs r ON r.n = p.run WHERE ${IS_CLAIMED}`,
    )
    .get(...proofOf(task)) as unknown as (StepItems & { status: RunState }) | undefined;
  return row === undefined || TERMINAL_RUN_STATES.includes(row.status) ? null : row;
}

interface ItemBatch {
  listHash: string;
  first: number;
  values: readonly JsonValue[];
}

export function addStepItems(
  context: Context,
  hold: LaneHold,
  task: ClaimedTask,
  part: ItemBatch,
  now: number,
): true | null {
  const { connection } = context;
  return connection.write(() => {
    lockRuns(context, [task.runId]);
    const known = claimedStep(context, hold, task);
    if (known === null) return null;
    const step = part.first === 0 ? startList(context, known, task, part.listHash) : known;
    if (step.list_hash !== part.listHash)
      throw new Error(`the list of step ${step.name} is begun with its first entries`);
    const deltas = new CounterDeltas();
    const ids: number[] = [];
    let done = 0;
    // Items added by a call whose response was lost do not count again.
    const existing = Math.max(0, (step.items_total ?? 0) - part.first);
    const values = part.values.slice(existing);
    for (const [offset, value] of values.entries()) {
      const added = addItem(context, step, task.runId, part.first + existing + offset, value, deltas, now);
      if (added === "done") done += 1;
      else if (added !== "there") ids.push(added);
    }
    connection
      .sql(
        "UPDATE steps SET items_total = items_total + ?, items_completed = items_completed + ?, updated_at = ? WHERE task = ?",
      )
      .run(values.length, done, now, step.task);
    if (ids.length > 0)
      connection.sql("UPDATE runs SET last_task = max(last_task, ?) WHERE n = ?").run(ids.at(-1)!, step.run);
    deltas.apply(context);
    return true;
  });
}

/** The same list keeps its items; another one starts a new epoch, and earlier items stay behind. */
function startList(context: Context, step: StepItems, task: ClaimedTask, hash: string): StepItems {
  const { connection } = context;
  const { lane } = connection.sql("SELECT lane FROM streams WHERE id = ?").get(task.streamId) as { lane: number };
  return connection
    .sql(
      `UPDATE steps SET epoch = epoch + ?, list_hash = ?, items_stream = ?, items_total = 0, items_in_flight = 0,
         items_completed = 0, items_failed = 0, items_skipped = 0 WHERE task = ? RETURNING *`,
    )
    .get(
      step.list_hash === hash ? 0 : 1,
      hash,
      streamId(context, step.run, { lane, site: "", resolver: null, auxiliary: true }),
      step.task,
    ) as unknown as StepItems;
}

function addItem(
  context: Context,
  step: StepItems,
  runId: string,
  index: number,
  value: JsonValue,
  deltas: CounterDeltas,
  now: number,
): number | "done" | "there" {
  const { connection } = context;
  const stream = step.items_stream as number;
  const key = keyOfItem(step.name, step.epoch, index);
  const hash = keyHash(runId, key);
  const payload = JSON.stringify({ step: step.idx, item: { index, value } });
  const added = connection
    .sql(
      `INSERT INTO tasks (stream, state, created_at, key_hash, key, handler, payload, item_of, item_epoch)
       VALUES (?, ${STATE.pending}, ?, ?, ?, '${STEP_HANDLER}', ?, ?, ?) ON CONFLICT (key_hash) DO NOTHING RETURNING id`,
    )
    .get(stream, now, hash, key, payload, step.task, step.epoch);
  if (added !== undefined) {
    deltas.add(stream, "pending", 1);
    return Number(added["id"]);
  }
  const before = connection.sql("SELECT id, state, stream FROM tasks WHERE key_hash = ?").get(hash) as {
    id: number;
    state: number;
    stream: number;
  };
  const state = TASK_STATES[before.state] as TaskState;
  if (state === "completed") return "done";
  if (state === "pending") return "there";
  connection
    .sql(
      `UPDATE tasks SET state = ${STATE.pending}, stream = ?, tries = 0, waits = 0, ready_at = 0, ended_at = NULL, outcome = NULL
       WHERE id = ?`,
    )
    .run(stream, before.id);
  deltas.shift(before.stream, state, stream, "pending");
  return "there";
}

export function skipStepItems(
  context: Context,
  hold: LaneHold,
  task: ClaimedTask,
  limit: number,
  why: string,
  now: number,
): number | null {
  const { connection } = context;
  return connection.write(() => {
    lockRuns(context, [task.runId]);
    const step = claimedStep(context, hold, task);
    if (step === null) return null;
    const deltas = new CounterDeltas();
    const skipped = skipPending(context, step, limit, why, deltas, now);
    if (skipped > 0)
      connection
        .sql("UPDATE steps SET items_skipped = items_skipped + ?, updated_at = ? WHERE task = ?")
        .run(skipped, now, step.task);
    deltas.apply(context);
    return skipped;
  });
}

/** Items have no progress: their step advances as they end. */
export function noteStepProgress(
  context: Context,
  hold: LaneHold,
  task: ClaimedTask,
  { fraction, message }: { fraction: number; message: string | null },
  now: number,
): true | null {
  const { connection } = context;
  return connection.write(() => {
    lockRuns(context, [task.runId]);
    if (task.auxiliary) return holdsLane(context, hold) ? true : null;
    const step = claimedStep(context, hold, task);
    if (step === null) return null;
    const progress = Math.max(0, Math.min(1, fraction));
    const { change } = connection
      .sql("SELECT (? - progress) * weight AS change FROM steps WHERE task = ?")
      .get(progress, step.task) as { change: number };
    connection
      .sql("UPDATE steps SET progress = ?, progress_message = ?, updated_at = ? WHERE task = ?")
      .run(progress, message, now, step.task);
    const sums = connection
      .sql(
        "UPDATE workflows SET weight_done = weight_done + ?, updated_at = ? WHERE run = ? RETURNING weight, weight_done",
      )
      .get(change, now, step.run) as { weight: number; weight_done: number };
    showProgress(context, step.run, sums);
    return true;
  });
}
