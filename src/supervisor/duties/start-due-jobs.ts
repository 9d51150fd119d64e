import { isOrbError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Recipe } from "../../domain/recipe.ts";
import { MISSED_AFTER_MS, nextSlot } from "../../domain/schedule.ts";
import type { CrawlDeps } from "../../orchestrator/jobs/deps.ts";
import { startScheduledRun } from "../../orchestrator/runs/start.ts";
import type { JobRecord } from "../../store/job-records.ts";
import type { Duty } from "../duties.ts";

type Deps = CrawlDeps & { log: Log };

/** Started in one transaction. */
const AT_ONCE = 100;
/** A line of the log names no more jobs than this. */
const NAMED = 20;

/** Starts jobs whose time has come. Each slot starts at most one run, whatever crashes in between. */
export function startDueJobs(deps: Deps): Duty {
  const watch = new Watch();
  return {
    name: "start jobs whose time has come",
    everyMs: 1000,
    async run() {
      const now = deps.clock.now();
      watch.begin(now);
      try {
        await startAll(deps, now, watch);
      } finally {
        watch.end(deps.clock.now());
      }
    },
  };
}

/**
 * Since when somebody has been looking without a break. However long it takes until a slot has its turn, because
 * thousands are due at once or the database is busy: it is missed only if nobody was there when it came.
 */
class Watch {
  #since = 0;
  #lookedUntil: number | null = null;

  begin(now: number): void {
    // A machine that slept, or a clock that was set, shows as a long time between two looks.
    if (this.#lookedUntil === null || now - this.#lookedUntil > MISSED_AFTER_MS) this.#since = now;
  }

  end(now: number): void {
    this.#lookedUntil = now;
  }

  missed(slot: number): boolean {
    return this.#since - slot > MISSED_AFTER_MS;
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
          await dealWith(deps, job, watch);
        } catch (error) {
          // It stays due, and has its turn again at the next look; the others must not wait for it.
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
    deps.log.warn("scheduled runs could not be started and are tried again", {
      count: jobs.length,
      jobs: jobs.slice(0, NAMED),
      error,
    });
}

async function dealWith(deps: Deps, job: JobRecord, watch: Watch): Promise<void> {
  const { store, clock, log, random } = deps;
  const { schedule } = job.recipe as Recipe;
  if (schedule === null || job.nextAt === null) return;
  const slot = job.nextAt;
  const at = new Date(slot).toISOString();
  const next = nextSlot(schedule, Math.max(clock.now(), slot), random);
  if (watch.missed(slot) && schedule.missed === "skip") {
    log.warn("a scheduled run was missed and is skipped", { job: job.id, at });
    await store.passSlot(job.id, slot, next);
    return;
  }
  let start: Awaited<ReturnType<typeof startScheduledRun>>;
  try {
    start = await startScheduledRun(deps, job, { jobId: job.id, at: slot, next, overlap: schedule.overlap });
  } catch (error) {
    if (!isOrbError(error, "input_invalid")) throw error;
    // Its template or a kind of step has changed since it was saved: trying again would change nothing.
    log.warn("a scheduled run is skipped: its job does not hold any more", { job: job.id, at, error: error.message });
    await store.passSlot(job.id, slot, next);
    return;
  }
  if (start.kind !== "blocked") return;
  const run = start.by.id;
  // Nothing goes on here until a person does something.
  if (start.by.status === "waiting_for_human")
    log.warn(
      `a scheduled run is skipped: the one before waits for a person; answer it with orb runs resolve ${run} --session ID, or --skip`,
      { job: job.id, at, run },
    );
  else log.info("a scheduled run is skipped: the one before is not at its end", { job: job.id, at, run });
}
