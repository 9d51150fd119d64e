/** What is written of a task itself when it ends or goes on. */
import { NEVER_FETCHED } from "../../domain/crawl-end.ts";
import type { TaskState } from "../../domain/states.ts";
import type { SettledTask } from "../port.ts";
import { type Context, STATE } from "./context.ts";
import { packAttempts } from "./history.ts";
import { noteLoose } from "./retention.ts";
import type { Tally } from "./tally.ts";

// The stream is part of the proof: a task that moved to another lane since it was claimed is not touched.
const END_TASK = `UPDATE tasks SET state = ?, tries = ?, attempts = ?, outcome = ?, ended_at = ? WHERE id = ? AND stream = ? AND state = ${STATE.running}`;

const KEEP_TASK = `UPDATE tasks SET state = ?, tries = ?, waits = ?, ready_at = ?, attempts = ?, outcome = ?, stream = ?, next_url = ?
  WHERE id = ? AND stream = ? AND state = ${STATE.running}`;

/** Nothing is written for a run after its end: what comes late is dropped, whatever it was. */
export function dropTask(context: Context, { task, verdict, report }: SettledTask, tally: Tally, now: number): void {
  const files = [...(verdict.kind === "completed" ? verdict.artifacts : []), ...(report?.evidence ?? [])];
  noteLoose(
    context,
    files.map(({ hash }) => hash),
  );
  const { changes } = context.connection
    .sql(END_TASK)
    .run(STATE.cancelled, task.tries, packAttempts(task.attempts, null), null, now, task.row, task.streamId);
  if (changes === 1) tally.move(task.streamId, task.streamId, "cancelled", false);
}

/** Writes a task's end; false when it was not ours to end. */
export function endTask(
  context: Context,
  settled: SettledTask,
  state: TaskState,
  outcome: unknown,
  tally: Tally,
  now: number,
): boolean {
  const { task, attempt } = settled;
  const { changes } = context.connection
    .sql(END_TASK)
    .run(
      STATE[state],
      task.tries + 1,
      packAttempts(task.attempts, attempt),
      outcome === null ? null : JSON.stringify(outcome),
      now,
      task.row,
      task.streamId,
    );
  if (changes !== 1) {
    tally.missed.push(task.row);
    return false;
  }
  const { verdict } = settled;
  const unfetched = verdict.kind === "failed" && NEVER_FETCHED.includes(verdict.failure.reason);
  tally.move(task.streamId, task.streamId, state, unfetched);
  tally.pace.note(settled, state);
  return true;
}

interface Kept {
  tries?: number;
  waits?: number;
  readyAt?: number;
  outcome?: Record<string, unknown>;
  redirects?: readonly string[];
  stream?: number;
  url?: string;
  /** Instead of what is remembered otherwise. */
  memory?: unknown;
}

/** Writes that a task goes on, in its lane or another. */
export function keepTask(
  { connection }: Context,
  { task, attempt, report }: SettledTask,
  state: TaskState,
  tally: Tally,
  more: Kept,
): boolean {
  const stream = more.stream ?? task.streamId;
  const memory = more.memory === undefined ? (report?.memory ?? task.memory) : more.memory;
  const redirects = more.redirects ?? task.redirects;
  const rest = {
    ...more.outcome,
    ...(redirects.length === 0 ? {} : { redirects }),
    ...(memory === null ? {} : { memory }),
  };
  const outcome = Object.keys(rest).length === 0 ? null : rest;
  const { changes } = connection
    .sql(KEEP_TASK)
    .run(
      STATE[state],
      more.tries ?? task.tries,
      more.waits ?? task.waits,
      Math.round(more.readyAt ?? 0),
      packAttempts(task.attempts, attempt),
      outcome === null ? null : JSON.stringify(outcome),
      stream,
      more.url ?? task.nextUrl,
      task.row,
      task.streamId,
    );
  if (changes !== 1) return false;
  tally.move(task.streamId, stream, state, false);
  return true;
}
