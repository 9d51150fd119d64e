/** The overview: throughput, queue, current work and problems. */
import { RUN_STATES, type RunState, TERMINAL_RUN_STATES } from "../../domain/run/states.ts";
import type { IdleReason } from "../../domain/run/waiting.ts";
import type { ActiveRunCount, RecentErrorRecord } from "../../store/ports/live-port.ts";
import type { SiteTotals } from "../../store/records/site-records.ts";
import type { WorkerRecord } from "../../store/ports/worker-port.ts";
import { type ErrorGroup, toErrorGroup } from "../runs/failed.ts";
import { rounded } from "../sites/site-view.ts";
import { countWorkers, sentenceOf, type NoWorkers } from "../workers/worker-availability.ts";
import type { LiveRun } from "./active-runs.ts";
import type { Ended } from "./pace.ts";
import type { TroubledSite } from "./troubled-sites.ts";

/** Resources of this process and its disks. */
export interface Resources {
  disk: { what: string; free_bytes: number; least_free_bytes: number }[];
  /** Of the process that answers, with its browsers; null: there is no limit. */
  memory: { used_bytes: number; limit_bytes: number | null };
}

export interface Overview extends Resources {
  /** Pages that ended, a second, over the last ten seconds. */
  pages_per_second: { good: number; bad: number };
  /** Success rate of the last five minutes; null: nothing ended, or not counted yet. */
  success_rate: number | null;
  /** How many of them there were: of a few pages a part says little. */
  recent_pages: { good: number; bad: number };
  /** What workers have under way, as they said last. */
  in_flight: number;
  queued: number;
  /** Of the queued ones: they have failed, and are tried again later. */
  retrying: number;
  /** When the page was added that has waited longest; null: none waits. */
  oldest_queued_at: string | null;
  runs: Record<ActiveState, number>;
  active_runs: LiveRun[];
  sites: { known: number; active: number; waiting: number; paused: number; blocked: number };
  troubled_sites: TroubledSite[];
  failures: FailureGroup[];
  workers: ReturnType<typeof countWorkers> & { in_flight: number; capacity: number };
  /** Why no work starts; null: workers accept work. */
  standstill: { reason: IdleReason; message: string } | null;
}

type ActiveState = Exclude<RunState, "completed" | "partial" | "failed" | "cancelled">;

export const ACTIVE_STATES = RUN_STATES.filter((state): state is ActiveState => !TERMINAL_RUN_STATES.includes(state));

/** What failed of runs that go on or have ended within the hour. */
export interface FailureGroup extends Pick<ErrorGroup, "failure_code" | "failure_reason" | "class" | "count"> {
  example: ErrorGroup["example"] & { run_id: string };
}

export interface Seen {
  pace: Ended | null;
  /** What ended in the last five minutes. */
  recent: Ended;
  totals: SiteTotals;
  oldestQueued: number | null;
  runs: readonly ActiveRunCount[];
  activeRuns: LiveRun[];
  troubled: TroubledSite[];
  errors: readonly RecentErrorRecord[];
  workers: readonly WorkerRecord[];
  still: NoWorkers | null;
  resources: Resources;
}

export function toOverview(seen: Seen): Overview {
  const { totals, workers, still, pace, recent } = seen;
  const inFlight = inFlightOf(workers);
  const { pending, queued, running, retrying } = totals.counts;
  const beyond = seen.runs.reduce((sum, one) => sum + one.beyond, 0);
  return {
    pages_per_second: { good: rounded(pace?.good ?? 0, 1), bad: rounded(pace?.bad ?? 0, 1) },
    success_rate: recent.good + recent.bad === 0 ? null : rounded(recent.good / (recent.good + recent.bad), 3),
    recent_pages: { good: Math.round(recent.good), bad: Math.round(recent.bad) },
    in_flight: inFlight,
    // Owners claim more than they have started.
    queued: Math.max(0, pending + queued + retrying + Math.max(0, running - inFlight) - beyond),
    retrying,
    oldest_queued_at: seen.oldestQueued === null ? null : new Date(seen.oldestQueued).toISOString(),
    runs: runsByState(seen.runs),
    active_runs: seen.activeRuns,
    sites: { known: totals.sites, ...totals.byState },
    troubled_sites: seen.troubled,
    failures: seen.errors.map(toGroup),
    workers: {
      ...countWorkers(workers),
      in_flight: inFlight,
      capacity: atWork(workers).reduce((sum, { maxWorkers }) => sum + maxWorkers, 0),
    },
    standstill: still === null ? null : { reason: still.reason, message: sentenceOf(still) },
    ...seen.resources,
  };
}

export function inFlightOf(workers: readonly WorkerRecord[]): number {
  return workers.reduce((sum, { state, inFlight }) => (state === "lost" ? sum : sum + inFlight), 0);
}

/** Workers that may start tasks, without standbys. */
function atWork(workers: readonly WorkerRecord[]): WorkerRecord[] {
  return workers.filter(({ state, role }) => state === "working" && role === "engine");
}

function runsByState(runs: Seen["runs"]): Overview["runs"] {
  const sum = (state: ActiveState) =>
    runs.reduce((total, { status, count }) => (status === state ? total + count : total), 0);
  return Object.fromEntries(ACTIVE_STATES.map((state) => [state, sum(state)])) as Overview["runs"];
}

function toGroup(record: RecentErrorRecord): FailureGroup {
  const { failure_code, failure_reason, class: errorClass, count, example } = toErrorGroup(record);
  return {
    failure_code,
    failure_reason,
    class: errorClass,
    count,
    example: { ...example, run_id: record.exampleRunId },
  };
}
