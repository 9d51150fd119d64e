import { decodeId } from "../../domain/ids.ts";
import type { TaskState } from "../../domain/states.ts";
import type { TaskRecord } from "../port.ts";
import type { StepRecord, StepWait } from "../workflow-port.ts";
import { badPosition, type Context, rows, STATE } from "./context.ts";
import { requireRun } from "./runs.ts";
import { SELECT_TASK, type TaskRow, toTaskRecord } from "./tasks.ts";
import { requireStep } from "./require-step.ts";

interface StepRow extends TaskRow {
  idx: number;
  step_name: string;
  step_kind: string;
  dependencies: string;
  max_retries: number;
  estimated_ms: number | null;
  step_started_at: number | null;
  step_updated_at: number;
  step_progress: number;
  progress_message: string | null;
  items_total: number | null;
  items_completed: number;
  items_failed: number;
  items_skipped: number;
  lane_epoch: number;
}

const SELECT_STEP = `SELECT t.*, s.resolver, l.lane, l.epoch AS lane_epoch, r.id AS run_id, p.idx, p.name AS step_name, p.kind AS step_kind,
    p.dependencies, p.max_retries, p.estimated_ms, p.started_at AS step_started_at, p.updated_at AS step_updated_at,
    p.progress AS step_progress, p.progress_message, p.items_total, p.items_completed, p.items_failed, p.items_skipped
  FROM steps p CROSS JOIN tasks t ON t.id = p.task JOIN streams s ON s.id = t.stream JOIN lanes l ON l.id = s.lane
    JOIN runs r ON r.n = p.run`;

function toStep(context: Context, row: StepRow, childRuns: readonly string[]): StepRecord {
  const { items_total: total, items_completed: completed, items_failed: failed, items_skipped: skipped } = row;
  const items =
    total === null ? null : { total, open: total - completed - failed - skipped, completed, failed, skipped };
  return {
    task: toTaskRecord(context, row),
    index: row.idx,
    name: row.step_name,
    kind: row.step_kind,
    dependencies: JSON.parse(row.dependencies) as number[],
    maxRetries: row.max_retries,
    estimatedMs: row.estimated_ms,
    startedAt: row.step_started_at,
    updatedAt: row.step_updated_at,
    progress: row.step_progress,
    progressMessage: row.progress_message,
    waiting: row.state === STATE.retrying ? waitingOf(row.outcome, items?.open ?? 0) : null,
    items,
    childRuns,
    engineTaskId: row.lane_epoch > 0 ? row.lane : null,
  };
}

/** What a task that sleeps says it waits for; of one that failed and is tried again: nothing. */
function waitingOf(outcome: string | null, open: number): StepWait | null {
  const { waiting } = JSON.parse(outcome ?? "{}") as { waiting?: StepWait | { for: "items" } };
  if (waiting === undefined) return null;
  return waiting.for === "items" ? { for: "items", open } : (waiting as StepWait);
}

export function readSteps(context: Context, runId: string): StepRecord[] {
  const { connection } = context;
  const { n } = requireRun(context, runId);
  const children = rows<{ idx: number; id: string }>(
    connection
      .sql("SELECT p.idx, r.id FROM steps p CROSS JOIN runs r ON r.parent_task = p.task WHERE p.run = ? ORDER BY r.n")
      .all(n),
  );
  const byStep = Map.groupBy(children, ({ idx }) => idx);
  const list = rows<StepRow>(connection.sql(`${SELECT_STEP} WHERE p.run = ? ORDER BY p.idx`).all(n));
  return list.map((row) =>
    toStep(
      context,
      row,
      (byStep.get(row.idx) ?? []).map(({ id }) => id),
    ),
  );
}

export function readStepItems(
  context: Context,
  runId: string,
  index: number,
  options: { states?: readonly TaskState[]; after?: string; limit: number },
): TaskRecord[] {
  const step = requireStep(context, requireRun(context, runId).n, index);
  const after = options.after === undefined ? 0 : decodeId(context.instance, "task", options.after);
  if (after === null) throw badPosition(options.after ?? "", "an entry of this step");
  const states = options.states?.map((name) => STATE[name]).join(", ");
  const list = context.connection
    .sql(
      `${SELECT_TASK} WHERE t.item_of = ? AND t.item_epoch = ? AND t.id > ?
         ${states === undefined ? "" : `AND t.state IN (${states})`} ORDER BY t.id LIMIT ?`,
    )
    .all(step.task, step.epoch, after, options.limit);
  return rows<TaskRow>(list).map((row) => toTaskRecord(context, row));
}

export function readChildRuns(context: Context, taskId: string): string[] {
  const task = decodeId(context.instance, "task", taskId);
  const list = context.connection
    .sql(
      `SELECT r.id FROM runs r JOIN runs w ON w.n = r.parent_run
       WHERE r.parent_task = ? AND r.parent_generation = w.generation ORDER BY r.n`,
    )
    .all(task);
  return rows<{ id: string }>(list).map(({ id }) => id);
}

export function readStepByEngineId(
  context: Context,
  engineId: string,
): { runId: string; step: StepRecord; item: TaskRecord | null } | null {
  const { connection } = context;
  // A lane of a workflow is one of one run, and holds one task at a time: the newest is the one that it was last had for.
  const last = connection
    .sql(
      `SELECT t.id, coalesce(t.item_of, t.id) AS step FROM lanes l JOIN streams s ON s.lane = l.id JOIN tasks t ON t.stream = s.id
       WHERE l.lane = ? AND l.epoch > 0 AND t.state <> ${STATE.pending} AND EXISTS (SELECT 1 FROM steps p WHERE p.task = coalesce(t.item_of, t.id))
       ORDER BY s.aside, t.id DESC LIMIT 1`,
    )
    .get(engineId) as { id: number; step: number } | undefined;
  if (last === undefined) return null;
  const row = connection.sql(`${SELECT_STEP} WHERE p.task = ? AND r.removing_at IS NULL`).get(last.step) as
    | StepRow
    | undefined;
  if (row === undefined) return null;
  const step = readSteps(context, row.run_id)[row.idx];
  if (step === undefined) return null;
  const item =
    last.id === last.step
      ? null
      : (connection.sql(`${SELECT_TASK} WHERE t.id = ?`).get(last.id) as TaskRow | undefined);
  return {
    runId: row.run_id,
    step,
    item: item === null || item === undefined ? null : toTaskRecord(context, item),
  };
}
