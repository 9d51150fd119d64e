import { breakerPhase } from "../../domain/circuit.ts";
import type { CrawlSnapshot } from "../../domain/crawl-options.ts";
import type { FailureReason } from "../../domain/failure.ts";
import type { TaskState } from "../../domain/states.ts";
import { type SiteDefaults, stateForWork, type Waiting, waitingFor, WHILE_AT_WORK } from "../../domain/waiting.ts";
import { paceLimits } from "../../domain/waiting-sentence.ts";
import type { RunRecord } from "../../store/port.ts";
import type { RunSiteRecord } from "../../store/progress-port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { type Standstill, standstill, waitingMessage } from "../workforce.ts";
import { requireRun } from "./control.ts";

export interface RunSiteDeps extends OrchestratorDeps {
  siteDefaults: SiteDefaults;
}

/** What went wrong with a page that is tried again. */
export interface LastFailure {
  failure_reason: FailureReason;
  message: string;
}

export type SiteCounts = Record<"queued" | "running" | "retrying" | "completed" | "failed" | "skipped", number>;

/** How a run is getting on at one site. */
export interface RunSiteView {
  site: string;
  counts: SiteCounts;
  /** Why tasks wait here; null: nothing holds them, or there are none. */
  waiting_for: { reason: Waiting["reason"]; until: string | null; message: string } | null;
  next_try_at: string | null;
  /** Why the page that is tried again next has failed. */
  last_failure: LastFailure | null;
  held_until: string | null;
  breaker: { state: "closed" | "open" | "half_open"; failures: number; reopens_at: string | null };
}

/** By name; `after` is the site to go on behind. */
export async function listRunSites(
  deps: RunSiteDeps,
  id: string,
  filter: { state?: TaskState; after?: string; limit: number },
): Promise<RunSiteView[]> {
  return sitesOf(deps, await requireRun(deps, id), filter, await standstill(deps));
}

async function sitesOf(
  { store, clock, siteDefaults }: RunSiteDeps,
  run: RunRecord,
  filter: { state?: TaskState; after?: string; limit: number },
  still: Standstill | null,
): Promise<RunSiteView[]> {
  const records = await store.runSites(run.id, filter);
  return records.map((record) => toView(run, record, { defaults: siteDefaults, still, now: clock.now() }));
}

const MOST_WAITING = 5;

/** Sites at which a run cannot go on now, and why: a few of them. */
export async function listWaitingSites(deps: RunSiteDeps, run: RunRecord): Promise<RunSiteView[]> {
  const found = new Map<string, RunSiteView>();
  for (const state of ["retrying", "queued", "running"] as const) {
    if (found.size >= MOST_WAITING) break;
    // Sites that wait may stand behind others that do not; whoever wants all of them asks for the list.
    for (const site of await listRunSites(deps, run.id, { state, limit: 2 * MOST_WAITING })) {
      if (isHeld(site)) found.set(site.site, site);
    }
  }
  return [...found.values()].slice(0, MOST_WAITING);
}

const isHeld = ({ waiting_for: why }: RunSiteView) => why !== null && !WHILE_AT_WORK.has(why.reason);

/** The same of a run that gets nothing done: none, as long as any of its sites is at work. */
export async function listHeldSites(
  deps: RunSiteDeps,
  run: RunRecord,
  still: Standstill | null,
): Promise<RunSiteView[]> {
  const found = new Map<string, RunSiteView>();
  for (const state of ["running", "queued", "retrying"] as const)
    for (const site of await sitesOf(deps, run, { state, limit: 2 * MOST_WAITING }, still)) {
      if (!isHeld(site)) return [];
      found.set(site.site, site);
    }
  return [...found.values()];
}

/** As many sites are looked at one by one; few crawls are at work at more. */
const MOST_AT_WORK = 50;

/** Pages of a crawl under way, `inHand` being what the owners of its sites have taken. */
export async function countUnderWay(
  { store, siteDefaults }: RunSiteDeps,
  run: RunRecord,
  inHand: number,
): Promise<number> {
  if (inHand === 0) return 0;
  const sites = await store.runSites(run.id, { state: "running", limit: MOST_AT_WORK });
  const idle = sites.reduce((sum, site) => sum + site.counts.running - underWay(run, site, siteDefaults), 0);
  // More may have been taken in hand since.
  return Math.min(Math.max(0, inHand - idle), atOnce(run));
}

/** An owner takes more in hand than it has begun: no more than the limits allow can be under way. */
function underWay(run: RunRecord, { counts, site }: RunSiteRecord, { maxPerSite }: SiteDefaults): number {
  return Math.min(counts.running, Math.max(1, site.maxConcurrency ?? maxPerSite), atOnce(run));
}

function atOnce({ kind, snapshot }: RunRecord): number {
  return kind === "crawl" ? (snapshot as CrawlSnapshot).options.max_concurrent_articles : Number.POSITIVE_INFINITY;
}

const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString());

function toView(
  run: RunRecord,
  record: RunSiteRecord,
  { defaults, still, now }: { defaults: SiteDefaults; still: Standstill | null; now: number },
): RunSiteView {
  const { counts, site, nextTryAt, lastFailure, laneRunning, waitsFor, noPlace } = record;
  const work = {
    runStatus: stateForWork(run),
    hold: run.hold,
    counts,
    nextTryAt,
    laneRunning,
    idle: still === null || still.lanes.has(site.lane) ? null : still.reason,
    dependsOnOthers: waitsFor.length > 0,
    noPlace,
  };
  const waiting = waitingFor(work, site, defaults, now);
  const { breaker } = site;
  const { retrying, completed, failed, skipped } = counts;
  const running = underWay(run, record, defaults);
  const queued = counts.queued + counts.running - running;
  return {
    site: site.site,
    counts: { queued, running, retrying, completed, failed, skipped },
    waiting_for:
      waiting === null
        ? null
        : {
            reason: waiting.reason,
            until: iso(waiting.until),
            message: waitingMessage(waiting, still, waitsFor, paceLimits(site, defaults)),
          },
    next_try_at: iso(nextTryAt),
    last_failure: lastFailure === null ? null : { failure_reason: lastFailure.reason, message: lastFailure.message },
    held_until: site.holdUntil > now ? iso(site.holdUntil) : null,
    breaker: { state: breakerPhase(breaker, now), failures: breaker.failures, reopens_at: iso(breaker.openUntil) },
  };
}
