/** Puts a step to sleep: without lease, slot or spent attempt; creates what it waits for in the same transaction. */
import type { SettledTask } from "../../ports/port.ts";
import type { StepSleep } from "../../ports/workflow-port.ts";
import { type Context, NEVER } from "../kernel/context.ts";
import { insertRunWithTasks } from "../tasks/enqueue.ts";
import { laneGotWork } from "../runs/move-run.ts";
import { keepTimeLeft } from "./step-time.ts";
import type { CounterDeltas } from "../tasks/counter-deltas.ts";
import { openSlots, type StepItems } from "./workflow-items.ts";
import { IS_CLAIMED, keepTask, proofOf } from "../tasks/write-task.ts";

/** False: the step was no longer ours, and nothing was written. */
export function putToSleep(
  context: Context,
  settled: SettledTask,
  sleep: StepSleep,
  deltas: CounterDeltas,
  opened: Set<string>,
  now: number,
): boolean {
  const { connection } = context;
  const { task } = settled;
  const owner = connection
    .sql(
      `SELECT r.n AS run, r.generation FROM tasks t JOIN streams s ON s.id = t.stream JOIN runs r ON r.n = s.run
       WHERE ${IS_CLAIMED}`,
    )
    .get(...proofOf(task)) as { run: number; generation: number } | undefined;
  if (owner === undefined) {
    deltas.missed.push(task.row);
    return false;
  }
  const memory = sleep.memory;
  const readyAt = sleep.until ?? NEVER;
  if (sleep.leftMs !== undefined) keepTimeLeft(context, task.row, sleep.leftMs, now);
  if (sleep.items !== undefined) {
    const step = connection.sql("SELECT * FROM steps WHERE task = ?").get(task.row) as unknown as StepItems;
    const inFlight = openSlots(context, step, task.runId, sleep.items, deltas, opened);
    if (inFlight > 0)
      return keepTask(context, settled, "retrying", deltas, {
        memory,
        readyAt,
        outcome: { waiting: { for: "items" } },
      });
    // Nothing is left to wait for.
    opened.add(laneGotWork(context, task.streamId));
    return keepTask(context, settled, "queued", deltas, { memory });
  }
  if (sleep.child === undefined)
    return keepTask(context, settled, "retrying", deltas, {
      memory,
      readyAt,
      outcome: { waiting: { for: "time", until: readyAt } },
    });
  const { run, tasks } = sleep.child;
  const { created, lanes } = insertRunWithTasks(context, run, tasks, now, { ...owner, task: task.row });
  for (const lane of lanes) opened.add(lane);
  const waiting = { for: "run", runId: created.id };
  return keepTask(context, settled, "retrying", deltas, { memory, readyAt, outcome: { waiting } });
}
