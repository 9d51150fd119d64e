import { isoOrNull } from "../../base/iso.ts";
import { laneWithoutShard } from "../../domain/lane/lane.ts";
import { lastFailure } from "../../domain/run/last-failure.ts";
import type { LaneRecord } from "../../store/ports/live-port.ts";
import type { WaitingView } from "../../domain/run/waiting.ts";
import { runningAt, type SiteDeps, type SiteProgress, siteProgress } from "../sites/site-view.ts";
import { sentenceOf, noWorkersReason } from "../workers/worker-availability.ts";
import { ownersOfLanes } from "./item-owners.ts";
import { type LaneStep, stepsOf } from "./lane-steps.ts";

/** Why a step sleeps, besides the reasons of sites. */
export const STEP_WAIT_REASONS = ["step_time", "step_run", "step_entries"] as const;

interface LaneWaiting extends Omit<WaitingView, "reason"> {
  reason: WaitingView["reason"] | (typeof STEP_WAIT_REASONS)[number];
}

/** The work of one site, group of sites or workflow step: one process at a time owns it. */
export interface LaneView {
  lane: string;
  /** The workflow step; null: a lane of sites. */
  step: LaneStep | null;
  sites: string[];
  counts: { queued: number; running: number; retrying: number };
  /** Runs with open work in it. */
  runs: number;
  state: SiteProgress["state"];
  waiting_for: LaneWaiting | null;
  /** Whether a process owns it, and which, if known. */
  owned: boolean;
  worker_id: string | null;
  oldest_queued_at: string | null;
}

const MOST_WORKERS = 1000;

/** Lanes with open work, by name; `after` is the last one of the previous page. */
export async function listLanes(deps: SiteDeps, window: { after?: string; limit: number }): Promise<LaneView[]> {
  const { store } = deps;
  const records = await store.openLanes(window);
  const workerOf = await workersOf(deps, records);
  const noWorkers = await noWorkersReason(deps);
  const idle: WaitingView | null =
    noWorkers === null
      ? null
      : { reason: noWorkers.reason, until: null, message: sentenceOf(noWorkers), last_failure: null };
  const steps = await stepsOf(
    deps,
    records.map(({ lane }) => lane),
  );
  // Sites of a lane are one server: they share what they wait for.
  const firsts = await Promise.all(records.map(({ sites: [site] }) => (site === undefined ? null : store.site(site))));
  const known = firsts.filter((site) => site !== null);
  const progress = new Map((await siteProgress(deps, known)).map((site, n) => [known[n], site]));
  return records.map((record, n) => {
    const first = firsts[n] ?? null;
    const site = first === null ? null : (progress.get(first) ?? null);
    const { running: claimed } = record.counts;
    const begins = noWorkers === null || noWorkers.lanes.has(laneWithoutShard(record.lane));
    const underWay = first === null ? claimed : runningAt(first, claimed, deps.siteDefaults, deps.clock.now());
    const running = begins ? underWay : 0;
    return {
      lane: record.lane,
      step: steps.get(record.lane) ?? null,
      sites: record.sites,
      counts: { ...record.counts, queued: record.counts.queued + record.counts.running - running, running },
      runs: record.runs,
      state: site?.state ?? (running > 0 ? "active" : "waiting"),
      waiting_for: site === null ? (sleepOf(record) ?? (begins ? null : idle)) : site.waiting_for,
      owned: record.isOwned,
      worker_id: workerOf(record),
      oldest_queued_at: isoOrNull(record.oldestQueued),
    };
  });
}

/** The only worker, or the one that holds the lease. */
async function workersOf(
  deps: SiteDeps,
  records: readonly LaneRecord[],
): Promise<(record: LaneRecord) => string | null> {
  const owned = records.filter(({ isOwned }) => isOwned);
  if (!deps.store.capabilities.singleEngine) {
    const owners = await ownersOfLanes(
      deps,
      owned.map(({ lane }) => lane),
    );
    return ({ lane }) => owners.get(lane)?.worker_id ?? null;
  }
  const workers = await deps.store.workers({ live: true, limit: MOST_WORKERS });
  const engine = workers.find(({ state, role }) => state !== "lost" && role === "engine");
  return ({ isOwned }) => (isOwned ? (engine?.id ?? null) : null);
}

const SLEEPS = {
  time: { reason: "step_time", message: "Waiting, as requested by the step" },
  run: { reason: "step_run", message: "Waiting for the run it started" },
  items: { reason: "step_entries", message: "Waiting for its list entries" },
  retry: { reason: "retry", message: "Retrying" },
} as const;

/** Null: it is ready. */
function sleepOf({ sleeps, counts }: LaneRecord): LaneWaiting | null {
  if (sleeps === null || counts.queued + counts.running > 0) return null;
  const until = isoOrNull(sleeps.until);
  const next = { url: null, attempt: null, max_attempts: null, next_try_at: until };
  const last = sleeps.failure === null ? null : lastFailure(sleeps.failure, next);
  const { reason, message } = SLEEPS[sleeps.for];
  return { reason, until, message: last === null ? message : `${message}: ${last.message}`, last_failure: last };
}
