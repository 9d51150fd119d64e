/** Why work of a run waits at a site, as far as the store shows. */
import { type Breaker, breakerPhase } from "../lane/circuit.ts";
import type { TaskCounts } from "./run-end.ts";
import type { RunHold } from "./run-hold.ts";
import type { LastFailure } from "./last-failure.ts";
import type { RunState } from "./states.ts";

export const WAIT_REASONS = [
  "run_paused",
  "turn",
  "person",
  "previous_run",
  "proxies",
  "data_quality",
  "no_worker",
  "workers_drained",
  "worker_paused",
  "worker_lost",
  "site_paused",
  "circuit_open",
  "rate_limited",
  "probing",
  "depends_on",
  "page_limit",
  "retry",
  "memory",
  "concurrency_key",
  "crawl_delay",
  "min_delay",
  "rate",
  "concurrency",
] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** No worker starts any task. */
export const IDLE_REASONS = ["no_worker", "workers_drained", "worker_paused"] as const satisfies readonly WaitReason[];
export type IdleReason = (typeof IDLE_REASONS)[number];

export function isIdle(reason: WaitReason): reason is IdleReason {
  return (IDLE_REASONS as readonly WaitReason[]).includes(reason);
}

/** These slow a site down while it is at work; all others keep it waiting. */
export const WHILE_AT_WORK: ReadonlySet<WaitReason> = new Set(["concurrency", "rate", "min_delay", "crawl_delay"]);

/** False for pacing only: the site is at work, with delays. */
export function isHeld(waits: { reason: WaitReason } | null): boolean {
  return waits !== null && !WHILE_AT_WORK.has(waits.reason);
}

/**
 * Requests in flight as reported by the site's owner. With several shards each owner reports its own lane: then it only
 * applies while all of them are held.
 */
export function begunByOwner(
  site: Pick<SiteManners, "waiting"> & { shardCount: number },
  running: number,
  now: number,
): number {
  const reported = reportedByOwner(site, running, now);
  const isWhole = reported !== null && (site.shardCount === 1 || isHeld(reported));
  return isWhole ? (reported.begun ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
}

/** Reasons that are reported per site. */
export const AT_SITES: ReadonlySet<WaitReason> = new Set([
  "site_paused",
  "circuit_open",
  "rate_limited",
  "probing",
  "depends_on",
  "page_limit",
  "retry",
  "memory",
  "concurrency_key",
]);

export interface Waiting {
  reason: WaitReason;
  /** Null: not a matter of time. */
  until: number | null;
  /** The shared concurrency limit, for `concurrency_key`. */
  key?: string;
  /** Requests in flight, as reported by the owner. */
  begun?: number;
}

/** A wait as users see it. */
export interface WaitingView {
  reason: WaitReason;
  until: string | null;
  /** A sentence for people. */
  message: string;
  /** The failure that caused the wait; null: none. */
  last_failure: LastFailure | null;
}

/** Limits and state of a site, by its behaviour and its operator. */
export interface SiteManners {
  paused: boolean;
  holdUntil: number;
  breaker: Breaker;
  maxConcurrency: number | null;
  minDelayMs: number | null;
  crawlDelayMs: number | null;
  requestsPerSecond: number | null;
  /** The wait its owner reported last; absent or null: none. */
  waiting?: Waiting | null;
}

/** Limits of sites without settings. */
export interface SiteDefaults {
  maxPerSite: number;
  minDelayMs: number;
}

/** A worker that is gone and still has the lease of a site. */
export interface LostLease {
  machine: string;
  pid: number;
  until: number;
}

export interface WorkAtSite {
  runStatus: RunState;
  /** What keeps the whole run from its work. */
  hold?: Pick<RunHold, "reason" | "until"> | null;
  counts: Pick<TaskCounts, "pending" | "queued" | "retrying" | "running">;
  /** When the next retry is due; null: unknown or none. */
  nextTryAt: number | null;
  /** Tasks of all runs that are at work here. */
  laneRunning: number;
  /** Why no worker starts tasks; null: a worker does. */
  idle: IdleReason | null;
  /** The lost worker that holds tasks of this site; null: none. */
  lost?: LostLease | null;
  /** Its tasks here wait until other sites' work is finished. */
  dependsOnOthers?: boolean;
  /** The crawl's page quota is used up by pages in flight at other sites. */
  quotaExhausted?: boolean;
}

/** Runs that need no turn start with their first task: what blocks that task blocks the run. */
export function stateForWork({ kind, status }: { kind: string; status: RunState }): RunState {
  return status === "queued" && kind !== "crawl" && kind !== "workflow" ? "running" : status;
}

const RUN_WAITS: Partial<Record<RunState, WaitReason>> = {
  paused: "run_paused",
  queued: "turn",
  waiting_for_human: "person",
};

/** The reason that blocks the work the longest; null: none. */
export function waitingFor(
  work: WorkAtSite,
  site: SiteManners | null,
  defaults: SiteDefaults,
  now: number,
): Waiting | null {
  const { counts } = work;
  const waiting = counts.pending + counts.queued + counts.retrying;
  // An owner has claimed more tasks than it has started: blocked tasks may count as running.
  if (waiting + counts.running === 0) return null;
  const runWaits = RUN_WAITS[work.runStatus];
  // A crawl that is held has no turn before it is released.
  if (work.hold && runWaits !== "run_paused") return { reason: work.hold.reason, until: work.hold.until };
  if (runWaits !== undefined) return { reason: runWaits, until: null };
  if (work.idle !== null) return { reason: work.idle, until: null };
  if (work.lost) return { reason: "worker_lost", until: work.lost.until };
  const held = site === null ? null : heldBySite(site, work.laneRunning, now);
  if (held !== null) return held;
  if (work.dependsOnOthers === true) return { reason: "depends_on", until: null };
  if (work.quotaExhausted === true && counts.queued > 0 && counts.running === 0)
    return { reason: "page_limit", until: null };
  const reported = site === null ? null : reportedByOwner(site, work.laneRunning, now);
  // All claimed tasks may wait for the browser, or for a limit shared with other sites.
  if (reported?.reason === "memory" || reported?.reason === "concurrency_key") return reported;
  if (waiting === 0) return null;
  if (counts.queued + counts.running === 0 && counts.retrying > 0) return { reason: "retry", until: work.nextTryAt };
  if (reported !== null) return reported;
  const delay = site?.minDelayMs ?? defaults.minDelayMs;
  if ((site?.crawlDelayMs ?? 0) > delay) return { reason: "crawl_delay", until: null };
  if (delay > 0) return { reason: "min_delay", until: null };
  if ((site?.requestsPerSecond ?? 0) > 0) return { reason: "rate", until: null };
  const most = site?.maxConcurrency ?? defaults.maxPerSite;
  return work.laneRunning >= most ? { reason: "concurrency", until: null } : null;
}

/** The owner's report, unless it has expired. */
export function reportedByOwner(
  { waiting = null }: Pick<SiteManners, "waiting">,
  running: number,
  now: number,
): Waiting | null {
  if (waiting === null) return null;
  if (waiting.until !== null) return waiting.until > now ? waiting : null;
  // What waits for a shared limit stays queued: nothing of it is at work.
  return running > 0 || waiting.reason === "concurrency_key" ? waiting : null;
}

export interface HeldAtSite extends Waiting {
  reason: "site_paused" | "circuit_open" | "rate_limited" | "probing" | "depends_on";
}

/** What blocks all requests to a site. */
export function heldBySite(
  site: Pick<SiteManners, "paused" | "holdUntil" | "breaker">,
  running: number,
  now: number,
): HeldAtSite | null {
  if (site.paused) return { reason: "site_paused", until: null };
  const phase = breakerPhase(site.breaker, now);
  if (phase === "open") return { reason: "circuit_open", until: site.breaker.openUntil };
  if (site.holdUntil > now) return { reason: "rate_limited", until: site.holdUntil };
  return phase === "half_open" && running > 0 ? { reason: "probing", until: null } : null;
}
