import { isoOrNull } from "../../base/iso.ts";
import { breakerPhase } from "../../domain/lane/circuit.ts";
import { crawlOptionsOf } from "../../domain/crawl/crawl-options.ts";
import { type LastFailure, lastFailure } from "../../domain/run/last-failure.ts";
import type { TaskState } from "../../domain/run/states.ts";
import {
  begunByOwner,
  heldBySite,
  isHeld,
  type LostLease,
  type SiteDefaults,
  stateForWork,
  waitingFor,
  type WaitingView,
} from "../../domain/run/waiting.ts";
import { paceLimits } from "../../domain/run/waiting-sentence.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { RunSiteRecord } from "../../store/ports/progress-port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import {
  lostLeases,
  holdMessage,
  type NoWorkers,
  noWorkersReason,
  waitingMessage,
} from "../workers/worker-availability.ts";
import { requireRun } from "./control.ts";

export interface RunSiteDeps extends OrchestratorDeps {
  siteDefaults: SiteDefaults;
}

export type SiteCounts = Record<"queued" | "running" | "retrying" | "completed" | "failed" | "skipped", number>;

/** Progress of a run at one site. */
export interface RunSiteView {
  site: string;
  counts: SiteCounts;
  /** Why tasks wait here; null: nothing blocks them, or there are none. */
  waiting_for: WaitingView | null;
  next_try_at: string | null;
  /** Failure of the page that is retried next, or why the site rests. */
  last_failure: LastFailure | null;
  held_until: string | null;
  breaker: { state: "closed" | "open" | "half_open"; failures: number; reopens_at: string | null };
}

/** By name; `after` is the last site of the previous page. */
export async function listRunSites(
  deps: RunSiteDeps,
  id: string,
  filter: { state?: TaskState; after?: string; limit: number },
): Promise<RunSiteView[]> {
  return sitesOf(deps, await requireRun(deps, id), filter, await noWorkersReason(deps));
}

async function sitesOf(
  deps: RunSiteDeps,
  run: RunRecord,
  filter: { state?: TaskState; after?: string; limit: number },
  noWorkers: NoWorkers | null,
): Promise<RunSiteView[]> {
  const { store, clock, siteDefaults: defaults } = deps;
  const records = await store.runSites(run.id, filter);
  const claimed = records.filter(({ laneRunning, site }) => laneRunning > 0 && site.shardCount === 1);
  const lost = await lostLeases(
    deps,
    claimed.map(({ site }) => site.lane),
  );
  return records.map((record) => toView(run, record, { defaults, noWorkers, lost, now: clock.now() }));
}

const MOST_WAITING = 5;
const MOST_LOOKED_AT = 2 * MOST_WAITING;

/** Some of the sites that block a run now, and why. */
export async function listWaitingSites(
  deps: RunSiteDeps,
  run: RunRecord,
  noWorkers: NoWorkers | null,
): Promise<RunSiteView[]> {
  const found = new Map<string, RunSiteView>();
  for (const state of ["retrying", "queued", "running"] as const) {
    if (found.size >= MOST_WAITING) break;
    // Waiting sites may follow others that do not wait; the full list has all of them.
    for (const site of await sitesOf(deps, run, { state, limit: MOST_LOOKED_AT }, noWorkers)) {
      if (isHeldSite(site)) found.set(site.site, site);
    }
  }
  return [...found.values()].slice(0, MOST_WAITING);
}

const isHeldSite = ({ waiting_for: why }: RunSiteView) => isHeld(why);

/** A paced site is active only while it has a task of the run in flight. */
const isAtRest = (site: RunSiteView) => isHeldSite(site) || (site.waiting_for !== null && site.counts.running === 0);

/** Like `listWaitingSites`, but empty while any site of the run makes progress. */
export async function listHeldSites(
  deps: RunSiteDeps,
  run: RunRecord,
  noWorkers: NoWorkers | null,
): Promise<RunSiteView[]> {
  const found = new Map<string, RunSiteView>();
  for (const state of ["running", "queued", "retrying"] as const) {
    const sites = await sitesOf(deps, run, { state, limit: MOST_LOOKED_AT }, noWorkers);
    for (const site of sites) {
      if (!isAtRest(site)) return [];
      found.set(site.site, site);
    }
    // A full page of sites that are only paced: assume that sites beyond it are active.
    if (sites.length === MOST_LOOKED_AT && !sites.some(isHeldSite)) return [];
  }
  return [...found.values()];
}

/** Number of sites checked individually; few crawls work on more. */
const MOST_AT_WORK = 50;

/** Pages of a crawl in flight; `claimed` are those that the owners of its sites have claimed. */
export async function countUnderWay(
  { store, clock, siteDefaults }: RunSiteDeps,
  run: RunRecord,
  claimed: number,
  noWorkers: NoWorkers | null,
): Promise<number> {
  if (claimed === 0) return 0;
  const sites = await store.runSites(run.id, { state: "running", limit: MOST_AT_WORK });
  const now = clock.now();
  const idle = sites.reduce(
    (sum, site) => sum + site.counts.running - begunAt(site, noWorkers, underWay(run, site, siteDefaults, now)),
    0,
  );
  // The owners may have claimed more since.
  return Math.min(Math.max(0, claimed - idle), atOnce(run));
}

/**
 * Owners claim more than they have started: at most what the limits allow is in flight, and at most what the owner
 * reports while the site rests.
 */
function underWay(run: RunRecord, record: RunSiteRecord, { maxPerSite }: SiteDefaults, now: number): number {
  const { counts, site, laneRunning } = record;
  const begun = begunByOwner(site, laneRunning, now);
  return Math.min(counts.running, begun, Math.max(1, site.maxConcurrency ?? maxPerSite), atOnce(run));
}

/** Zero while no worker accepts work: claimed tasks wait with the rest. */
function begunAt({ site }: RunSiteRecord, noWorkers: NoWorkers | null, underWay: number): number {
  return noWorkers === null || noWorkers.lanes.has(site.lane) ? underWay : 0;
}

function atOnce(run: RunRecord): number {
  return run.kind === "crawl" ? crawlOptionsOf(run).max_concurrent_articles : Number.POSITIVE_INFINITY;
}

/** Values shared by all sites of one request. */
interface Moment {
  defaults: SiteDefaults;
  noWorkers: NoWorkers | null;
  lost: ReadonlyMap<string, LostLease>;
  now: number;
}

function toView(
  run: RunRecord,
  record: RunSiteRecord,
  { defaults, noWorkers, lost: leases, now }: Moment,
): RunSiteView {
  const { counts, site, nextTryAt, laneRunning, waitsFor, quotaExhausted } = record;
  const work = {
    runStatus: stateForWork(run),
    hold: run.hold,
    counts,
    nextTryAt,
    laneRunning,
    idle: noWorkers === null || noWorkers.lanes.has(site.lane) ? null : noWorkers.reason,
    lost: leases.get(site.lane) ?? null,
    dependsOnOthers: waitsFor.length > 0,
    quotaExhausted,
  };
  const { lost } = work;
  const waiting = waitingFor(work, site, defaults, now);
  const { breaker } = site;
  const { retrying, completed, failed, skipped } = counts;
  const running = begunAt(record, noWorkers, underWay(run, record, defaults, now));
  const last = lastOf(run, record, now);
  const queued = counts.queued + counts.running - running;
  const facts = { needs: waitsFor, limits: paceLimits(site, defaults), last, lost };
  return {
    site: site.site,
    counts: { queued, running, retrying, completed, failed, skipped },
    waiting_for:
      waiting === null
        ? null
        : {
            reason: waiting.reason,
            until: isoOrNull(waiting.until),
            message: holdMessage(waiting.reason, run.hold) ?? waitingMessage(waiting, noWorkers, facts),
            last_failure: isHeldReason(waiting.reason) ? last : null,
          },
    next_try_at: isoOrNull(nextTryAt),
    last_failure: last,
    held_until: site.holdUntil > now ? isoOrNull(site.holdUntil) : null,
    breaker: {
      state: breakerPhase(breaker, now),
      failures: breaker.failures,
      reopens_at: isoOrNull(breaker.openUntil),
    },
  };
}

/** Failure of the page that is retried next; while the site rests, its last one. */
function lastOf({ maxAttempts }: RunRecord, record: RunSiteRecord, now: number): LastFailure | null {
  const { lastFailure: failed, lastTries: tries, lastUrl: url, nextTryAt, site } = record;
  if (failed !== null)
    return lastFailure(failed, {
      url: url === null ? null : shownUrl(url),
      attempt: tries + 1,
      max_attempts: maxAttempts,
      next_try_at: isoOrNull(nextTryAt),
    });
  const rests = heldBySite(site, record.laneRunning, now);
  const { lastFailure: did = null } = site;
  return rests === null || rests.reason === "site_paused" || did === null ? null : lastFailure(did);
}

/** An operator's pause or the pacing is unrelated to failures. */
function isHeldReason(reason: WaitingView["reason"]): boolean {
  return reason === "retry" || reason === "circuit_open" || reason === "rate_limited" || reason === "probing";
}
