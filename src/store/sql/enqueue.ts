import { TERMINAL_RUN_STATES } from "../../domain/states.ts";
import type { Made, Once } from "../job-records.ts";
import type { Enqueued, NewRun, NewTask, RunRecord } from "../port.ts";
import { type Context, keyHash } from "./context.ts";
import { reopenRun } from "./move-run.ts";
import { writeCap } from "./budgets.ts";
import { insertTasks } from "./insert-tasks.ts";
import { makeOnce } from "./once.ts";
import { insertRun, type ParentStep, requireRun } from "./runs.ts";
import { insertWorkflow } from "./insert-workflow.ts";
import { Tally } from "./tally.ts";

export function enqueue(context: Context, runId: string, tasks: readonly NewTask[], now: number): Enqueued {
  // Hashing happens before the lock is taken: other writers wait only for the inserts.
  const hashes = tasks.map((task) => keyHash(runId, task.key));
  return context.connection.write(
    () => {
      const run = requireRun(context, runId);
      const tally = new Tally();
      const { added: grown, lanes } = insertTasks(context, run.n, tasks, hashes, tally, now);
      tally.apply(context);
      const added = grown.pages + grown.aside;
      const reopened = added > 0 && TERMINAL_RUN_STATES.includes(run.status);
      if (reopened) reopenRun(context, run, `Run reopened: ${added} added`, now);
      return { added, existing: tasks.length - added, lanes, reopened };
    },
    { durable: true },
  );
}

/** A run and its first tasks appear together, or not at all. */
export function startRun(
  context: Context,
  run: NewRun,
  tasks: readonly NewTask[],
  now: number,
  once?: Once,
): Promise<Made<RunRecord>> {
  return makeOnce(context, once, now, () => insertRunWithTasks(context, run, tasks, now));
}

/** Within a transaction of the caller's. */
export function insertRunWithTasks(
  context: Context,
  run: NewRun,
  tasks: readonly NewTask[],
  now: number,
  parent?: ParentStep,
): { made: RunRecord; lanes: string[] } {
  const made = insertRun(context, run, now, parent);
  if (run.workflow !== undefined) return insertWorkflow(context, made, run.workflow, run.snapshot, now);
  if (run.budget !== undefined) writeCap(context, run.budget.key, run.budget.cap);
  const hashes = tasks.map((task) => keyHash(made.id, task.key));
  const tally = new Tally();
  const { added, lanes } = insertTasks(context, requireRun(context, made.id).n, tasks, hashes, tally, now);
  tally.apply(context);
  context.connection.sql("UPDATE runs SET pages_known = ? WHERE id = ?").run(added.pages, made.id);
  return { made: { ...made, pagesKnown: added.pages }, lanes };
}
