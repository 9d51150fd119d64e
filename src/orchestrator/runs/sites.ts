import { breakerPhase, CLOSED_BREAKER } from "../../domain/circuit.ts";
import { laneOfSite, siteOfLane } from "../../domain/lane.ts";
import type { TaskState } from "../../domain/states.ts";
import { type SiteDefaults, type Waiting, waitingFor } from "../../domain/waiting.ts";
import type { RunRecord } from "../../store/port.ts";
import type { RunSiteRecord } from "../../store/progress-port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { requireRun } from "./control.ts";

export interface RunSiteDeps extends OrchestratorDeps {
  siteDefaults: SiteDefaults;
}

export type SiteCounts = Record<"queued" | "running" | "retrying" | "completed" | "failed" | "skipped", number>;

/** How a run is getting on at one site. */
export interface RunSiteView {
  site: string;
  counts: SiteCounts;
  /** Why tasks wait here; null: nothing holds them, or there are none. */
  waiting_for: { reason: Waiting["reason"]; until: string | null } | null;
  next_try_at: string | null;
  held_until: string | null;
  breaker: { state: "closed" | "open" | "half_open"; failures: number; reopens_at: string | null };
}

/** In the order in which they were first seen; `after` is the site to go on behind. */
export async function listRunSites(
  deps: RunSiteDeps,
  id: string,
  filter: { state?: TaskState; after?: string; limit: number },
): Promise<RunSiteView[]> {
  const { store, clock, siteDefaults } = deps;
  const run = await requireRun(deps, id);
  const { after, ...rest } = filter;
  const records = await store.runSites(id, { ...rest, ...(after === undefined ? {} : { after: laneOfSite(after) }) });
  const hasWorker = await workerLives(deps);
  return records.map((record) => toView(run, record, { defaults: siteDefaults, hasWorker, now: clock.now() }));
}

/** Whether some process works on what is stored. */
export async function workerLives({ store }: Pick<OrchestratorDeps, "store">): Promise<boolean> {
  const holder = await store.engineHolder();
  return !store.capabilities.singleEngine || (holder !== null && holder.remainingMs > 0);
}

const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString());

function toView(
  run: RunRecord,
  { lane, counts, site, nextTryAt, laneRunning }: RunSiteRecord,
  { defaults, hasWorker, now }: { defaults: SiteDefaults; hasWorker: boolean; now: number },
): RunSiteView {
  const work = { runStatus: run.status, counts, nextTryAt, laneRunning, hasWorker };
  const waiting = waitingFor(work, site, defaults, now);
  const breaker = site?.breaker ?? CLOSED_BREAKER;
  const { queued, running, retrying, completed, failed, skipped } = counts;
  return {
    site: siteOfLane(lane),
    counts: { queued, running, retrying, completed, failed, skipped },
    waiting_for: waiting === null ? null : { reason: waiting.reason, until: iso(waiting.until) },
    next_try_at: iso(nextTryAt),
    held_until: site !== null && site.holdUntil > now ? iso(site.holdUntil) : null,
    breaker: { state: breakerPhase(breaker, now), failures: breaker.failures, reopens_at: iso(breaker.openUntil) },
  };
}
