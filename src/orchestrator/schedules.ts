/** Scheduled jobs: upcoming and past occurrences. */
import { type FieldError, OrbError } from "../base/errors.ts";
import { isoOf, isoOrNull } from "../base/iso.ts";
import type { Recipe, Schedule } from "../domain/run/recipe.ts";
import { nextOccurrences } from "../domain/run/schedule.ts";
import type { OccurrenceOutcome } from "../domain/run/schedule-occurrences.ts";
import type { WaitingView } from "../domain/run/waiting.ts";
import type { JobRecord } from "../store/records/job-records.ts";
import type { ScheduleOccurrence } from "../store/ports/schedule-port.ts";
import type { JobDeps } from "./jobs/deps.ts";
import { requireJob } from "./jobs/manage.ts";
import { nextTimeOf, timesOf } from "./jobs/next-times.ts";
import { firstTime, readCron, readZone } from "./jobs/schedule-input.ts";
import { invalid } from "./invalid.ts";
import { noWorkersReason } from "./workers/worker-availability.ts";

export interface OccurrenceView {
  at: string;
  /** Of several missed occurrences in a row: the last one, and how many there were. */
  until: string;
  count: number;
  outcome: OccurrenceOutcome;
  /** Its run; of a skipped occurrence, the run that caused the skip. */
  run_id: string | null;
  message: string | null;
  noted_at: string;
}

export interface ScheduleView {
  job_id: string;
  name: string | null;
  kind: string;
  cron: string;
  timezone: string;
  overlap: Schedule["overlap"];
  missed: Schedule["missed"];
  jitter_seconds: number;
  paused: boolean;
  /** Next start, with jitter; null: none, or the schedule is paused. */
  next_at: string | null;
  /** The next five occurrences, without jitter. */
  next_times: string[];
  /** Why nothing would start at the next occurrence; null: it would start, or the schedule is paused. */
  waiting_for: WaitingView | null;
  last: OccurrenceView | null;
  counts: Record<OccurrenceOutcome, number>;
}

const SHOWN_TIMES = 5;

function toOccurrenceView({ at, until, count, outcome, runId, message, notedAt }: ScheduleOccurrence): OccurrenceView {
  return { at: isoOf(at), until: isoOf(until), count, outcome, run_id: runId, message, noted_at: isoOf(notedAt) };
}

async function viewsOf(
  { store, clock }: Pick<JobDeps, "store" | "clock">,
  jobs: readonly JobRecord[],
): Promise<ScheduleView[]> {
  const nobody = await noWorkersWaiting({ store });
  const counts = await store.occurrenceCounts(jobs.map(({ id }) => id));
  return Promise.all(
    jobs.map(async (job) => {
      const { cron, timezone, overlap, missed, jitter_seconds } = (job.recipe as Recipe).schedule as Schedule;
      const [last] = await store.scheduleOccurrences(job.id, { limit: 1 });
      const nextAt = nextTimeOf(job, clock.now());
      return {
        job_id: job.id,
        name: job.name,
        kind: job.kind,
        cron,
        timezone: timezone ?? "UTC",
        overlap,
        missed,
        jitter_seconds,
        paused: job.schedulePausedAt !== null,
        next_at: isoOrNull(nextAt),
        next_times: timesOf(job, clock.now(), SHOWN_TIMES).map(isoOf),
        waiting_for: job.nextOccurrenceAt === null ? null : nobody,
        last: last === undefined ? null : toOccurrenceView(last),
        counts: counts.get(job.id) ?? { started: 0, missed: 0, skipped: 0, refused: 0 },
      };
    }),
  );
}

/** Schedules run on workers. */
async function noWorkersWaiting(deps: Pick<JobDeps, "store">): Promise<WaitingView | null> {
  const noWorkers = await noWorkersReason(deps);
  if (noWorkers?.reason !== "no_worker") return null;
  const message = "No worker is running: scheduled jobs do not start until orb serve or orb worker is started";
  return { reason: noWorkers.reason, until: null, message, last_failure: null };
}

/** Newest job first; `after` is the id of a job. */
export async function listSchedules(deps: JobDeps, window: { after?: string; limit: number }): Promise<ScheduleView[]> {
  return viewsOf(deps, await deps.store.jobs({ scheduled: true, ...window }));
}

interface SchedulePreview {
  cron: string;
  timezone: string;
  /** In UTC, and as local time with the offset at that time. */
  next_times: { at: string; local: string }[];
}

/** Previews a schedule without saving it. Throws `input_invalid` with the invalid field. */
export function previewSchedule(
  deps: Pick<JobDeps, "clock" | "minScheduleMs">,
  { cron: text, timezone: zone, count }: { cron: string; timezone?: string; count: number },
): SchedulePreview {
  const problems: FieldError[] = [];
  const timezone = readZone(zone, "timezone", problems);
  const cron = readCron(text, "cron", problems, deps);
  if (problems.length > 0) throw invalid(problems);
  const times = nextOccurrences({ cron, timezone }, deps.clock.now(), count);
  const shown = zone ?? "UTC";
  return {
    cron,
    timezone: shown,
    next_times: times.map((time) => ({ at: isoOf(time), local: localTime(time, shown) })),
  };
}

/** `2026-03-29T03:30:00+02:00`. */
function localTime(time: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
  const local = format.format(time).replace(" ", "T");
  const minutes = Math.round((Date.parse(`${local}Z`) - Math.floor(time / 1000) * 1000) / 60_000);
  const two = (number: number) => String(number).padStart(2, "0");
  const offset = `${minutes < 0 ? "-" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
  return `${local}${offset}`;
}

async function requireScheduled(deps: JobDeps, jobId: string): Promise<JobRecord> {
  const job = await requireJob(deps, jobId);
  if ((job.recipe as Recipe).schedule !== null) return job;
  throw new OrbError("not_found", `job ${jobId} has no schedule`, {
    hint: 'Set one: PATCH /jobs/{id} {"schedule": "0 6 * * *"}, or orb jobs update --schedule.',
  });
}

async function viewOf(deps: JobDeps, job: JobRecord): Promise<ScheduleView> {
  return (await viewsOf(deps, [job]))[0] as ScheduleView;
}

export async function showSchedule(deps: JobDeps, jobId: string): Promise<ScheduleView> {
  return viewOf(deps, await requireScheduled(deps, jobId));
}

/** Past occurrences, newest first; `after` is the time of one. */
export async function listOccurrences(
  deps: JobDeps,
  jobId: string,
  filter: { outcome?: OccurrenceOutcome; after?: number; limit: number },
): Promise<OccurrenceView[]> {
  await requireScheduled(deps, jobId);
  return (await deps.store.scheduleOccurrences(jobId, filter)).map(toOccurrenceView);
}

/** Nothing starts by schedule until it is resumed; occurrences in between do not count as missed. Idempotent. */
export async function pauseSchedule(deps: JobDeps, jobId: string): Promise<ScheduleView> {
  const job = await requireScheduled(deps, jobId);
  if (job.schedulePausedAt !== null) return viewOf(deps, job);
  const now = deps.clock.now();
  return viewOf(deps, await deps.store.updateJob(jobId, { schedulePausedAt: now }, now));
}

/** The next occurrence is the first one from now on. */
export async function resumeSchedule(deps: JobDeps, jobId: string): Promise<ScheduleView> {
  const job = await requireScheduled(deps, jobId);
  if (job.schedulePausedAt === null) return viewOf(deps, job);
  const next = firstTime((job.recipe as Recipe).schedule, deps);
  return viewOf(deps, await deps.store.updateJob(jobId, { schedulePausedAt: null, ...next }, deps.clock.now()));
}
