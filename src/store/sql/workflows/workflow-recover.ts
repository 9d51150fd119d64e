/** Recovers a failed workflow: repeats some of its steps, and nothing else. */
import { logChange } from "../kernel/audit-entry.ts";
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
import { percentOf, skipDependents } from "./workflow-advance.ts";
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
  /** Completed, or skipped as not needed: its dependents may start. */
  endedWell: boolean;
}

/** The steps of a run by index. A skipped step ended well only if all its dependencies did. */
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
        throw new OrbError("illegal_transition", `the workflow is ${run.status}: only a failed one can be recovered`);
      if (recoveryAttempts >= maxRecoveryAttempts)
        throw new OrbError(
          "recovery_exhausted",
          `the workflow has used all ${recoveryAttempts} recoveries (max_recovery_attempts)`,
          {
            hint: "Rerun it, with other params if needed.",
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
      logChange(context, "run.recovering", { kind: "run", id }, { after: { from_step: from } });
      return readRun(context, id) as RunRecord;
    },
    { durable: true },
  );
}

/** A step whose dependency did not end well cannot be the first. */
function refuseBlocked(steps: readonly Step[], from: number): void {
  const step = steps[from];
  const refuse = (why: string, hint: string) => {
    throw new OrbError("input_invalid", why, { hint, fields: [{ path: "from_step", message: why }] });
  };
  if (step === undefined) return refuse(`the workflow has no step with the index ${from}`, "Use one of its steps.");
  const missing = step.dependencies.map((index) => steps[index]).find((dependency) => dependency?.endedWell !== true);
  if (missing !== undefined)
    refuse(
      `step ${step.row.name} depends on ${missing.row.name}, which is ${missing.state}`,
      `Start the recovery at ${missing.row.name} (from_step, or --from), or leave out from_step (--from) to repeat all steps that did not complete.`,
    );
}

export const RECOVERING = "kind = 'workflow' AND status = 'recovering' AND removing_at IS NULL";

export function takeUpRecoveries(context: Context, limit: number, now: number): RecoveriesTakenUp {
  const { connection } = context;
  const find = connection.sql(`SELECT n, id FROM runs WHERE ${RECOVERING} AND n > ? ORDER BY n LIMIT 1`);
  const lanes = new Set<string>();
  const stuck: string[] = [];
  let written = 0;
  let afterRun = 0;
  const next = () => find.get(afterRun) as { n: number; id: string } | undefined;
  // One transaction per run, of at most a thousand steps.
  for (let run = next(); run !== undefined && written < limit; run = next()) {
    try {
      written += connection.write(() => {
        const current = next();
        if (current === undefined) return 0;
        const { steps, opened } = takeUp(context, current.n, now);
        for (const lane of opened) lanes.add(lane);
        return Math.max(1, steps);
      });
    } catch (error) {
      // Database errors affect all runs. A fault of one run must not block the others.
      if (isOrbError(error) && error.code !== "illegal_transition") throw error;
      stuck.push(`workflow ${run.id}: ${messageOf(error)}`);
      afterRun = run.n;
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
  const repeated = new Set<number>();
  for (const [index, { dependencies, endedWell }] of steps.entries()) {
    const isRepeated =
      from === null ? !endedWell : index === from || dependencies.some((dependency) => repeated.has(dependency));
    if (isRepeated) repeated.add(index);
  }
  const deltas = new CounterDeltas();
  for (const index of repeated) resetStep(context, steps, index, repeated, deltas, now);
  // Dependents of a failed step that is not repeated are skipped again.
  for (const [index, { row, endedWell }] of steps.entries())
    if (!endedWell && !repeated.has(index))
      skipDependents(context, run, [row.task], `step ${row.name} did not complete`, deltas, now);
  deltas.apply(context);
  uncount(
    context,
    run,
    [...repeated].map((index) => steps[index] as Step),
  );
  const kept = steps.filter((_, index) => !repeated.has(index));
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
  const message = `Run recovered: ${repeated.size} of ${steps.length} steps are repeated`;
  moveRun(context, run, "running", { type: "run.recovered", message }, now);
  const opened = openReadySteps(context, run);
  if (opened.length === 0) endRunIfDone(context, run, now);
  return { steps: repeated.size, opened };
}

/**
 * Removes the step's outputs; its history stays. Completed items stay only if the step itself failed and none of its
 * dependencies is repeated: otherwise its list starts over.
 */
function resetStep(
  context: Context,
  steps: readonly Step[],
  index: number,
  repeated: ReadonlySet<number>,
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
  const keepsItems = state !== "completed" && !dependencies.some((dependency) => repeated.has(dependency));
  const open = [...new Set(dependencies)].filter(
    (dependency) => repeated.has(dependency) || steps[dependency]?.endedWell !== true,
  ).length;
  connection
    .sql(
      `UPDATE steps SET open_deps = ?, started_at = NULL, progress = 0, progress_message = NULL, updated_at = ?,
         items_total = NULL, items_completed = 0, items_failed = 0, items_skipped = 0,
         list_hash = CASE WHEN ? THEN list_hash END WHERE task = ?`,
    )
    .run(open, now, keepsItems ? 1 : 0, row.task);
}

function uncount(context: Context, run: number, repeated: readonly Step[]): void {
  const reasons = new Map<string, number>();
  for (const { state, row } of repeated)
    if (state === "failed") reasons.set(row.reason ?? "internal", (reasons.get(row.reason ?? "internal") ?? 0) + 1);
  uncountErrors(context, run, reasons);
}
