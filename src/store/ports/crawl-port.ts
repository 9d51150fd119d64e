/** Store methods and records for crawls: runs that grow while they run. */
import type { Discovered } from "../../domain/run/outcome.ts";
import type { TrapState } from "../../domain/crawl/traps.ts";
import type { ListedChange } from "../../domain/page/page-change.ts";
import type { PageCopy } from "../../domain/page/page-copy.ts";
import type { Requeued, RequeueWindow } from "./progress-port.ts";
import type { ArtifactRecord } from "../records/output-records.ts";

export interface CrawlStore {
  /** Lets waiting crawls begin, oldest first, as long as fewer than `most` are running. Says which lanes got work. */
  admitCrawls(most: number, now: number): Promise<{ admitted: string[]; lanes: string[] }>;
  /** Ends a run because its time is over: what is done stays. */
  endByTime(id: string, now: number): Promise<void>;
  /**
   * Opens a run again that ran out of time, with all its time, or of proxies, and puts up to `limit` of what that had cut
   * off back into the queue. Does nothing for other runs.
   */
  goOn(id: string, window: RequeueWindow, now: number): Promise<Requeued>;
  /**
   * Running time has passed since this was called last. Time is counted in these steps, so that neither a clock that is
   * set nor the time in which no process ran uses up any of it. How far the runs are is looked at in the same steps.
   * Says which runs have used up theirs, `limit` of them at most.
   */
  passTime(elapsedMs: number, now: number, limit: number): Promise<string[]>;
  /** Files of a run that hold what servers sent, oldest first; `after` is the id of one. */
  exchanges(id: string, options: { after?: string; limit: number }): Promise<ArtifactRecord[]>;
  /** What a crawl had counted of traps when that was last written. */
  trapState(id: string): Promise<TrapState | null>;
  /** What the newest run of a job that came to a page has kept of it, if it was read by these rules and its records are still there. */
  pageCopy(jobId: string, key: string, fingerprint: string): Promise<PageCopyRecord | null>;
  /** Digest of what a page said when the job came to it last; null: the job does not know it. */
  pageDigest(jobId: string, key: string): Promise<string | null>;
  /** Pages that a run found to be new, changed or gone, each kind by itself; `after` is the cursor of one. */
  pageChanges(
    id: string,
    options: { change?: ListedChange; after?: string; limit: number },
  ): Promise<PageChangeRecord[]>;
  /** Of each of these pages of a run, whether it was new or changed; null: neither. */
  changesAmong(id: string, keys: readonly string[]): Promise<(Exclude<ListedChange, "gone"> | null)[]>;
}

/**
 * What a task at work adds to its run: whoever finds very much hands it on a piece at a time. What is known already is
 * left out, so doing it again does no harm.
 */
export interface Growth {
  found: readonly Discovered[];
  /** How many tasks the run may have besides its pages; how many pages it may know follows from the limit it was made with. */
  auxiliaryLimit: number;
}

export interface Grown {
  /** What was not known before. */
  added: number;
  /** Lanes that got work. */
  lanes: string[];
  /** A limit kept something out. */
  leftOut: boolean;
}

/** A page that a run of a saved crawl found to be different. */
export interface PageChangeRecord {
  cursor: string;
  change: ListedChange;
  url: string;
}

export interface PageCopyRecord extends PageCopy {
  /** Whose records they are, and how many. */
  taskId: string;
  records: number;
}
