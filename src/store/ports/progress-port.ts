/** Store methods and records for the progress of runs: failures by reason, counts by site. */
import type { ErrorClass } from "../../domain/crawl/crawl-end.ts";
import type { Failure, FailureCode, FailureReason } from "../../domain/run/failure.ts";
import type { TaskCounts } from "../../domain/run/run-end.ts";
import type { RunState, TaskState } from "../../domain/run/states.ts";
import type { RunFilter } from "../records/job-records.ts";
import type { SiteRecord } from "../records/site-records.ts";

/** Dashboards poll the retries of a run: at most this many tasks are read. */
export const RETRIES_READ = 1000;

/**
 * At most this many of a run's tasks are searched or compared, from the list's position on: other calls wait meanwhile.
 */
export const SEARCHED_TASKS = 50_000;

export interface ProgressStore {
  /** All runs, by kind and state. */
  countRuns(): Promise<{ kind: string; status: RunState; count: number }[]>;
  /** How many runs `runs` would list; counts no further than `limit`. */
  countRunsLike(filter: RunFilter): Promise<number>;
  /** Failures of a run, most frequent first. */
  runErrors(id: string): Promise<RunErrorRecord[]>;
  /** Failures of tasks that wait for a retry, most frequent first; reads at most `RETRIES_READ`. */
  retryReasons(id: string): Promise<RunErrorRecord[]>;
  /** Progress of a run by site, ordered by name. */
  runSites(id: string, filter: RunSiteFilter): Promise<RunSiteRecord[]>;
  /** The newest run of each of these jobs; jobs without one are missing. */
  lastRuns(jobIds: readonly string[]): Promise<Map<string, LastRunRecord>>;
  /** How many crawls are running, and how many wait for their turn. */
  crawlCounts(): Promise<{ running: number; queued: number }>;
  /** Sites with an open breaker, longest open first. */
  openBreakers(now: number, limit: number): Promise<SiteRecord[]>;
  /** Pages of crawls that ended within the last five minutes. */
  recentPages(now: number): Promise<RecentPages>;
}

export interface LastRunRecord {
  id: string;
  kind: string;
  status: RunState;
  progress: number;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
}

export interface RunErrorRecord {
  code: FailureCode;
  reason: FailureReason;
  count: number;
  exampleTaskId: string;
  exampleUrl: string | null;
  exampleMessage: string;
  /** For retrying tasks: when the first of them is ready. */
  nextTryAt?: number;
}

/** Selects failed tasks of a run: all given conditions apply. */
export interface FailedChoice {
  site?: string;
  reasons?: readonly FailureReason[];
  taskIds?: readonly string[];
}

/** One batch of tasks to requeue. */
export interface RequeueWindow {
  limit: number;
  /** Where the previous batch ended. */
  after?: RequeuePosition;
}

/** Opaque to callers; tasks that ended after the first batch are left for the next call. */
export interface RequeuePosition {
  stream: number;
  task: number;
  upTo: number;
}

export interface Requeued {
  requeued: number;
  lanes: string[];
  /** Where to continue; null: done. */
  next: RequeuePosition | null;
}

export interface RunSiteFilter {
  /** Only sites that have tasks in this state. */
  state?: TaskState;
  site?: string;
  /** The site to continue after. */
  after?: string;
  limit: number;
}

export interface RunSiteRecord {
  site: SiteRecord;
  counts: TaskCounts;
  /** When the next retry is due; null: none waits. */
  nextTryAt: number | null;
  /** Failure, attempts and URL of that task. */
  lastFailure: Failure | null;
  lastTries: number;
  lastUrl: string | null;
  /** Running tasks of all runs in the lane. */
  laneRunning: number;
  /** Sites that must finish before the run continues here. */
  waitsFor: readonly string[];
  /** The run's whole remaining page quota is in flight. */
  quotaExhausted: boolean;
}

export interface RecentPages {
  completed: number;
  failed: Record<ErrorClass, number>;
  /** Start of the counts: five minutes ago, or the first page since. */
  since: number;
}
