/**
 * Inserts a large workflow in several short transactions: a single one would block other writers, and in SQLite the
 * event loop, for a tenth of a second. Until the last one its run is marked as being removed, so that it is invisible.
 * Leftovers of a process that dies meanwhile are removed.
 */
import { yieldToEventLoop } from "../../../base/process/event-loop.ts";
import type { Created, IdempotencyKey } from "../../records/job-records.ts";
import type { NewRun, RunRecord } from "../../ports/port.ts";
import type { NewWorkflow } from "../../records/workflow-records.ts";
import { type Context, rows, STATE } from "../kernel/context.ts";
import { changeAllCounters } from "../kernel/counters.ts";
import { completeWorkflow, dependentsOf, insertEdges, insertSteps } from "./insert-workflow.ts";
import { createOnce, storedResponse } from "../kernel/idempotency-keys.ts";
import { lockRuns } from "../kernel/lock-runs.ts";
import { requireVisibleRun } from "../kernel/caller-limits.ts";
import { announceRun, insertRunRow } from "../runs/runs.ts";

/** Steps and edges per transaction: some milliseconds. */
const MAX_STEPS = 50;
const MAX_EDGES = 2000;

/** A workflow that is still hidden after this time belongs to a process that has died. */
const ABANDONED_MS = 3_600_000;

export function isLarge({ steps }: NewWorkflow): boolean {
  if (steps.length > MAX_STEPS) return true;
  return steps.reduce((sum, { dependencies }) => sum + dependencies.length, 0) > MAX_EDGES;
}

export async function startLargeWorkflow(
  context: Context,
  run: NewRun & { workflow: NewWorkflow },
  now: number,
  once?: IdempotencyKey,
): Promise<Created<RunRecord>> {
  const { connection } = context;
  const { workflow, snapshot } = run;
  const { steps } = workflow;
  const before = once === undefined ? null : storedResponse(context, once, now);
  if (before !== null) return { created: before as RunRecord, lanes: [], replayed: true };
  const tasks: number[] = [];
  const nextRange = () => ({ from: tasks.length, to: Math.min(steps.length, tasks.length + MAX_STEPS) });
  // Together with the first steps: a hidden run without open work is removed at once.
  const { row, hold, first } = connection.write(() => {
    const inserted = insertRunRow(context, run, now, { hidden: true });
    return { ...inserted, first: insertSteps(context, inserted.row, workflow, nextRange(), now) };
  });
  tasks.push(...first);
  const inRun = <T>(work: () => T): T =>
    connection.write(() => {
      lockRuns(context, [row.id]);
      return work();
    });
  while (tasks.length < steps.length) {
    await yieldToEventLoop();
    tasks.push(...inRun(() => insertSteps(context, row, workflow, nextRange(), now)));
  }
  const dependents = dependentsOf(steps, tasks);
  for (let from = 0; from < steps.length;) {
    let to = from;
    for (let edges = 0; to < steps.length && edges < MAX_EDGES; to += 1) edges += dependents[to]?.length ?? 0;
    await yieldToEventLoop();
    inRun(() => insertEdges(context, row.n, tasks, dependents, { from, to }));
    from = to;
  }
  await yieldToEventLoop();
  const create = () => {
    connection.sql("UPDATE runs SET removing_at = NULL WHERE n = ?").run(row.n);
    announceRun(context, row, run, hold, now);
    requireVisibleRun(context, row.id, [row.site]);
    return completeWorkflow(context, { run: row, name: row.name, workflow, snapshot, tasks }, now);
  };
  const created = await createOnce(context, once, now, create, { runs: [row.id] });
  // A concurrent call with the same key finished first.
  if (created.replayed) inRun(() => endSteps(context, row.n, steps.length, now));
  return created;
}

/** Cancels the steps of a workflow whose process died while inserting it, so that it is removed; returns how many. */
export function endAbandoned(context: Context, limit: number, now: number): number {
  const { connection } = context;
  const find = () =>
    connection
      .sql(
        `SELECT n FROM runs INDEXED BY runs_removing WHERE removing_at IS NOT NULL AND removing_at < ?
           AND kind = 'workflow' AND status = 'queued' AND open_streams > 0 LIMIT 1`,
      )
      .get(now - ABANDONED_MS) as { n: number } | undefined;
  const run = find();
  return run === undefined ? 0 : connection.write(() => endSteps(context, run.n, limit, now));
}

function endSteps(context: Context, run: number, limit: number, now: number): number {
  const ended = rows<{ stream: number }>(
    context.connection
      .sql(
        `UPDATE tasks SET state = ${STATE.cancelled}, ended_at = ? WHERE id IN
           (SELECT t.id FROM streams s CROSS JOIN tasks t ON t.stream = s.id WHERE s.run = ? AND t.state = ${STATE.pending} LIMIT ?)
         RETURNING stream`,
      )
      .all(now, run, limit),
  );
  changeAllCounters(
    context,
    // In order of id, like every writer, against deadlocks.
    ended.toSorted((a, b) => a.stream - b.stream).map(({ stream }) => [stream, { pending: -1, cancelled: 1 }]),
  );
  return ended.length;
}
