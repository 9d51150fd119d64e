/** Store methods and records for the progress of runs: failures by reason, counts by site. */
import type { ErrorClass } from "../../domain/crawl/crawl-end.ts";
import type { Failure, FailureCode, FailureReason } from "../../domain/run/failure.ts";
import type { TaskCounts } from "../../domain/run/run-end.ts";
import type { RunState, TaskState } from "../../domain/run/states.ts";
import type { RunFilter } from "../records/job-records.ts";
import type { SiteRecord } from "../records/site-records.ts";

/** Whoever watches a run asks for its retries again and again: no more tasks than these are looked at. */
export const RETRIES_READ = 1000;

/** So many of a run's tasks are searched or compared, from where the list begins: others wait for that to end. */
export const SEARCHED_TASKS = 50_000;

export interface ProgressStore {
  /** All runs that are there, by kind and state. */
  countRuns(): Promise<{ kind: string; status: RunState; count: number }[]>;
  /** How many runs there are of those that `runs` would list; counts no further than `limit`. */
  countRunsLike(filter: RunFilter): Promise<number>;
  /** What failed of a run, most frequent first. */
  runErrors(id: string): Promise<RunErrorRecord[]>;
  /** Why tasks of a run that wait for another try have failed, most frequent first; of very many, of the first `RETRIES_READ`. */
  retryReasons(id: string): Promise<RunErrorRecord[]>;
  /** How a run is getting on, site by site, in order of their names. */
  runSites(id: string, filter: RunSiteFilter): Promise<RunSiteRecord[]>;
  /** How the newest run of each of these jobs is getting on; jobs that had none are not in it. */
  lastRuns(jobIds: readonly string[]): Promise<Map<string, LastRunRecord>>;
  /** How many crawls are running, and how many wait for their turn. */
  crawlCounts(): Promise<{ running: number; queued: number }>;
  /** Sites whose breaker is open, those that stay shut longest first. */
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
  /** Of tasks that are tried again: when the first of them is. */
  nextTryAt?: number;
}

/** Which of the failed tasks of a run are meant: those that are all of what is said. */
export interface FailedChoice {
  site?: string;
  reasons?: readonly FailureReason[];
  taskIds?: readonly string[];
}

/** A piece of many tasks that go back into the queue. */
export interface RequeueWindow {
  limit: number;
  /** Where the piece before ended. */
  after?: RequeuePosition;
}

/** Means something only to the store; what has ended since the first piece is left for the next time. */
export interface RequeuePosition {
  stream: number;
  task: number;
  upTo: number;
}

export interface Requeued {
  requeued: number;
  lanes: string[];
  /** Where to go on; null: that was all. */
  next: RequeuePosition | null;
}

export interface RunSiteFilter {
  /** Only sites that have tasks in this state. */
  state?: TaskState;
  site?: string;
  /** The site to go on behind. */
  after?: string;
  limit: number;
}

export interface RunSiteRecord {
  site: SiteRecord;
  counts: TaskCounts;
  /** When the next of those that failed is tried again; null: none waits for that. */
  nextTryAt: number | null;
  /** Why that one has failed, how often it was tried, and where it is. */
  lastFailure: Failure | null;
  lastTries: number;
  lastUrl: string | null;
  /** Tasks of all runs that the lane's owner has in hand. */
  laneRunning: number;
  /** Sites whose work must be finished before the run goes on here. */
  waitsFor: readonly string[];
  /** All pages that the run may still have are in hand. */
  quotaExhausted: boolean;
}

export interface RecentPages {
  completed: number;
  failed: Record<ErrorClass, number>;
  /** When the counting began: five minutes ago, or with the first page since. */
  since: number;
}
