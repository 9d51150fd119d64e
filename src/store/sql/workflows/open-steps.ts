/** Queues workflow steps: once none of a step's dependencies is open, it is queued in its own lane. */
import type { ClaimedTask } from "../../ports/port.ts";
import { stepNameOf } from "../../../domain/workflow/definition.ts";
import { appendEvent, type Context, rows, STATE } from "../kernel/context.ts";
import { laneGotWork } from "../runs/move-run.ts";
import { CounterDeltas } from "../tasks/counter-deltas.ts";

/** Queues pending steps whose dependencies are done. */
export function openSteps(
  context: Context,
  tasks: readonly number[],
  deltas: CounterDeltas,
  opened: Set<string>,
): void {
  const open = context.connection.sql(
    `UPDATE tasks SET state = ${STATE.queued} WHERE id = ? AND state = ${STATE.pending} RETURNING stream`,
  );
  for (const task of tasks) {
    const row = open.get(task) as { stream: number } | undefined;
    if (row === undefined) continue;
    deltas.shift(row.stream, "pending", row.stream, "queued");
    opened.add(laneGotWork(context, row.stream));
  }
}

/** Queues the steps of a run without open dependencies; returns the lanes that got work. */
export function openReadySteps(context: Context, run: number): string[] {
  const ready = context.connection
    .sql(
      `SELECT p.task FROM steps p JOIN tasks t ON t.id = p.task
       WHERE p.run = ? AND p.open_deps = 0 AND t.state = ${STATE.pending} ORDER BY p.idx`,
    )
    .all(run);
  const opened = new Set<string>();
  const deltas = new CounterDeltas();
  openSteps(
    context,
    rows<{ task: number }>(ready).map(({ task }) => task),
    deltas,
    opened,
  );
  deltas.apply(context);
  return [...opened];
}

/** The attempt limit of a step, or of the step of an item. */
export function maxAttemptsOfStep({ connection }: Context, task: number): number {
  const row = connection
    .sql(
      "SELECT max_retries + 1 AS tries FROM steps WHERE task = (SELECT coalesce(item_of, id) FROM tasks WHERE id = ?)",
    )
    .get(task) as { tries: number };
  return row.tries;
}

/** Steps were claimed: for the first time in this generation, or again after a sleep or a crash. */
export function stepsStarted(context: Context, run: number, tasks: readonly ClaimedTask[], now: number): void {
  for (const task of tasks) {
    // Items have no events.
    if (task.auxiliary) continue;
    const first = context.connection
      .sql("UPDATE steps SET started_at = ?1, updated_at = ?1 WHERE task = ?2 AND started_at IS NULL")
      .run(now, task.row);
    if (first.changes === 0) continue;
    const name = stepNameOf(task.key);
    appendEvent(
      context,
      run,
      {
        type: "workflow.step_started",
        level: "info",
        message: `Step ${name} started`,
        meta: { step: name, task_id: task.id },
      },
      now,
    );
  }
}
