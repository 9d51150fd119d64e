/** A workflow that failed goes on: some of its steps are done again, and nothing else. */
import { isOrbError, messageOf, OrbError } from "../../../base/errors.ts";
import { TASK_STATES, type TaskState } from "../../../domain/run/states.ts";
import type { RunRecord } from "../../ports/port.ts";
import type { RecoveriesTakenUp } from "../../ports/workflow-port.ts";
import { bumpControl, type Context, rows, STATE } from "../kernel/context.ts";
import { endRunIfDone } from "../runs/end-run.ts";
import { moveRun, reopenRun } from "../runs/move-run.ts";
import { openReadySteps } from "./open-steps.ts";
import { dropArtifacts } from "../runs/retention.ts";
import { uncountErrors } from "../runs/run-errors.ts";
import { readRun, requireRun } from "../runs/runs.ts";
import { CounterDeltas } from "../tasks/counter-deltas.ts";
import { percentOf, skipBehind } from "./workflow-advance.ts";
import { requireWorkflow } from "./workflow-reads.ts";

interface StepRow {
  task: number;
  idx: number;
  name: string;
  dependencies: string;
  open_deps: number;
  weight: number;
  progress: number;
  state: number;
  stream: number;
  reason: string | null;
  message: string | null;
}

interface Step {
  row: StepRow;
  state: TaskState;
  dependencies: readonly number[];
  /** It completed, or was not needed: those that wait for it may begin. */
  endedWell: boolean;
}

/** The steps of a run by index; a step is skipped for want of another one when that one did not end well. */
export function readSteps({ connection }: Context, run: number): Step[] {
  const list = connection
    .sql(
      `SELECT p.task, p.idx, p.name, p.dependencies, p.open_deps, p.weight, p.progress, t.state, t.stream,
         json_extract(t.outcome, '$.failure.reason') AS reason, json_extract(t.outcome, '$.failure.message') AS message
       FROM steps p CROSS JOIN tasks t ON t.id = p.task WHERE p.run = ? ORDER BY p.idx`,
    )
    .all(run);
  const steps: Step[] = [];
  for (const row of rows<StepRow>(list)) {
    const state = TASK_STATES[row.state] as TaskState;
    const dependencies = JSON.parse(row.dependencies) as number[];
    const needed = dependencies.every((index) => steps[index]?.endedWell === true);
    steps.push({ row, state, dependencies, endedWell: state === "completed" || (state === "skipped" && needed) });
  }
  return steps;
}

export function recoverWorkflow(context: Context, id: string, from: number | null, now: number): RunRecord {
  const { connection } = context;
  return connection.write(
    () => {
      const { run, recoveryAttempts, maxRecoveryAttempts } = requireWorkflow(context, id);
      if (run.status !== "failed")
        throw new OrbError("illegal_transition", `the workflow is ${run.status}: only one that failed is recovered`);
      if (recoveryAttempts >= maxRecoveryAttempts)
        throw new OrbError(
          "recovery_exhausted",
          `the workflow was recovered ${recoveryAttempts} times, as often as it may be`,
          {
            hint: "Start it anew, or repeat it with other params.",
          },
        );
      const { n, kind } = requireRun(context, id);
      if (from !== null) refuseBlocked(readSteps(context, n), from);
      connection
        .sql("UPDATE workflows SET recovery_attempts = recovery_attempts + 1, recover_from = ? WHERE run = ?")
        .run(from, n);
      const attempt = `attempt ${recoveryAttempts + 1} of ${maxRecoveryAttempts}`;
      const event = { type: "run.recovering", message: `Run recovering: ${attempt}` } as const;
      reopenRun(context, { n, kind }, event, now, "recovering");
      bumpControl(context);
      return readRun(context, id) as RunRecord;
    },
    { durable: true },
  );
}

/** What waits for a step that did not end well cannot be begun with. */
function refuseBlocked(steps: readonly Step[], from: number): void {
  const step = steps[from];
  const refuse = (why: string, hint: string) => {
    throw new OrbError("input_invalid", why, { hint, fields: [{ path: "from_step", message: why }] });
  };
  if (step === undefined) return refuse(`the workflow has no step with the index ${from}`, "Name one of its steps.");
  const missing = step.dependencies.map((index) => steps[index]).find((one) => one?.endedWell !== true);
  if (missing !== undefined)
    refuse(
      `step ${step.row.name} waits for ${missing.row.name}, which is ${missing.state}`,
      `Recover from ${missing.row.name}, or without naming a step.`,
    );
}

export const RECOVERING = "kind = 'workflow' AND status = 'recovering' AND removing_at IS NULL";

export function takeUpRecoveries(context: Context, limit: number, now: number): RecoveriesTakenUp {
  const { connection } = context;
  const find = connection.sql(`SELECT n, id FROM runs WHERE ${RECOVERING} AND n > ? ORDER BY n LIMIT 1`);
  const lanes = new Set<string>();
  const stuck: string[] = [];
  let written = 0;
  let behind = 0;
  const next = () => find.get(behind) as { n: number; id: string } | undefined;
  // Each run is a transaction of its own: it has at most a thousand steps.
  for (let run = next(); run !== undefined && written < limit; run = next()) {
    try {
      written += connection.write(() => {
        const still = next();
        if (still === undefined) return 0;
        const { steps, opened } = takeUp(context, still.n, now);
        for (const lane of opened) lanes.add(lane);
        return Math.max(1, steps);
      });
    } catch (error) {
      // OutageLogger with the database is everybody's. What is wrong with one run is not to keep the others waiting.
      if (isOrbError(error) && error.code !== "illegal_transition") throw error;
      stuck.push(`workflow ${run.id}: ${messageOf(error)}`);
      behind = run.n;
    }
  }
  return { lanes: [...lanes], more: next() !== undefined, ...(stuck.length === 0 ? {} : { stuck }) };
}

function takeUp(context: Context, run: number, now: number): { steps: number; opened: string[] } {
  const { connection } = context;
  const { recover_from: from } = connection.sql("SELECT recover_from FROM workflows WHERE run = ?").get(run) as {
    recover_from: number | null;
  };
  const steps = readSteps(context, run);
  const again = new Set<number>();
  for (const [index, { dependencies, endedWell }] of steps.entries()) {
    const meant = from === null ? !endedWell : index === from || dependencies.some((one) => again.has(one));
    if (meant) again.add(index);
  }
  const deltas = new CounterDeltas();
  for (const index of again) putBack(context, steps, index, again, deltas, now);
  // What waits for a step that failed and is not done again is skipped once more.
  for (const [index, { row, endedWell }] of steps.entries())
    if (!endedWell && !again.has(index))
      skipBehind(context, run, [row.task], `step ${row.name} did not complete`, deltas, now);
  deltas.apply(context);
  uncount(
    context,
    run,
    [...again].map((index) => steps[index] as Step),
  );
  const kept = steps.filter((_, index) => !again.has(index));
  const done = kept.reduce((sum, { row }) => sum + row.weight * row.progress, 0);
  const failed = kept.find(({ state }) => state === "failed")?.row;
  const error = failed === undefined ? null : `step ${failed.name} failed: ${failed.message}`;
  const sums = connection
    .sql(
      `UPDATE workflows SET weight_done = ?1, error_message = ?2, last_checkpoint = ?3, updated_at = ?3
       WHERE run = ?4 RETURNING weight, weight_done`,
    )
    .get(done, error, now, run) as { weight: number; weight_done: number };
  connection.sql("UPDATE runs SET progress = ? WHERE n = ?").run(percentOf(sums), run);
  const message = `Run recovered: ${again.size} of ${steps.length} steps are repeated`;
  moveRun(context, run, "running", { type: "run.recovered", message }, now);
  const opened = openReadySteps(context, run);
  if (opened.length === 0) endRunIfDone(context, run, now);
  return { steps: again.size, opened };
}

/**
 * What the step left is gone; its history stays. What its entries did stays good only if it failed itself, and nothing
 * that they may have read is done again: else its list begins anew.
 */
function putBack(
  context: Context,
  steps: readonly Step[],
  index: number,
  again: ReadonlySet<number>,
  deltas: CounterDeltas,
  now: number,
): void {
  const { connection } = context;
  const { row, state, dependencies } = steps[index] as Step;
  dropArtifacts(context, "task = ?", row.task);
  connection.sql("DELETE FROM results WHERE task = ?").run(row.task);
  connection
    .sql(
      `UPDATE tasks SET state = ${STATE.pending}, tries = 0, waits = 0, ready_at = 0, ended_at = NULL, outcome = NULL WHERE id = ?`,
    )
    .run(row.task);
  deltas.shift(row.stream, state, row.stream, "pending");
  const keepsEntries = state !== "completed" && !dependencies.some((one) => again.has(one));
  const open = [...new Set(dependencies)].filter((one) => again.has(one) || steps[one]?.endedWell !== true).length;
  connection
    .sql(
      `UPDATE steps SET open_deps = ?, started_at = NULL, progress = 0, progress_message = NULL, updated_at = ?,
         items_total = NULL, items_completed = 0, items_failed = 0, items_skipped = 0,
         list_hash = CASE WHEN ? THEN list_hash END WHERE task = ?`,
    )
    .run(open, now, keepsEntries ? 1 : 0, row.task);
}

function uncount(context: Context, run: number, again: readonly Step[]): void {
  const reasons = new Map<string, number>();
  for (const { state, row } of again)
    if (state === "failed") reasons.set(row.reason ?? "internal", (reasons.get(row.reason ?? "internal") ?? 0) + 1);
  uncountErrors(context, run, reasons);
}
