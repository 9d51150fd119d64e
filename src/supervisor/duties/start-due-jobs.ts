import type { Log } from "../../base/log.ts";
import type { Recipe } from "../../domain/recipe.ts";
import { MISSED_AFTER_MS, nextSlot } from "../../domain/schedule.ts";
import type { RunState } from "../../domain/states.ts";
import { cancelRun } from "../../orchestrator/runs/control.ts";
import { type RunDeps, startPageRun } from "../../orchestrator/runs/start.ts";
import type { JobRecord } from "../../store/job-records.ts";
import type { Duty } from "../duties.ts";

const AT_ONCE = 100;
const LIVE: readonly RunState[] = ["queued", "running", "paused", "waiting_for_human"];

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
  const missed = clock.now() - slot > MISSED_AFTER_MS;
  if (missed && schedule.missed === "skip") log.warn("a scheduled run was missed and is skipped", { job: job.id, at });
  else if (await mayStart(deps, job, schedule.overlap)) {
    // The key makes it one run per slot, also when we die before the slot is marked as dealt with.
    const key = `schedule ${job.id} ${slot}`;
    await startPageRun(deps, job, { key, fingerprint: key });
  } else log.info("a scheduled run is skipped: the one before is not at its end", { job: job.id, at });
  await store.passSlot(job.id, slot, nextSlot(schedule, Math.max(clock.now(), slot), random));
}

async function mayStart(deps: RunDeps, job: JobRecord, overlap: "skip" | "queue" | "cancel"): Promise<boolean> {
  if (overlap === "queue") return true;
  const live = await deps.store.runs({ jobId: job.id, status: LIVE, limit: AT_ONCE });
  if (overlap === "skip") return live.length === 0;
  for (const run of live) await cancelRun(deps, run.id);
  return true;
}
