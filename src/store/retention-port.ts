/** What was given up with some rows. */
export interface DroppedFiles {
  /** How many rows there were. */
  rows: number;
  /** The size of what no other row names: so much room there will be. */
  bytes: number;
}

/** The verbs of the store about what is kept no longer. */
export interface RetentionVerbs {
  /**
   * Hides crawls that ended at `endedBefore` or earlier and have no job, or had one that was deleted by then, at most
   * `limit`: from then on nobody sees anything of them, or can open them again. Returns how many there were.
   */
  expireCrawls(endedBefore: number, limit: number, now: number): Promise<number>;
  /** Removes about `limit` rows of what is hidden; returns how many. 0: nothing is left but what somebody has in hand. */
  removeExpired(limit: number): Promise<number>;
  /** Removes the rows of these files, by their ids, at most 1,000. */
  dropFiles(ids: readonly string[]): Promise<DroppedFiles>;
  /**
   * Looks through `limit` files whose rows were removed, in order of their hash, and gives those that no other row
   * names. `last` is where the next look begins; null: that was all.
   */
  looseFiles(options: { after?: string; limit: number }): Promise<{ loose: string[]; last: string | null }>;
  /** Files that were stored for rows which are not written, at most 1,000: they are looked through with the others. */
  noteLoose(hashes: readonly string[]): Promise<void>;
  /** Whether a row was removed that named this file, and none is left that does. */
  isLoose(hash: string): Promise<boolean>;
  /** These files are gone. */
  forgetLoose(hashes: readonly string[]): Promise<void>;
}
