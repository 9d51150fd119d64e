import { currentCaller } from "../../../domain/access/caller.ts";
import { TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { Created, IdempotencyKey } from "../../records/job-records.ts";
import type { Enqueued, NewRun, NewTask, RunRecord } from "../../ports/port.ts";
import { type Context, keyHash } from "../kernel/context.ts";
import { reopenRun } from "../runs/move-run.ts";
import { writeCap } from "../lanes/budgets.ts";
import { insertTasks } from "./insert-tasks.ts";
import { createOnce } from "../kernel/idempotency-keys.ts";
import { insertRun, type ParentStep, requireRun } from "../runs/runs.ts";
import { insertWorkflow } from "../workflows/insert-workflow.ts";
import { isLarge, startLargeWorkflow } from "../workflows/stage-workflow.ts";
import { CounterDeltas } from "./counter-deltas.ts";
import { requireVisibleRun } from "../kernel/caller-limits.ts";
import { lockRuns } from "../kernel/lock-runs.ts";

export function enqueue(context: Context, runId: string, tasks: readonly NewTask[], now: number): Enqueued {
  // Hashes before taking the lock: other writers wait only for the inserts.
  const hashes = tasks.map((task) => keyHash(runId, task.key));
  return context.connection.write(
    () => {
      lockRuns(context, [runId]);
      const run = requireRun(context, runId);
      const deltas = new CounterDeltas();
      const { added: inserted, lanes } = insertTasks(context, run.n, tasks, hashes, deltas, now);
      deltas.apply(context);
      const added = inserted.pages + inserted.auxiliary;
      const reopened = added > 0 && TERMINAL_RUN_STATES.includes(run.status);
      if (reopened) reopenRun(context, run, { type: "run.reopened", message: `Run reopened: ${added} added` }, now);
      return { added, existing: tasks.length - added, lanes, reopened };
    },
    { durable: true },
  );
}

/** A run and its first tasks are created together, or not at all. */
export function startRun(
  context: Context,
  run: NewRun,
  tasks: readonly NewTask[],
  now: number,
  once?: IdempotencyKey,
): Promise<Created<RunRecord>> {
  const { workflow } = run;
  if (workflow !== undefined && isLarge(workflow)) return startLargeWorkflow(context, { ...run, workflow }, now, once);
  return createOnce(context, once, now, () => insertRunWithTasks(context, run, tasks, now));
}

/** Within the caller's transaction. */
export function insertRunWithTasks(
  context: Context,
  run: NewRun,
  tasks: readonly NewTask[],
  now: number,
  parent?: ParentStep,
): { created: RunRecord; lanes: string[] } {
  const created = insertRun(context, run, now, parent);
  if (currentCaller() !== null && parent === undefined)
    requireVisibleRun(context, created.id, [
      run.site ?? null,
      ...(run.workflow === undefined ? tasks.map(({ site }) => site) : []),
    ]);
  if (run.workflow !== undefined) return insertWorkflow(context, created, run.workflow, run.snapshot, now);
  if (run.budget !== undefined) writeCap(context, run.budget.key, run.budget.cap);
  const hashes = tasks.map((task) => keyHash(created.id, task.key));
  const deltas = new CounterDeltas();
  const { added, lanes } = insertTasks(context, requireRun(context, created.id).n, tasks, hashes, deltas, now);
  deltas.apply(context);
  context.connection.sql("UPDATE runs SET pages_known = ? WHERE id = ?").run(added.pages, created.id);
  return { created: { ...created, pagesKnown: added.pages }, lanes };
}
