import { decodeId } from "../../../domain/run/ids.ts";
import type { TaskState } from "../../../domain/run/states.ts";
import { stepOfLane } from "../../../domain/workflow/definition.ts";
import type { TaskRecord } from "../../ports/port.ts";
import type { StepRecord, StepWait } from "../../ports/workflow-port.ts";
import { badPosition, type Context, rows, STATE } from "../kernel/context.ts";
import { requireRunNumber, runRow } from "../runs/runs.ts";
import { SELECT_TASK, type TaskRow, toTaskRecord } from "../tasks/tasks.ts";
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

const FROM_STEPS = `s.resolver, l.lane, l.epoch AS lane_epoch, r.id AS run_id, p.idx, p.name AS step_name, p.kind AS step_kind,
    p.dependencies, p.max_retries, p.estimated_ms, p.started_at AS step_started_at, p.updated_at AS step_updated_at,
    p.progress AS step_progress, p.progress_message, p.items_total, p.items_completed, p.items_failed, p.items_skipped
  FROM steps p CROSS JOIN tasks t ON t.id = p.task JOIN streams s ON s.id = t.stream JOIN lanes l ON l.id = s.lane
    JOIN runs r ON r.n = p.run`;

function toStep(context: Context, row: StepRow, childRuns: readonly string[]): StepRecord {
  const { items_total: total, items_completed: completed, items_failed: failed, items_skipped: skipped } = row;
  // A cancelled step has no open items.
  const left = total === null ? 0 : total - completed - failed - skipped;
  const [open, cancelled] = row.ended_at === null ? [left, 0] : [0, left];
  const items = total === null ? null : { total, open, completed, failed, skipped: skipped + cancelled };
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

/** What a sleeping task waits for; null for a failed one that waits for its retry. */
function waitingOf(outcome: string | null, open: number): StepWait | null {
  const { waiting } = JSON.parse(outcome ?? "{}") as { waiting?: StepWait | { for: "items" } };
  if (waiting === undefined) return null;
  return waiting.for === "items" ? { for: "items", open } : (waiting as StepWait);
}

const SELECT_STEP = `SELECT t.*, ${FROM_STEPS}`;
/** The second column named `outcome` overrides the first. */
const SELECT_BRIEF = `SELECT t.*, CASE WHEN t.state = ${STATE.completed} THEN NULL ELSE t.outcome END AS outcome, ${FROM_STEPS}`;

export function readSteps(
  context: Context,
  runId: string,
  indices?: readonly number[],
  how?: "without results",
): StepRecord[] {
  const { connection } = context;
  const n = requireRunNumber(context, runId);
  const condition = `p.run = ?${indices === undefined ? "" : " AND p.idx IN (SELECT CAST(value AS BIGINT) FROM json_each(?))"}`;
  const which = indices === undefined ? [n] : [n, JSON.stringify(indices)];
  const children = rows<{ idx: number; id: string }>(
    connection
      .sql(
        `SELECT p.idx, r.id FROM steps p CROSS JOIN runs r ON r.parent_task = p.task WHERE ${condition} ORDER BY r.n`,
      )
      .all(...which),
  );
  const byStep = Map.groupBy(children, ({ idx }) => idx);
  const select = how === undefined ? SELECT_STEP : SELECT_BRIEF;
  const list = rows<StepRow>(connection.sql(`${select} WHERE ${condition} ORDER BY p.idx`).all(...which));
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
  options: { states?: readonly TaskState[]; after?: string; limit: number; mostBytes?: number },
): TaskRecord[] {
  const step = requireStep(context, requireRunNumber(context, runId), index);
  const after = options.after === undefined ? 0 : decodeId(context.instance, "task", options.after);
  if (after === null) throw badPosition(options.after ?? "", "an entry of this step");
  const states = options.states?.map((name) => STATE[name]).join(", ");
  const list = context.connection
    .sql(
      `${SELECT_TASK} WHERE t.item_of = ? AND t.item_epoch = ? AND t.id > ?
         ${states === undefined ? "" : `AND t.state IN (${states})`} ORDER BY t.id LIMIT ?`,
    )
    .all(step.task, step.epoch, after, options.limit);
  const read: TaskRecord[] = [];
  let bytes = 0;
  for (const row of rows<TaskRow>(list)) {
    read.push(toTaskRecord(context, row));
    bytes += (row.payload?.length ?? 0) + (row.outcome?.length ?? 0);
    if (bytes >= (options.mostBytes ?? Number.POSITIVE_INFINITY)) break;
  }
  return read;
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
  const parsed = stepOfLane(engineId);
  const lane = context.connection.sql("SELECT id FROM lanes WHERE lane = ? AND epoch > 0").get(engineId);
  if (parsed === null || lane === undefined || runRow(context, parsed.runId) === null) return null;
  const step = readSteps(context, parsed.runId)[parsed.step];
  if (step === undefined) return null;
  const item = parsed.slot === null ? null : lastOfSlot(context, Number(lane["id"]));
  return { runId: parsed.runId, step, item };
}

/** The item in a slot, or its last one: items take slots in list order. */
function lastOfSlot(context: Context, lane: number): TaskRecord | null {
  const newest = (condition: string) =>
    `SELECT max(t.id) FROM streams s JOIN tasks t ON t.stream = s.id AND ${condition} WHERE s.lane = ?1`;
  const states = (["running", "retrying", "queued"] as const).map((name) => newest(`t.state = ${STATE[name]}`));
  const last = [...states, newest("t.ended_at IS NOT NULL")].map((find) => `(${find})`).join(", ");
  const row = context.connection.sql(`${SELECT_TASK} WHERE t.id = coalesce(${last})`).get(lane);
  return row === undefined ? null : toTaskRecord(context, row as unknown as TaskRow);
}
