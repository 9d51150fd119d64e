import { TERMINAL_RUN_STATES } from "../../domain/states.ts";
import type { Made, Once } from "../job-records.ts";
import type { Enqueued, NewRun, NewTask, Requeued, RunRecord } from "../port.ts";
import {
  bumpControl,
  changeCounters,
  type Context,
  keyHash,
  reopenRun,
  rows,
  stampIdleLane,
  STATE,
} from "./context.ts";
import { writeCap } from "./budgets.ts";
import { recountErrors } from "./crawls.ts";
import { insertTasks } from "./insert-tasks.ts";
import { makeOnce } from "./once.ts";
import { insertRun, requireRun } from "./runs.ts";

export function enqueue(context: Context, runId: string, tasks: readonly NewTask[], now: number): Enqueued {
  // Hashing happens before the lock is taken: other writers wait only for the inserts.
  const hashes = tasks.map((task) => keyHash(runId, task.key));
  return context.connection.write(
    () => {
      const run = requireRun(context, runId);
      const { added: grown, lanes } = insertTasks(context, run.n, tasks, hashes, now);
      const added = grown.pages + grown.aside;
      const reopened = added > 0 && TERMINAL_RUN_STATES.includes(run.status);
      if (reopened) reopenRun(context, run.n, `Run reopened: ${added} added`, now);
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
): { made: RunRecord; lanes: string[] } {
  const made = insertRun(context, run, now);
  if (run.budget !== undefined) writeCap(context, run.budget.key, run.budget.cap);
  const hashes = tasks.map((task) => keyHash(made.id, task.key));
  const { added, lanes } = insertTasks(context, requireRun(context, made.id).n, tasks, hashes, now);
  context.connection.sql("UPDATE runs SET pages_known = ? WHERE id = ?").run(added.pages, made.id);
  return { made: { ...made, pagesKnown: added.pages }, lanes };
}

export function retryFailed(
  context: Context,
  runId: string,
  options: { lane?: string; limit: number },
  now: number,
): Requeued {
  const { connection } = context;
  return connection.write(
    () => {
      const run = requireRun(context, runId);
      const lanes = new Set<string>();
      const requeue = (aside: 0 | 1, limit: number): number => {
        const streams = rows<{ id: number; lane: number; name: string }>(
          connection
            .sql(
              `SELECT s.id, s.lane, l.lane AS name FROM streams s JOIN lanes l ON l.id = s.lane
               WHERE s.run = ? AND s.failed > 0 AND s.aside = ? AND (? IS NULL OR l.lane = ?)`,
            )
            .all(run.n, aside, options.lane ?? null, options.lane ?? null),
        );
        let requeued = 0;
        for (const stream of streams) {
          const moved = requeueFailed(context, stream, limit - requeued);
          requeued += moved;
          if (moved > 0) lanes.add(stream.name);
          if (requeued >= limit) break;
        }
        return requeued;
      };
      const requeued = requeue(0, options.limit);
      // There are never many of them, and nobody has counted them among what failed.
      if (requeued > 0) requeue(1, Number.MAX_SAFE_INTEGER);
      if (requeued > 0) {
        if (run.kind === "crawl") recountErrors(context, run.n, STATE.failed);
        if (TERMINAL_RUN_STATES.includes(run.status)) {
          reopenRun(context, run.n, `Run reopened: ${requeued} failed tasks tried again`, now);
        }
        bumpControl(context);
      }
      return { requeued, lanes: [...lanes] };
    },
    { durable: true },
  );
}

function requeueFailed(context: Context, stream: { id: number; lane: number }, limit: number): number {
  const { connection } = context;
  const { changes } = connection
    .sql(
      `UPDATE tasks SET state = ${STATE.queued}, tries = 0, waits = 0, ready_at = 0, ended_at = NULL WHERE id IN
       (SELECT id FROM tasks WHERE stream = ? AND state = ${STATE.failed} ORDER BY id LIMIT ?)`,
    )
    .run(stream.id, limit);
  const moved = Number(changes);
  if (moved === 0) return 0;
  changeCounters(context, stream.id, { failed: -moved, queued: moved });
  stampIdleLane(context, stream.lane);
  // Whoever asks for another try also asks for it at a site that was given up: it gets its probes anew.
  connection.sql("UPDATE sites SET breaker_failed_probes = 0 WHERE lane = ?").run(stream.lane);
  return moved;
}
