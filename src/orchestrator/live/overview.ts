/** The overview: throughput, queue, current work and problems. */
import { isoOrNull } from "../../base/iso.ts";
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
  /** Of this process with its browsers; null: no limit. */
  memory: { used_bytes: number; limit_bytes: number | null };
}

export interface Overview extends Resources {
  /** Pages that ended per second, over the last ten seconds. */
  pages_per_second: { good: number; bad: number };
  /** Success rate of the last five minutes; null: nothing ended, or not sampled yet. */
  success_rate: number | null;
  /** The sample size of `success_rate`. */
  recent_pages: { good: number; bad: number };
  /** Tasks in flight, as workers last reported. */
  in_flight: number;
  queued: number;
  /** Of the queued ones: failed and waiting for a retry. */
  retrying: number;
  /** When the longest-waiting page was added; null: none waits. */
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

/** Failures of runs that are active or ended within the hour. */
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
  noWorkers: NoWorkers | null;
  resources: Resources;
}

export function toOverview(seen: Seen): Overview {
  const { totals, workers, noWorkers, pace, recent } = seen;
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
    oldest_queued_at: isoOrNull(seen.oldestQueued),
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
    standstill: noWorkers === null ? null : { reason: noWorkers.reason, message: sentenceOf(noWorkers) },
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
