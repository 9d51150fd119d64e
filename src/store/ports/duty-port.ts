/** What the duties of the process that leads begin with: one look that says which of them have anything to do. */
export interface DutiesDue {
  /** Runs whose time is counted. */
  timedRuns: boolean;
  /** Crawls that wait to be let in. */
  waitingCrawls: boolean;
  /** Steps that sleep, and whose time is counted. */
  sleepingSteps: boolean;
  /** Workflows that are to be recovered. */
  recoveries: boolean;
  /** Jobs whose time has come. */
  jobs: boolean;
  /** Runs that wait for the one before them. */
  queuedRuns: boolean;
  /** Runs that wait for proxies, or proxies that may have to be checked. */
  proxies: boolean;
  /** Runs that have ended and left something waiting. */
  endedRuns: boolean;
  /** Alerts that are to be delivered. */
  alerts: boolean;
  /** Addresses that are to be told what runs do. */
  webhooks: boolean;
  /** The id of the newest event. */
  lastEvent: string;
}

export interface DutyStore {
  dutiesDue(now: number): Promise<DutiesDue>;
}
