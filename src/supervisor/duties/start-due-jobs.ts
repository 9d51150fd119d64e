import type { Log } from "../../base/log.ts";
import type { Recipe } from "../../domain/recipe.ts";
import { MISSED_AFTER_MS, nextSlot } from "../../domain/schedule.ts";
import { type RunDeps, startScheduledRun } from "../../orchestrator/runs/start.ts";
import type { JobRecord } from "../../store/job-records.ts";
import type { Duty } from "../duties.ts";

const AT_ONCE = 100;

/** Starts jobs whose time has come. Each slot starts at most one run, whatever crashes in between. */
export function startDueJobs(deps: RunDeps & { log: Log }): Duty {
  return {
    name: "start jobs whose time has come",
    everyMs: 1000,
    async run() {
      for (const job of await deps.store.dueJobs(deps.clock.now(), AT_ONCE)) await dealWith(deps, job);
    },
  };
}

async function dealWith(deps: RunDeps & { log: Log }, job: JobRecord): Promise<void> {
  const { store, clock, log, random } = deps;
  const { schedule } = job.recipe as Recipe;
  if (schedule === null || job.nextAt === null) return;
  const slot = job.nextAt;
  const at = new Date(slot).toISOString();
  const next = nextSlot(schedule, Math.max(clock.now(), slot), random);
  const missed = clock.now() - slot > MISSED_AFTER_MS;
  if (missed && schedule.missed === "skip") {
    log.warn("a scheduled run was missed and is skipped", { job: job.id, at });
    await store.passSlot(job.id, slot, next);
    return;
  }
  const start = await startScheduledRun(deps, job, { jobId: job.id, at: slot, next, overlap: schedule.overlap });
  if (start.kind === "blocked")
    log.info("a scheduled run is skipped: the one before is not at its end", { job: job.id, at, run: start.by.id });
}
