import type { RunFilter } from "../records/job-records.ts";

/** What was given up with some rows. */
export interface DroppedFiles {
  /** How many rows there were. */
  rows: number;
  /** The size of what no other row names: so much room there will be. */
  bytes: number;
}

/** When runs of no job, or of one that was deleted, expire. */
export interface ExpiryLimits {
  /** Temporary ones that ended then or earlier. */
  temporaryBefore: number;
  /** All others that ended then or earlier; null: they stay. */
  endedBefore: number | null;
}

/** Which jobs are looked at, and what holds for those that say nothing themselves; 0: no limit. */
export interface JobLimits {
  defaults: { keepRuns: number; keepDays: number };
  /** Where to go on; 0: with the first. */
  after: number;
  /** Only jobs with runs that have come after this one; 0: all. */
  since: number;
  /** Jobs, and runs of each of them. */
  limit: number;
}

export interface TrimmedJobs {
  hidden: number;
  /** Of some job there are more. */
  isMore: boolean;
  /** Where the next look begins; null: that was all. */
  last: number | null;
}

/** Which runs are to be deleted: of those that have ended, that no step has started, and that nobody asked to keep. */
export interface DeletionFilter extends Omit<RunFilter, "after" | "from" | "limit" | "parent"> {
  includeKept?: boolean;
}

/** A deletion of many runs. */
export interface RunDeletion {
  id: string;
  filter: DeletionFilter;
  /** Runs that it was about when it began, counted up to 100,000. */
  matched: number;
  /** Runs that nobody sees any more. */
  deleted: number;
  createdAt: number;
  finishedAt: number | null;
}

export interface DiskUse {
  bytes: number;
  measuredAt: number;
  /** Since when it is too near to the budget; null: it is not. */
  warnedAt: number | null;
}

/** Store methods for expiry and deletion. */
export interface RetentionStore {
  /** Hides runs that have expired, at most `limit`; nobody sees anything of them, or can open them again. Says how many. */
  expireRuns(limits: ExpiryLimits, limit: number, now: number): Promise<number>;
  /** Hides runs of jobs beyond what their policies keep. The last completed run of a job stays. */
  trimJobs(limits: JobLimits, now: number): Promise<TrimmedJobs>;
  /** Hides the oldest runs that have ended and that nobody asked to keep. */
  expireOldest(limit: number, now: number, which?: { lastResults?: boolean }): Promise<number>;
  /** No policy removes the run from now on; with `keep` false the policies hold again. */
  keepRun(id: string, keep: boolean): Promise<void>;
  /** Hides a run. Refuses (illegal_transition) while it has not ended, and what a step or the queue needs. */
  deleteRun(id: string, now: number): Promise<void>;
  /** How many runs a deletion would be about, counted up to 100,000. */
  countDeletable(filter: DeletionFilter): Promise<number>;
  /** Begins a deletion of what there is now. Durable when it returns; `advanceDeletions` does it. */
  createDeletion(filter: DeletionFilter, now: number): Promise<RunDeletion>;
  deletion(id: string): Promise<RunDeletion | null>;
  /** Newest first. */
  deletions(limit: number): Promise<RunDeletion[]>;
  /** Hides at most `limit` runs of the oldest deletion under way. False: there is none. */
  advanceDeletions(limit: number, now: number): Promise<boolean>;
  /** Runs that are hidden and of which rows are left, counted up to `limit`. */
  countRemoving(limit: number): Promise<number>;
  /** The number of the newest run; see `JobLimits`. */
  lastRunNumber(): Promise<number>;
  /** Sizes of files, each content once: `limit` rows behind `after`. `last` is where the next look begins; null: that was all. */
  storedBytes(options: { after: number; limit: number }): Promise<{ bytes: number; last: number | null }>;
  /** What the database itself takes, without what it has free inside; 0: it is on the disk of a server. */
  databaseBytes(): Promise<number>;
  /** Notes what all takes, and since when that is too near to a budget: `isNear` false ends that. */
  noteDiskUse(use: { bytes: number; isNear: boolean }, now: number): Promise<DiskUse>;
  /** As it was last noted; null: nobody has looked yet. */
  diskUse(): Promise<DiskUse | null>;
  /** Removes about `limit` rows of what is hidden; returns how many. 0: nothing is left but what somebody has in hand. */
  removeExpired(limit: number): Promise<number>;
  /** Removes the rows of these files, by their ids, at most 1,000. */
  dropFiles(ids: readonly string[]): Promise<DroppedFiles>;
  /**
   * Looks through `limit` files whose rows were removed, in order of their hash, and gives those that no other row
   * names. `last` is where the next look begins; null: that was all.
   */
  orphanedFiles(options: { after?: string; limit: number }): Promise<{ orphaned: string[]; last: string | null }>;
  /** Files that were stored for rows which are not written, at most 1,000: they are looked through with the others. */
  recordOrphanedFiles(hashes: readonly string[]): Promise<void>;
  /** Whether a row was removed that named this file, and none is left that does. */
  isOrphaned(hash: string): Promise<boolean>;
  /** These files are gone. */
  forgetOrphanedFiles(hashes: readonly string[]): Promise<void>;
}
