/** Jobs that run by themselves: when they will, and what became of the times before. */
import { OrbError } from "../base/errors.ts";
import type { Recipe, Schedule } from "../domain/recipe.ts";
import type { SlotOutcome } from "../domain/slots.ts";
import type { JobRecord } from "../store/job-records.ts";
import type { SlotRecord } from "../store/schedule-port.ts";
import type { JobDeps } from "./jobs/deps.ts";
import { requireJob } from "./jobs/manage.ts";
import { nextTimeOf, timesOf } from "./jobs/next-times.ts";
import { firstTime } from "./jobs/schedule-input.ts";
import type { RunWaits } from "./runs/view.ts";
import { standstill } from "./workforce.ts";

export interface SlotView {
  at: string;
  /** Of many missed in a row: the last of them, and how many there were. */
  until: string;
  count: number;
  outcome: SlotOutcome;
  /** Its run; of a skipped one the run that it was skipped for. */
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
  /** When it starts next, with what chance adds to it; null: never, or it is paused. */
  next_at: string | null;
  /** The next five times from now on, as the schedule says them. */
  next_times: string[];
  /** Why nothing would start at its next time; null: it would, or it is paused. */
  waiting_for: RunWaits | null;
  last: SlotView | null;
  counts: Record<SlotOutcome, number>;
}

const SHOWN_TIMES = 5;
const iso = (time: number) => new Date(time).toISOString();

function toSlotView({ at, until, count, outcome, runId, message, notedAt }: SlotRecord): SlotView {
  return { at: iso(at), until: iso(until), count, outcome, run_id: runId, message, noted_at: iso(notedAt) };
}

async function viewsOf(
  { store, clock }: Pick<JobDeps, "store" | "clock">,
  jobs: readonly JobRecord[],
): Promise<ScheduleView[]> {
  const nobody = await nobodyStarts({ store });
  const counts = await store.slotCounts(jobs.map(({ id }) => id));
  return Promise.all(
    jobs.map(async (job) => {
      const { cron, timezone, overlap, missed, jitter_seconds } = (job.recipe as Recipe).schedule as Schedule;
      const [last] = await store.slots(job.id, { limit: 1 });
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
        next_at: nextAt === null ? null : iso(nextAt),
        next_times: timesOf(job, clock.now(), SHOWN_TIMES).map(iso),
        waiting_for: job.nextSlot === null ? null : nobody,
        last: last === undefined ? null : toSlotView(last),
        counts: counts.get(job.id) ?? { started: 0, missed: 0, skipped: 0, refused: 0 },
      };
    }),
  );
}

/** Schedules are kept by whoever works. */
async function nobodyStarts(deps: Pick<JobDeps, "store">): Promise<RunWaits | null> {
  const still = await standstill(deps);
  if (still?.reason !== "no_worker") return null;
  const message = "No worker runs: nothing starts by itself until orb serve or orb worker is started";
  return { reason: still.reason, until: null, message };
}

/** Newest job first; `after` is the id of a job. */
export async function listSchedules(deps: JobDeps, window: { after?: string; limit: number }): Promise<ScheduleView[]> {
  return viewsOf(deps, await deps.store.jobs({ scheduled: true, ...window }));
}

async function requireScheduled(deps: JobDeps, jobId: string): Promise<JobRecord> {
  const job = await requireJob(deps, jobId);
  if ((job.recipe as Recipe).schedule !== null) return job;
  throw new OrbError("not_found", `job ${jobId} has no schedule`, {
    hint: 'Give it one: PATCH /jobs/{id} {"schedule": "0 6 * * *"}, or orb jobs update --schedule.',
  });
}

async function viewOf(deps: JobDeps, job: JobRecord): Promise<ScheduleView> {
  return (await viewsOf(deps, [job]))[0] as ScheduleView;
}

export async function showSchedule(deps: JobDeps, jobId: string): Promise<ScheduleView> {
  return viewOf(deps, await requireScheduled(deps, jobId));
}

/** What became of its times, newest first; `after` is the time of one. */
export async function listSlots(
  deps: JobDeps,
  jobId: string,
  filter: { outcome?: SlotOutcome; after?: number; limit: number },
): Promise<SlotView[]> {
  await requireScheduled(deps, jobId);
  return (await deps.store.slots(jobId, filter)).map(toSlotView);
}

/** Nothing starts by itself until it is resumed, and what passes meanwhile is not missed. Twice is no mistake. */
export async function pauseSchedule(deps: JobDeps, jobId: string): Promise<ScheduleView> {
  const job = await requireScheduled(deps, jobId);
  if (job.schedulePausedAt !== null) return viewOf(deps, job);
  const now = deps.clock.now();
  return viewOf(deps, await deps.store.updateJob(jobId, { schedulePausedAt: now }, now));
}

/** Its next time is the first one from now on. */
export async function resumeSchedule(deps: JobDeps, jobId: string): Promise<ScheduleView> {
  const job = await requireScheduled(deps, jobId);
  if (job.schedulePausedAt === null) return viewOf(deps, job);
  const next = firstTime((job.recipe as Recipe).schedule, deps);
  return viewOf(deps, await deps.store.updateJob(jobId, { schedulePausedAt: null, ...next }, deps.clock.now()));
}
