import { SLOT_OUTCOMES, type ScheduledTime, type SlotOutcome } from "../../../domain/lane/slots.ts";
import { type RunState, TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { NewRun, NewTask, RunRecord } from "../../ports/port.ts";
import {
  MOST_QUEUED,
  type PassedSlots,
  type ScheduleStore,
  type Slot,
  type SlotRecord,
  type SlotStart,
} from "../../ports/schedule-port.ts";
import { bumpControl, type Context, rows } from "../kernel/context.ts";
import { insertRunWithTasks } from "../tasks/enqueue.ts";
import { dueJobs, jobNumber, nextDueAt } from "./jobs.ts";
import { moveRun } from "../runs/move-run.ts";

const ended = TERMINAL_RUN_STATES.map((name) => `'${name}'`).join(", ");

export function scheduleStore(context: Context): ScheduleStore {
  return {
    dueJobs: async (now, limit, after) => dueJobs(context, now, limit, after),
    nextDueAt: async () => nextDueAt(context),
    passSlots: async (jobId, slots, next, now) => passSlots(context, jobId, slots, next, now),
    startSlot: (run, tasks, slot, now) => startSlot(context, run, tasks, slot, now),
    runsInTurn: async (limit) => runsInTurn(context, limit),
    slots: async (jobId, filter) => readSlots(context, jobId, filter),
    slotCounts: async (jobIds) => readCounts(context, jobIds),
    slotTotals: async () => readTotals(context),
  };
}

function passSlots(
  context: Context,
  jobId: string,
  slots: PassedSlots,
  next: ScheduledTime | null,
  now: number,
): boolean {
  return context.connection.write(
    () => {
      const job = pass(context, jobId, slots.at, next);
      if (job === null) return false;
      if (slots.at > lastNoted(context, job)) note(context, job, { ...slots, runId: null }, now);
      return true;
    },
    { durable: true },
  );
}

/** The job's number, if it waited for that time until now. */
function pass({ connection }: Context, jobId: string, slot: number, next: ScheduledTime | null): number | null {
  const row = connection
    .sql("UPDATE jobs SET next_slot = ?, next_at = ? WHERE id = ? AND next_slot = ? RETURNING n")
    .get(next?.slot ?? null, next?.at ?? null, jobId, slot) as { n: number } | undefined;
  return row?.n ?? null;
}

/** A clock that was set back brings times a second time: what is not later than this has been dealt with. */
function lastNoted({ connection }: Context, job: number): number {
  const row = connection.sql("SELECT until FROM slots WHERE job = ? ORDER BY at DESC LIMIT 1").get(job);
  return Number(row?.["until"] ?? Number.MIN_SAFE_INTEGER);
}

const KEPT = 1000;

function note(
  { connection }: Context,
  job: number,
  slot: Pick<SlotRecord, "at" | "until" | "count" | "outcome" | "runId" | "message">,
  now: number,
): void {
  connection
    .sql("INSERT INTO slots VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
    .run(job, slot.at, slot.until, slot.count, slot.outcome, slot.runId, slot.message, now);
  connection
    .sql(
      "INSERT INTO slot_counts VALUES (?, ?, ?) ON CONFLICT (job, outcome) DO UPDATE SET count = slot_counts.count + excluded.count",
    )
    .run(job, slot.outcome, slot.count);
  connection
    .sql(
      `DELETE FROM slots WHERE job = ?1 AND at <=
       (SELECT at FROM slots WHERE job = ?1 ORDER BY at DESC LIMIT 1 OFFSET ${KEPT})`,
    )
    .run(job);
}

/** The slot is passed in the transaction that starts its run: there is no moment in which only one of them holds. */
function startSlot(
  context: Context,
  run: NewRun,
  tasks: readonly NewTask[],
  slot: Slot,
  now: number,
): Promise<SlotStart<RunRecord>> {
  return context.connection.writeTogether(() => {
    const { missed } = slot;
    const job = pass(context, slot.jobId, missed?.at ?? slot.at, slot.next);
    if (job === null) return { kind: "gone" };
    const before = lastNoted(context, job);
    if (missed !== undefined && missed.at > before) note(context, job, { ...missed, runId: null }, now);
    if (slot.at <= before) return { kind: "gone" };
    const start = decide(context, run, tasks, slot, now);
    const what = { at: slot.at, until: slot.at, count: 1 };
    if (start.kind === "started")
      note(context, job, { ...what, outcome: "started", runId: start.made.id, message: null }, now);
    if (start.kind === "blocked") {
      const why = start.waiting ? `${MOST_QUEUED} runs wait already for` : "not at its end:";
      const message = `${why} run ${start.by.id}, which is ${start.by.status}`;
      note(context, job, { ...what, outcome: "skipped", runId: start.by.id, message }, now);
    }
    return start;
  });
}

function decide(
  context: Context,
  run: NewRun,
  tasks: readonly NewTask[],
  slot: Slot,
  now: number,
): SlotStart<RunRecord> {
  const live = liveRuns(context, slot.jobId);
  // Who waits for a person waits longest, and is to be told of first.
  const by = live.find(({ status }) => status === "waiting_for_human") ?? live[0];
  const waiting = live.filter(({ queued }) => queued === 1).length >= MOST_QUEUED;
  if (by !== undefined && (slot.overlap === "skip" || (slot.overlap === "queue" && waiting)))
    return { kind: "blocked", by: { id: by.id, status: by.status }, waiting: slot.overlap === "queue" };
  const last = live.at(-1);
  if (slot.overlap === "queue" && last !== undefined) {
    const message = `Waiting for the previous run of its schedule (${last.id}) to end`;
    const hold = { reason: "previous_run", since: now, until: null, message } as const;
    return { kind: "started", ...insertRunWithTasks(context, { ...run, hold }, tasks, now), cancelled: [] };
  }
  const event = { type: "run.cancelled", message: "Run cancelled: its schedule starts the next one" } as const;
  for (const { n } of live) moveRun(context, n, "cancelled", event, now);
  if (live.length > 0) bumpControl(context);
  return { kind: "started", ...insertRunWithTasks(context, run, tasks, now), cancelled: live.map(({ id }) => id) };
}

/** A workflow that somebody made to be started later is not at work, and might never be. */
const started = "(r.kind <> 'workflow' OR r.status <> 'queued' OR r.hold IS NOT NULL)";
const queued = "json_extract(r.hold, '$.reason') = 'previous_run'";

function liveRuns(
  { connection }: Context,
  jobId: string,
): { n: number; id: string; status: RunState; queued: number }[] {
  return rows(
    connection
      .sql(
        `SELECT r.n, r.id, r.status, coalesce(${queued}, FALSE) AS queued FROM runs r
         WHERE r.job = ? AND r.status NOT IN (${ended}) AND ${started} ORDER BY r.n`,
      )
      .all(jobId),
  );
}

function runsInTurn({ connection }: Context, limit: number): string[] {
  const list = connection
    .sql(
      `SELECT w.id FROM runs w WHERE w.hold IS NOT NULL AND json_extract(w.hold, '$.reason') = 'previous_run' AND NOT EXISTS
         (SELECT 1 FROM runs r WHERE r.job = w.job AND r.n < w.n AND r.status NOT IN (${ended}) AND ${started})
       ORDER BY w.n LIMIT ?`,
    )
    .all(limit);
  return rows<{ id: string }>(list).map(({ id }) => id);
}

function readSlots(
  context: Context,
  jobId: string,
  { outcome, after, limit }: { outcome?: SlotOutcome; after?: number; limit: number },
): SlotRecord[] {
  const list = context.connection
    .sql(
      "SELECT * FROM slots WHERE job = ? AND at < ? AND (CAST(?3 AS TEXT) IS NULL OR outcome = ?3) ORDER BY at DESC LIMIT ?4",
    )
    .all(jobNumber(context, jobId), after ?? Number.MAX_SAFE_INTEGER, outcome ?? null, limit);
  type SlotRow = Omit<SlotRecord, "jobId" | "runId" | "notedAt"> & { run: string | null; noted_at: number };
  return rows<SlotRow>(list).map(({ at, until, count, outcome: became, run, message, noted_at: notedAt }) => {
    return { jobId, at, until, count, outcome: became, runId: run, message, notedAt };
  });
}

const none = () => Object.fromEntries(SLOT_OUTCOMES.map((name) => [name, 0])) as Record<SlotOutcome, number>;

function readTotals({ connection }: Context): Record<SlotOutcome, number> {
  const list = connection.sql("SELECT outcome, sum(count) AS count FROM slot_counts GROUP BY outcome").all();
  const sums = rows<{ outcome: SlotOutcome; count: number }>(list).map(({ outcome, count }) => [outcome, count]);
  return { ...none(), ...Object.fromEntries(sums) };
}

function readCounts({ connection }: Context, jobIds: readonly string[]): Map<string, Record<SlotOutcome, number>> {
  const counts = new Map(jobIds.map((id) => [id, none()]));
  const list = connection
    .sql(
      `SELECT j.id, c.outcome, c.count FROM json_each(?) k JOIN jobs j ON j.id = k.value JOIN slot_counts c ON c.job = j.n`,
    )
    .all(JSON.stringify(jobIds));
  for (const { id, outcome, count } of rows<{ id: string; outcome: SlotOutcome; count: number }>(list))
    (counts.get(id) ?? none())[outcome] = count;
  return counts;
}
