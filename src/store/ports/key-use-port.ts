/** Who uses a concurrency key now. */
export interface KeyUse {
  /** Tasks of the run that are at work under it. */
  running: number;
  /** Units that processes have borrowed, also those that are free for a moment between two tasks. */
  granted: number;
  /** Processes that wait for a unit and have none. */
  waiting: number;
}

/** Tasks of a run at one site that are queued or at work. */
export interface OpenAtSite {
  /** '': they belong to no site. */
  site: string;
  open: number;
  /** As set for the site; null: the default holds. */
  maxConcurrency: number | null;
}

export interface KeyStore {
  /** By concurrency key; one that nobody uses does not stand there. */
  keyUse(runId: string, keys: readonly string[]): Promise<Map<string, KeyUse>>;
  /** Where a run has open tasks under a key; no more than `limit` places. */
  openUnderKey(runId: string, key: string, limit: number): Promise<OpenAtSite[]>;
}
