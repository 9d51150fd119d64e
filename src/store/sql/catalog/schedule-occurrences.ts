import {
  OCCURRENCE_OUTCOMES,
  type ScheduledTime,
  type OccurrenceOutcome,
} from "../../../domain/run/schedule-occurrences.ts";
import { type RunState, TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { NewRun, NewTask, RunRecord } from "../../ports/port.ts";
import {
  MOST_QUEUED,
  type SkippedOccurrences,
  type ScheduleStore,
  type DueOccurrence,
  type ScheduleOccurrence,
  type OccurrenceStart,
} from "../../ports/schedule-port.ts";
import { bumpControl, type Context, rows } from "../kernel/context.ts";
import { insertRunWithTasks } from "../tasks/enqueue.ts";
import { hiddenRunsOf } from "../kernel/caller-limits.ts";
import { actingAs } from "../kernel/audit-entry.ts";
import { dueJobs, jobNumber, nextDueAt } from "./jobs.ts";
import { moveRun } from "../runs/move-run.ts";

const ended = TERMINAL_RUN_STATES.map((name) => `'${name}'`).join(", ");

export function scheduleStore(context: Context): ScheduleStore {
  return {
    dueJobs: async (now, limit, after) => dueJobs(context, now, limit, after),
    nextDueAt: async () => nextDueAt(context),
    skipOccurrences: async (jobId, skipped, next, now) => skipOccurrences(context, jobId, skipped, next, now),
    startOccurrence: (run, tasks, occurrence, now) => startOccurrence(context, run, tasks, occurrence, now),
    runsInTurn: async (limit) => runsInTurn(context, limit),
    scheduleOccurrences: async (jobId, filter) => readOccurrences(context, jobId, filter),
    occurrenceCounts: async (jobIds) => readCounts(context, jobIds),
    occurrenceTotals: async () => readTotals(context),
  };
}

function skipOccurrences(
  context: Context,
  jobId: string,
  skipped: SkippedOccurrences,
  next: ScheduledTime | null,
  now: number,
): boolean {
  return context.connection.write(
    () => {
      const job = advanceJob(context, jobId, skipped.at, next);
      if (job === null) return false;
      if (skipped.at > lastNoted(context, job)) recordOccurrence(context, job, { ...skipped, runId: null }, now);
      return true;
    },
    { durable: true },
  );
}

/** Moves the job to its next time; returns its number, or null if it did not wait for this one. */
function advanceJob(
  { connection }: Context,
  jobId: string,
  occurrence: number,
  next: ScheduledTime | null,
): number | null {
  const row = connection
    .sql("UPDATE jobs SET next_occurrence_at = ?, next_at = ? WHERE id = ? AND next_occurrence_at = ? RETURNING n")
    .get(next?.scheduledAt ?? null, next?.at ?? null, jobId, occurrence) as { n: number } | undefined;
  return row?.n ?? null;
}

/** After the clock was set back, times occur again: those up to this one are handled. */
function lastNoted({ connection }: Context, job: number): number {
  const row = connection.sql("SELECT until FROM schedule_occurrences WHERE job = ? ORDER BY at DESC LIMIT 1").get(job);
  return Number(row?.["until"] ?? Number.MIN_SAFE_INTEGER);
}

const MAX_KEPT = 1000;

function recordOccurrence(
  { connection }: Context,
  job: number,
  occurrence: Pick<ScheduleOccurrence, "at" | "until" | "count" | "outcome" | "runId" | "message">,
  now: number,
): void {
  connection
    .sql("INSERT INTO schedule_occurrences VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
    .run(
      job,
      occurrence.at,
      occurrence.until,
      occurrence.count,
      occurrence.outcome,
      occurrence.runId,
      occurrence.message,
      now,
    );
  connection
    .sql(
      "INSERT INTO schedule_outcome_counts VALUES (?, ?, ?) ON CONFLICT (job, outcome) DO UPDATE SET count = schedule_outcome_counts.count + excluded.count",
    )
    .run(job, occurrence.outcome, occurrence.count);
  connection
    .sql(
      `DELETE FROM schedule_occurrences WHERE job = ?1 AND at <=
       (SELECT at FROM schedule_occurrences WHERE job = ?1 ORDER BY at DESC LIMIT 1 OFFSET ${MAX_KEPT})`,
    )
    .run(job);
}

/** One transaction starts the run and moves the job on. */
function startOccurrence(
  context: Context,
  run: NewRun,
  tasks: readonly NewTask[],
  occurrence: DueOccurrence,
  now: number,
): Promise<OccurrenceStart<RunRecord>> {
  return context.connection.writeTogether(() => {
    const { missed } = occurrence;
    const job = advanceJob(context, occurrence.jobId, missed?.at ?? occurrence.at, occurrence.next);
    if (job === null) return { kind: "gone" };
    const before = lastNoted(context, job);
    if (missed !== undefined && missed.at > before) recordOccurrence(context, job, { ...missed, runId: null }, now);
    if (occurrence.at <= before) return { kind: "gone" };
    const actor = { kind: "schedule", id: occurrence.jobId, name: run.name ?? run.url ?? occurrence.jobId } as const;
    const start = actingAs(actor, () => startUnlessBlocked(context, run, tasks, occurrence, now));
    const times = { at: occurrence.at, until: occurrence.at, count: 1 };
    if (start.kind === "started")
      recordOccurrence(context, job, { ...times, outcome: "started", runId: start.created.id, message: null }, now);
    if (start.kind === "blocked") {
      const why = start.waiting ? `${MOST_QUEUED} runs already wait for` : "the previous run has not ended:";
      const message = `${why} run ${start.by.id}, which is ${start.by.status}`;
      recordOccurrence(context, job, { ...times, outcome: "skipped", runId: start.by.id, message }, now);
    }
    return start;
  });
}

function startUnlessBlocked(
  context: Context,
  run: NewRun,
  tasks: readonly NewTask[],
  occurrence: DueOccurrence,
  now: number,
): OccurrenceStart<RunRecord> {
  const live = liveRuns(context, occurrence.jobId);
  // A run that waits for a person blocks longest: reported first.
  const by = live.find(({ status }) => status === "waiting_for_human") ?? live[0];
  const waiting = live.filter(({ queued }) => queued === 1).length >= MOST_QUEUED;
  if (by !== undefined && (occurrence.overlap === "skip" || (occurrence.overlap === "queue" && waiting)))
    return { kind: "blocked", by: { id: by.id, status: by.status }, waiting: occurrence.overlap === "queue" };
  const last = live.at(-1);
  if (occurrence.overlap === "queue" && last !== undefined) {
    const message = `Waiting for the previous run of its schedule (${last.id}) to end`;
    const hold = { reason: "previous_run", since: now, until: null, message } as const;
    return { kind: "started", ...insertRunWithTasks(context, { ...run, hold }, tasks, now), cancelled: [] };
  }
  const event = { type: "run.cancelled", message: "Run cancelled: its schedule starts the next one" } as const;
  for (const { n } of live) moveRun(context, n, "cancelled", event, now);
  if (live.length > 0) bumpControl(context);
  return { kind: "started", ...insertRunWithTasks(context, run, tasks, now), cancelled: live.map(({ id }) => id) };
}

/** A workflow that was created to be started later is not active, and might never be. */
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

function readOccurrences(
  context: Context,
  jobId: string,
  { outcome, after, limit }: { outcome?: OccurrenceOutcome; after?: number; limit: number },
): ScheduleOccurrence[] {
  const list = context.connection
    .sql(
      "SELECT * FROM schedule_occurrences WHERE job = ? AND at < ? AND (CAST(?3 AS TEXT) IS NULL OR outcome = ?3) ORDER BY at DESC LIMIT ?4",
    )
    .all(jobNumber(context, jobId), after ?? Number.MAX_SAFE_INTEGER, outcome ?? null, limit);
  type OccurrenceRow = Omit<ScheduleOccurrence, "jobId" | "runId" | "notedAt"> & {
    run: string | null;
    noted_at: number;
  };
  const found = rows<OccurrenceRow>(list);
  const hidden = hiddenRunsOf(
    context,
    found.flatMap(({ run }) => run ?? []),
  );
  return found.map(({ at, until, count, outcome: became, run, message, noted_at: notedAt }) => {
    const about = { jobId, at, until, count, outcome: became, notedAt };
    // The message names the run, too.
    return run !== null && hidden.has(run)
      ? { ...about, runId: null, message: null }
      : { ...about, runId: run, message };
  });
}

const zeroCounts = () =>
  Object.fromEntries(OCCURRENCE_OUTCOMES.map((name) => [name, 0])) as Record<OccurrenceOutcome, number>;

function readTotals({ connection }: Context): Record<OccurrenceOutcome, number> {
  const list = connection
    .sql("SELECT outcome, sum(count) AS count FROM schedule_outcome_counts GROUP BY outcome")
    .all();
  const sums = rows<{ outcome: OccurrenceOutcome; count: number }>(list).map(({ outcome, count }) => [outcome, count]);
  return { ...zeroCounts(), ...Object.fromEntries(sums) };
}

function readCounts(
  { connection }: Context,
  jobIds: readonly string[],
): Map<string, Record<OccurrenceOutcome, number>> {
  const counts = new Map(jobIds.map((id) => [id, zeroCounts()]));
  const list = connection
    .sql(
      `SELECT j.id, c.outcome, c.count FROM json_each(?) k JOIN jobs j ON j.id = k.value JOIN schedule_outcome_counts c ON c.job = j.n`,
    )
    .all(JSON.stringify(jobIds));
  for (const { id, outcome, count } of rows<{ id: string; outcome: OccurrenceOutcome; count: number }>(list))
    (counts.get(id) ?? zeroCounts())[outcome] = count;
  return counts;
}
