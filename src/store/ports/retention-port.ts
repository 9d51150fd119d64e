import type { RunFilter } from "../records/job-records.ts";

/** What a removal of artifact rows frees. */
export interface DroppedFiles {
  /** Removed rows. */
  rows: number;
  /** Size of the files that no other row references. */
  bytes: number;
}

/** When runs without a job, or of a deleted one, expire. */
export interface ExpiryLimits {
  /** Temporary runs that ended then or earlier. */
  temporaryBefore: number;
  /** Other runs that ended then or earlier; null: they stay. */
  endedBefore: number | null;
}

/** Which jobs to trim, and the defaults for those without a policy; 0: no limit. */
export interface JobLimits {
  defaults: { keepRuns: number; keepDays: number };
  /** Job number to continue after; 0: from the start. */
  after: number;
  /** Only jobs with runs newer than this run number; 0: all. */
  since: number;
  /** Maximum of jobs, and of runs per job. */
  limit: number;
}

export interface TrimmedJobs {
  hidden: number;
  /** Some job has more runs to hide. */
  isMore: boolean;
  /** Where to continue; null: done. */
  last: number | null;
}

/** Which runs to delete, among those that have ended, are no child runs, and are not kept. */
export interface DeletionFilter extends Omit<RunFilter, "after" | "from" | "limit" | "parent"> {
  includeKept?: boolean;
}

/** A bulk deletion of runs. */
export interface RunDeletion {
  id: string;
  filter: DeletionFilter;
  /** Matching runs at its start, counted up to 100,000. */
  matched: number;
  /** Runs hidden so far. */
  deleted: number;
  createdAt: number;
  finishedAt: number | null;
}

export interface DiskUse {
  bytes: number;
  measuredAt: number;
  /** Since when it is close to the budget; null: it is not. */
  warnedAt: number | null;
}

/** Store methods for expiry and deletion. */
export interface RetentionStore {
  /** Hides up to `limit` expired runs: they are no longer listed and cannot be reopened. Returns how many. */
  expireRuns(limits: ExpiryLimits, limit: number, now: number): Promise<number>;
  /** Hides runs of jobs beyond what their policies keep. The last completed run of a job stays. */
  trimJobs(limits: JobLimits, now: number): Promise<TrimmedJobs>;
  /** Hides the oldest ended runs that are not kept. */
  expireOldest(limit: number, now: number, which?: { lastResults?: boolean }): Promise<number>;
  /** Exempts a run from all policies; `keep` false: they apply again. */
  keepRun(id: string, keep: boolean): Promise<void>;
  /** Hides a run. Throws `illegal_transition` for a run that has not ended, or that a step or the queue needs. */
  deleteRun(id: string, now: number): Promise<void>;
  /** How many runs a deletion would match, counted up to 100,000. */
  countDeletable(filter: DeletionFilter): Promise<number>;
  /** Creates a deletion of the runs that match now. Durable when it returns; `advanceDeletions` carries it out. */
  createDeletion(filter: DeletionFilter, now: number): Promise<RunDeletion>;
  deletion(id: string): Promise<RunDeletion | null>;
  /** Newest first. */
  deletions(limit: number): Promise<RunDeletion[]>;
  /** Hides at most `limit` runs of the oldest open deletion. False: there is none. */
  advanceDeletions(limit: number, now: number): Promise<boolean>;
  /** Hidden runs with rows left, counted up to `limit`. */
  countRemoving(limit: number): Promise<number>;
  /** The number of the newest run; see `JobLimits`. */
  lastRunNumber(): Promise<number>;
  /** Sum of file sizes, each content once, over `limit` rows after `after`. `last`: where to continue; null: done. */
  storedBytes(options: { after: number; limit: number }): Promise<{ bytes: number; last: number | null }>;
  /** Database size without free pages; 0: on a server's disk. */
  databaseBytes(): Promise<number>;
  /** Records disk use, and since when it is close to the budget; `isNear` false clears that. */
  noteDiskUse(use: { bytes: number; isNear: boolean }, now: number): Promise<DiskUse>;
  /** As last recorded; null: not measured yet. */
  diskUse(): Promise<DiskUse | null>;
  /** Removes about `limit` rows of hidden runs; returns how many. 0: only rows that are in use are left. */
  removeExpired(limit: number): Promise<number>;
  /** Removes up to 1,000 artifact rows by id. */
  dropFiles(ids: readonly string[]): Promise<DroppedFiles>;
  /**
   * Scans `limit` files whose rows were removed, in order of their hash, and returns those that no other row
   * references. `last`: where to continue; null: done.
   */
  orphanedFiles(options: { after?: string; limit: number }): Promise<{ orphaned: string[]; last: string | null }>;
  /** Records up to 1,000 files that were stored for rows that were never written: `orphanedFiles` includes them. */
  recordOrphanedFiles(hashes: readonly string[]): Promise<void>;
  /** Whether a row that referenced this file was removed, and none is left. */
  isOrphaned(hash: string): Promise<boolean>;
  /** These files were deleted. */
  forgetOrphanedFiles(hashes: readonly string[]): Promise<void>;
}
