import { type RunState, TERMINAL_RUN_STATES } from "../../domain/states.ts";
import type { Slot, SlotStart } from "../job-records.ts";
import type { NewRun, NewTask, RunRecord } from "../port.ts";
import { bumpControl, type Context, rows } from "./context.ts";
import { moveRun } from "./move-run.ts";
import { insertRunWithTasks } from "./enqueue.ts";
import { makeOnceWithin } from "./once.ts";

const ended = TERMINAL_RUN_STATES.map((name) => `'${name}'`).join(", ");

export function passSlot(context: Context, slot: Pick<Slot, "jobId" | "at" | "next">): boolean {
  return context.connection.write(() => pass(context, slot), { durable: true });
}

function pass({ connection }: Context, { jobId, at, next }: Pick<Slot, "jobId" | "at" | "next">): boolean {
  return connection.sql("UPDATE jobs SET next_at = ? WHERE id = ? AND next_at = ?").run(next, jobId, at).changes === 1;
}

/** The slot is passed in the transaction that starts its run: there is no moment in which only one of them holds. */
export function startSlot(
  context: Context,
  run: NewRun,
  tasks: readonly NewTask[],
  slot: Slot,
  now: number,
): Promise<SlotStart<RunRecord>> {
  return context.connection.writeTogether(() => {
    if (!pass(context, slot)) return { kind: "gone" };
    // A clock that was set back brings a slot a second time: the key remembers that it had its run.
    const key = `schedule ${slot.jobId} ${slot.at}`;
    const { made, replayed } = makeOnceWithin<SlotStart<RunRecord>>(context, { key, fingerprint: key }, now, () => ({
      made: decide(context, run, tasks, slot, now),
      lanes: [],
    }));
    return replayed ? { kind: "gone" } : made;
  });
}

function decide(
  context: Context,
  run: NewRun,
  tasks: readonly NewTask[],
  slot: Slot,
  now: number,
): SlotStart<RunRecord> {
  const live = slot.overlap === "queue" ? [] : liveRuns(context, slot.jobId);
  // Who waits for a person waits longest, and is to be told of first.
  const by = live.find(({ status }) => status === "waiting_for_human") ?? live[0];
  if (slot.overlap === "skip" && by !== undefined) return { kind: "blocked", by: { id: by.id, status: by.status } };
  for (const { n } of live) moveRun(context, n, "cancelled", "Run cancelled: its schedule starts the next one", now);
  if (live.length > 0) bumpControl(context);
  return { kind: "started", ...insertRunWithTasks(context, run, tasks, now), cancelled: live.map(({ id }) => id) };
}

/** A workflow that somebody made to be started later is not at work, and might never be. */
const started = "(kind <> 'workflow' OR status <> 'queued')";

function liveRuns({ connection }: Context, jobId: string): { n: number; id: string; status: RunState }[] {
  return rows(
    connection
      .sql(`SELECT n, id, status FROM runs WHERE job = ? AND status NOT IN (${ended}) AND ${started} ORDER BY n`)
      .all(jobId),
  );
}
