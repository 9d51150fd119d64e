/** Current use of a concurrency key. */
export interface KeyUse {
  /** Running tasks of the run. */
  running: number;
  /** Permits held by processes, including those idle between two tasks. */
  granted: number;
  /** Processes that wait for a permit and have none. */
  waiting: number;
}

/** Open tasks of a run at one site. */
export interface OpenAtSite {
  /** '': tasks without a site. */
  site: string;
  open: number;
  /** The site's setting; null: the default. */
  maxConcurrency: number | null;
}

export interface KeyStore {
  /** By concurrency key, without unused ones. */
  keyUse(runId: string, keys: readonly string[]): Promise<Map<string, KeyUse>>;
  /** Sites where a run has open tasks under a key, at most `limit`. */
  openUnderKey(runId: string, key: string, limit: number): Promise<OpenAtSite[]>;
}
