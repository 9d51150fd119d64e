import { isOrbError, messageOf } from "../../base/errors.ts";
import { isoOf } from "../../base/iso.ts";
import type { Log } from "../../base/log.ts";
import type { Recipe, Schedule } from "../../domain/run/recipe.ts";
import { countOccurrences, lastOccurrence, MISSED_AFTER_MS, nextTime } from "../../domain/run/schedule.ts";
import type { ScheduledTime } from "../../domain/run/schedule-occurrences.ts";
import type { RunState } from "../../domain/run/states.ts";
import type { Timetable } from "../../engine/port.ts";
import type { CrawlDeps } from "../../orchestrator/jobs/deps.ts";
import { startScheduledRun } from "../../orchestrator/runs/start.ts";
import type { JobRecord } from "../../store/records/job-records.ts";
import type { SkippedOccurrences } from "../../store/ports/schedule-port.ts";
import type { Duty } from "../duties.ts";

type Deps = CrawlDeps & { log: Log };

/** Per transaction. */
const AT_ONCE = 100;
/** A log line names at most this many jobs. */
const NAMED = 20;

/** When the engine announces due jobs, the leader starts those overdue by this. */
const OVERDUE_MS = 2000;

interface DueJobs extends Duty, Timetable {
  /** For all processes that may be notified: marks them as present. */
  presence: Duty;
}

/**
 * Starts due jobs. Each occurrence starts at most one run, whatever crashes and however many processes run this.
 * `notified`: the engine notifies one of many processes of due jobs, and this duty handles overdue ones.
 */
export function startDueJobs(deps: Deps, { notified = false }: { notified?: boolean } = {}): DueJobs {
  const { store, clock } = deps;
  const watch = new Watch();
  return {
    name: "start scheduled jobs",
    everyMs: 500,
    looksFirst: true,
    async run(signal, due) {
      const now = clock.now();
      if (!notified) watch.begin(now, signal);
      try {
        if (due?.jobs !== false) await startAll(deps, notified ? now - OVERDUE_MS : now, watch);
        if (due?.queuedRuns !== false) await startQueuedRuns(deps);
      } finally {
        if (!notified) watch.end(clock.now());
      }
    },
    presence: {
      name: "record that schedules are watched",
      everyMs: 500,
      async run(signal) {
        watch.begin(clock.now(), signal);
        watch.end(clock.now());
      },
    },
    async keep() {
      watch.goOn(clock.now());
      await startAll(deps, clock.now(), watch);
      await startQueuedRuns(deps);
      return store.nextDueAt();
    },
    nextAt: () => store.nextDueAt(),
  };
}

/**
 * Since when a process has been present without a gap. An occurrence may wait because thousands are due at once or the
 * database is busy; it counts as missed only if no process was present when it was due.
 */
class Watch {
  #since = 0;
  #lookedUntil: number | null = null;
  /** The leadership term that `#since` belongs to. */
  #term: AbortSignal | null = null;

  begin(now: number, term: AbortSignal): void {
    if (term !== this.#term) this.#lookedUntil = null;
    this.#term = term;
    this.goOn(now);
  }

  goOn(now: number): void {
    // A sleeping machine or a changed clock shows as a long gap between two passes.
    if (this.#lookedUntil === null || now - this.#lookedUntil > MISSED_AFTER_MS) this.#since = now;
    // The clock was set back: presence cannot start in the future.
    this.#since = Math.min(this.#since, now);
  }

  end(now: number): void {
    this.#lookedUntil = now;
  }

  get since(): number {
    return this.#since;
  }
}

async function startAll(deps: Deps, now: number, watch: Watch): Promise<void> {
  const failed = new Map<string, string[]>();
  let last: JobRecord | undefined;
  for (;;) {
    const due = await deps.store.dueJobs(now, AT_ONCE, last);
    await Promise.all(
      due.map(async (job) => {
        try {
          await handleDueJob(deps, job, now, watch);
        } catch (error) {
          // It stays due and is retried in the next pass; the others must not wait for it.
          const same = failed.get(messageOf(error));
          if (same === undefined) failed.set(messageOf(error), [job.id]);
          else same.push(job.id);
        }
      }),
    );
    last = due.at(-1);
    if (due.length < AT_ONCE) break;
  }
  for (const [error, jobs] of failed)
    deps.log.warn("cannot start scheduled runs; retrying", {
      count: jobs.length,
      jobs: jobs.slice(0, NAMED),
      error,
    });
}

/** Occurrences of one job per pass; the rest follows in the next pass. */
const OCCURRENCES_AT_ONCE = 100;

/** Handles all due occurrences of a job in order: a schedule with seconds may have many. */
async function handleDueJob(deps: Deps, job: JobRecord, now: number, watch: Watch): Promise<void> {
  const { schedule } = job.recipe as Recipe;
  if (schedule === null || job.nextAt === null || job.nextOccurrenceAt === null) return;
  let time: ScheduledTime | null = { scheduledAt: job.nextOccurrenceAt, at: job.nextAt };
  for (let turn = 0; turn < OCCURRENCES_AT_ONCE && time !== null && time.at <= now; turn += 1)
    time = await handleOccurrence(deps, job, schedule, time, watch);
}

/** Returns the next time; null: none, or another process handled the occurrence. */
async function handleOccurrence(
  deps: Deps,
  job: JobRecord,
  schedule: Schedule,
  time: ScheduledTime,
  watch: Watch,
): Promise<ScheduledTime | null> {
  const { store, clock, log, random } = deps;
  const gap = gapOf(schedule, time, watch.since);
  const next = nextTime(schedule, gap.last, random);
  const at = isoOf(gap.last);
  if (gap.late > MISSED_AFTER_MS && schedule.missed === "skip") {
    const missed = missedOccurrences(schedule, time.scheduledAt, gap.last);
    log.warn("a scheduled run was missed and is skipped", { job: job.id, at, count: missed.count });
    return (await store.skipOccurrences(job.id, missed, next, clock.now())) ? next : null;
  }
  // Of several missed occurrences, the last one gets a run on behalf of the others.
  const missed = gap.before === null ? {} : { missed: missedOccurrences(schedule, time.scheduledAt, gap.before) };
  const occurrence = { jobId: job.id, at: gap.last, next, overlap: schedule.overlap, ...missed };
  let start: Awaited<ReturnType<typeof startScheduledRun>>;
  try {
    start = await startScheduledRun(deps, job, occurrence);
  } catch (error) {
    if (!isOrbError(error, "input_invalid")) throw error;
    // Its template or a step kind has changed since it was saved: a retry would not help.
    log.warn("a scheduled run is skipped: its job is no longer valid", { job: job.id, at, error: error.message });
    const { count } = countOccurrences(schedule, time.scheduledAt, gap.last);
    const refused = {
      at: time.scheduledAt,
      until: gap.last,
      count,
      outcome: "refused",
      message: error.message,
    } as const;
    return (await store.skipOccurrences(job.id, refused, next, clock.now())) ? next : null;
  }
  if (start.kind === "blocked") logBlocked(log, job, at, start.by, start.waiting);
  return start.kind === "gone" ? null : next;
}

/**
 * Occurrences from this one on that were due while no process was present: the last one, its delay, and the one before
 * it; null: none. An occurrence with a process present is handled individually.
 */
function gapOf(
  schedule: Schedule,
  { scheduledAt, at }: ScheduledTime,
  since: number,
): { last: number; late: number; before: number | null } {
  if (at >= since) return { last: scheduledAt, late: 0, before: null };
  const last = Math.max(scheduledAt, lastOccurrence(schedule, since - 1) ?? scheduledAt);
  if (last === scheduledAt) return { last, late: since - at, before: null };
  return { last, late: since - last, before: lastOccurrence(schedule, last - 1) ?? scheduledAt };
}

function missedOccurrences(schedule: Schedule, at: number, until: number): SkippedOccurrences {
  const { count, exact } = countOccurrences(schedule, at, until);
  const message = exact ? "no worker was running" : "no worker was running; the count is an estimate";
  return { at, until, count, outcome: "missed", message };
}

function logBlocked(
  log: Log,
  job: JobRecord,
  at: string,
  by: { id: string; status: RunState },
  waiting: boolean,
): void {
  const run = by.id;
  // Nothing continues here without a person.
  if (by.status === "waiting_for_human")
    log.warn(
      `a scheduled run is skipped: the previous run waits for a person; resolve it with orb runs resolve ${run} --session ID, or --skip`,
      { job: job.id, at, run },
    );
  else if (waiting)
    log.warn("a scheduled run is skipped: too many runs wait for the previous one", { job: job.id, at, run });
  else log.info("a scheduled run is skipped: the previous one has not ended", { job: job.id, at, run });
}

/** Starts runs that were queued behind the previous run of their job. */
async function startQueuedRuns({ store, clock, wake }: Deps): Promise<void> {
  const ids = await store.runsInTurn(AT_ONCE);
  if (ids.length === 0) return;
  const event = { level: "info", message: "Run continues: the previous run of its schedule has ended" } as const;
  const { lanes } = await store.releaseRuns(ids, "previous_run", event, clock.now());
  if (lanes.length > 0) await wake(lanes);
}
