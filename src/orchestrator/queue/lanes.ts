import type { LaneRecord } from "../../store/live-port.ts";
import type { WorkerRecord } from "../../store/worker-port.ts";
import { runningAt, type SiteDeps, type SiteProgress, siteProgress, type SiteWaiting } from "../site-view.ts";
import { sentenceOf, standstill } from "../workforce.ts";
import { type LaneStep, stepsOf } from "./lane-steps.ts";

/** What a step may sleep for, beside what keeps the work of a site. */
export const STEP_WAIT_REASONS = ["step_time", "step_run", "step_entries"] as const;

export interface LaneWaiting extends Omit<SiteWaiting, "reason"> {
  reason: SiteWaiting["reason"] | (typeof STEP_WAIT_REASONS)[number];
}

/** What is to be done at one site, or group of sites, or by one step of a workflow: one process at a time does it. */
export interface LaneView {
  lane: string;
  /** Of a step of a workflow: which; null: it is a lane of sites. */
  step: LaneStep | null;
  sites: string[];
  counts: { queued: number; running: number; retrying: number };
  /** Runs that have open work there. */
  runs: number;
  state: SiteProgress["state"];
  waiting_for: LaneWaiting | null;
  /** Whether some process has it in hand, and which, as far as that is known. */
  owned: boolean;
  worker_id: string | null;
  oldest_queued_at: string | null;
}

const MOST_WORKERS = 1000;

/** Lanes with open work, by name; `after` is the one to go on behind. */
export async function listLanes(deps: SiteDeps, window: { after?: string; limit: number }): Promise<LaneView[]> {
  const { store } = deps;
  const records = await store.openLanes(window);
  const workers = await store.workers({ live: true, limit: MOST_WORKERS });
  const still = await standstill(deps);
  const idle: SiteWaiting | null =
    still === null ? null : { reason: still.reason, until: null, message: sentenceOf(still) };
  const steps = await stepsOf(
    deps,
    records.map(({ lane }) => lane),
  );
  // Sites of a lane are one server: what one of them waits for, all do.
  const firsts = await Promise.all(records.map(({ sites: [site] }) => (site === undefined ? null : store.site(site))));
  const known = firsts.filter((site) => site !== null);
  const progress = new Map((await siteProgress(deps, known)).map((site, n) => [known[n], site]));
  return records.map((record, n) => {
    const first = firsts[n] ?? null;
    const site = first === null ? null : (progress.get(first) ?? null);
    const running = first === null ? record.counts.running : runningAt(first, record.counts.running, deps.siteDefaults);
    return {
      lane: record.lane,
      step: steps.get(record.lane) ?? null,
      sites: record.sites,
      counts: { ...record.counts, queued: record.counts.queued + record.counts.running - running, running },
      runs: record.runs,
      state: site?.state ?? (record.counts.running > 0 ? "active" : "waiting"),
      waiting_for:
        site === null ? (sleepOf(record) ?? (still?.lanes.has(record.lane) === true ? null : idle)) : site.waiting_for,
      owned: record.isOwned,
      worker_id: record.isOwned ? workerOf(deps, workers, record.lane) : null,
      oldest_queued_at: record.oldestQueued === null ? null : new Date(record.oldestQueued).toISOString(),
    };
  });
}

/** Where one process works it is that one; of several, the one that says it is at work there. */
function workerOf({ store }: SiteDeps, workers: readonly WorkerRecord[], lane: string): string | null {
  const alive = workers.filter(({ state, role }) => state !== "lost" && role === "engine");
  const owner = store.capabilities.singleEngine
    ? alive[0]
    : alive.find(({ active }) => active.some((task) => task.lane === lane));
  return owner?.id ?? null;
}

const SLEEPS = {
  time: { reason: "step_time", message: "Waits, as the step says" },
  run: { reason: "step_run", message: "Waits for the run that it has started" },
  items: { reason: "step_entries", message: "Waits for the entries of its list" },
  retry: { reason: "retry", message: "It has failed, and is tried again" },
} as const;

/** null: it can be done at any time. */
function sleepOf({ sleeps, counts }: LaneRecord): LaneWaiting | null {
  if (sleeps === null || counts.queued + counts.running > 0) return null;
  const until = sleeps.until === null ? null : new Date(sleeps.until).toISOString();
  return { ...SLEEPS[sleeps.for], until };
}
