/** Store methods and records for crawls: runs that grow while they run. */
import type { Discovered } from "../../domain/run/outcome.ts";
import type { TrapState } from "../../domain/crawl/traps.ts";
import type { ListedChange } from "../../domain/page/page-change.ts";
import type { PageCopy } from "../../domain/page/page-copy.ts";
import type { Requeued, RequeueWindow } from "./progress-port.ts";
import type { ArtifactRecord } from "../records/output-records.ts";

export interface CrawlStore {
  /** Admits waiting crawls, oldest first, while fewer than `most` are running. Returns the lanes that got work. */
  admitCrawls(most: number, now: number): Promise<{ admitted: string[]; lanes: string[] }>;
  /** Ends a run because its time is over; its results stay. */
  endByTime(id: string, now: number): Promise<void>;
  /**
   * Reopens a run that ran out of time (its limit restarts) or of proxies, and requeues up to `limit` of the tasks that
   * this had cancelled. Does nothing for other runs.
   */
  goOn(id: string, window: RequeueWindow, now: number): Promise<Requeued>;
  /**
   * Adds elapsed running time to all timed runs, and refreshes their progress. Time is counted in these steps, so that
   * neither a clock change nor downtime uses up any of it. Returns runs that have used up their time, at most `limit`.
   */
  passTime(elapsedMs: number, now: number, limit: number): Promise<string[]>;
  /** Artifacts with recorded HTTP exchanges, oldest first; `after` is an artifact id. */
  exchanges(id: string, options: { after?: string; limit: number }): Promise<ArtifactRecord[]>;
  /** The crawl's trap counters, as last persisted. */
  trapState(id: string): Promise<TrapState | null>;
  /**
   * The copy of a page from the newest run of the job that fetched it, if it was extracted by the same rules and its
   * records still exist.
   */
  pageCopy(jobId: string, key: string, fingerprint: string): Promise<PageCopyRecord | null>;
  /** Content digest of a page at the job's last visit; null: never visited. */
  pageDigest(jobId: string, key: string): Promise<string | null>;
  /** Pages that a run found new, changed or gone, grouped by kind; `after` is a record's cursor. */
  pageChanges(
    id: string,
    options: { change?: ListedChange; after?: string; limit: number },
  ): Promise<PageChangeRecord[]>;
  /** For each of these pages of a run: new, changed, or null for neither. */
  changesAmong(id: string, keys: readonly string[]): Promise<(Exclude<ListedChange, "gone"> | null)[]>;
}

/**
 * Tasks that a running task adds to its run, in batches if there are many. Known keys are skipped, so repeating a call
 * is harmless.
 */
export interface Growth {
  found: readonly Discovered[];
  /** Limit for tasks that are not pages; the page limit is the run's own. */
  auxiliaryLimit: number;
}

export interface Grown {
  /** Tasks that were not known before. */
  added: number;
  /** Lanes that got work. */
  lanes: string[];
  /** A limit excluded some. */
  leftOut: boolean;
}

/** A page that a run of a saved crawl found changed. */
export interface PageChangeRecord {
  cursor: string;
  change: ListedChange;
  url: string;
}

export interface PageCopyRecord extends PageCopy {
  /** The task that has the records, and their number. */
  taskId: string;
  records: number;
}
