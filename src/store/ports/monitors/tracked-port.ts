/** Pages that are compared with the last time that they were read, with or without a job. */

/** The last time that a page was read. */
export interface TrackedPageRecord {
  hash: string;
  isSealed: boolean;
  readAt: number;
}

export interface TrackedPageStore {
  trackedPage(key: string): Promise<TrackedPageRecord | null>;
  /** Removes up to `limit` pages that were last read before then; returns how many. */
  expireTrackedPages(before: number, limit: number): Promise<number>;
}
