/** Writes the row of a task when it ends or continues. */
import { NEVER_FETCHED } from "../../../domain/crawl/crawl-end.ts";
import type { TaskState } from "../../../domain/run/states.ts";
import type { ClaimedTask, SettledTask } from "../../ports/port.ts";
import type { ForEachChanged, Value } from "../kernel/connection.ts";
import { type Context, STATE } from "../kernel/context.ts";
import { packAttempts } from "./history.ts";
import { recordOrphanedFiles } from "../runs/orphaned-files.ts";
import type { CounterDeltas } from "./counter-deltas.ts";

/**
 * The stream is part of the proof: a task that moved to another lane since its claim is not touched. So is the claim
 * counter: outcomes sent again, because the response was lost, touch nothing that was claimed again since.
 */
const WHERE_CLAIMED = `WHERE tasks.id = new.id AND tasks.stream = new.stream AND tasks.claims = new.claim AND tasks.state = ${STATE.running}`;

/** The same condition on a task `t`, with the parameters of `proofOf`. */
export const IS_CLAIMED = `t.id = ? AND t.stream = ? AND t.claims = ? AND t.state = ${STATE.running}`;

export function proofOf({ row, streamId, claim }: ClaimedTask): [row: number, stream: number, claim: number] {
  return [row, streamId, claim];
}

const END_TASK: ForEachChanged = {
  text: `UPDATE tasks SET state = new.to_state, tries = new.tries, attempts = new.attempts, outcome = new.outcome,
    ended_at = new.ended_at FROM new ${WHERE_CLAIMED}`,
  columns: {
    to_state: "bigint",
    tries: "bigint",
    attempts: "text",
    outcome: "text",
    ended_at: "bigint",
    id: "bigint",
    stream: "bigint",
    claim: "bigint",
  },
  key: "tasks.id",
};

/** With a content key. Separate, because naming an indexed column costs time in SQLite. */
const END_PAGE: ForEachChanged = {
  text: END_TASK.text.replace(" FROM new", ", content = new.content FROM new"),
  columns: { ...END_TASK.columns, content: "bytea" },
  key: END_TASK.key,
};

const KEEP_TASK: ForEachChanged = {
  text: `UPDATE tasks SET state = new.to_state, tries = new.tries, waits = new.waits, ready_at = new.ready_at,
    attempts = new.attempts, outcome = new.outcome, stream = new.to_stream, next_url = new.next_url FROM new ${WHERE_CLAIMED}`,
  columns: {
    to_state: "bigint",
    tries: "bigint",
    waits: "bigint",
    ready_at: "bigint",
    attempts: "text",
    outcome: "text",
    to_stream: "bigint",
    next_url: "text",
    id: "bigint",
    stream: "bigint",
    claim: "bigint",
  },
  key: "tasks.id",
};

/** Drops outcomes that arrive after the end of their run. */
export function dropTasks(context: Context, list: readonly SettledTask[], deltas: CounterDeltas, now: number): void {
  const { connection } = context;
  const files = list.flatMap(({ verdict, report }) => [
    ...(verdict.kind === "completed" ? verdict.artifacts : []),
    ...(report?.evidence ?? []),
  ]);
  recordOrphanedFiles(
    context,
    files.map(({ hash }) => hash),
  );
  const rows = list.map(({ task }) => [
    STATE.cancelled,
    task.tries,
    packAttempts(task.attempts, null),
    null,
    now,
    task.row,
    task.streamId,
    task.claim,
  ]);
  const ended = connection.dialect.eachChanged(connection, END_TASK, rows);
  for (const [index, { task }] of list.entries())
    if (ended[index] === true) deltas.move(task.streamId, task.streamId, "cancelled", false);
    else deltas.missed.push(task.row);
}

/** How a task ends. */
export interface TaskEnd {
  settled: SettledTask;
  state: TaskState;
  outcome: unknown;
  /** The content key, if the page is the first of its run with this content. */
  content?: Uint8Array;
  /** The content key, if another page had this content first. */
  repeats?: Uint8Array;
}

/** Ends tasks, at most one entry per task; false where the task was no longer ours. */
export function endTasks(context: Context, list: readonly TaskEnd[], deltas: CounterDeltas, now: number): boolean[] {
  const { connection } = context;
  const hasContent = list.some(({ content }) => content !== undefined);
  const rows = list.map(({ settled: { task, attempt }, state, outcome }): Value[] => [
    STATE[state],
    task.tries + 1,
    packAttempts(task.attempts, attempt),
    outcome === null ? null : JSON.stringify(outcome),
    now,
    task.row,
    task.streamId,
    task.claim,
  ]);
  if (hasContent) for (const [index, { content = null }] of list.entries()) rows[index]?.push(content);
  const ended = connection.dialect.eachChanged(connection, hasContent ? END_PAGE : END_TASK, rows);
  for (const [index, { settled, state }] of list.entries()) {
    const { task, verdict } = settled;
    if (ended[index] !== true) {
      deltas.missed.push(task.row);
      continue;
    }
    const unfetched = verdict.kind === "failed" && NEVER_FETCHED.includes(verdict.failure.reason);
    deltas.move(task.streamId, task.streamId, state, unfetched);
    deltas.throughput.note(settled, state);
  }
  return ended;
}

export interface Kept {
  tries?: number;
  waits?: number;
  readyAt?: number;
  outcome?: Record<string, unknown>;
  redirects?: readonly string[];
  stream?: number;
  url?: string;
  /** Replaces the task's memory. */
  memory?: unknown;
}

/** How a task continues, in its lane or another. */
export interface TaskKept {
  settled: SettledTask;
  state: TaskState;
  more: Kept;
}

export function keepTask(
  context: Context,
  settled: SettledTask,
  state: TaskState,
  deltas: CounterDeltas,
  more: Kept,
): boolean {
  return keepTasks(context, [{ settled, state, more }], deltas)[0] === true;
}

/** Continues tasks, at most one entry per task; false where the task was no longer ours. */
export function keepTasks({ connection }: Context, list: readonly TaskKept[], deltas: CounterDeltas): boolean[] {
  const kept = connection.dialect.eachChanged(connection, KEEP_TASK, list.map(keptRow));
  for (const [index, { settled, state, more }] of list.entries()) {
    const { streamId, row } = settled.task;
    if (kept[index] === true) deltas.move(streamId, more.stream ?? streamId, state, false);
    else deltas.missed.push(row);
  }
  return kept;
}

function keptRow({ settled: { task, attempt, report }, state, more }: TaskKept): Value[] {
  const memory = more.memory === undefined ? (report?.memory ?? task.memory) : more.memory;
  const redirects = more.redirects ?? task.redirects;
  const rest = {
    ...more.outcome,
    ...(redirects.length === 0 ? {} : { redirects }),
    ...(memory === null ? {} : { memory }),
  };
  return [
    STATE[state],
    more.tries ?? task.tries,
    more.waits ?? task.waits,
    Math.round(more.readyAt ?? 0),
    packAttempts(task.attempts, attempt),
    Object.keys(rest).length === 0 ? null : JSON.stringify(rest),
    more.stream ?? task.streamId,
    more.url ?? task.nextUrl,
    task.row,
    task.streamId,
    task.claim,
  ];
}
