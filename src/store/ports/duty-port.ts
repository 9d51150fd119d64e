/** One query that tells the leader which of its duties have work. */
export interface DutiesDue {
  /** Runs with a time limit. */
  timedRuns: boolean;
  /** Crawls that wait for admission. */
  waitingCrawls: boolean;
  /** Sleeping steps with a time limit. */
  sleepingSteps: boolean;
  /** Workflows to recover. */
  recoveries: boolean;
  /** Jobs that are due. */
  jobs: boolean;
  /** Runs queued behind the previous run of their job. */
  queuedRuns: boolean;
  /** Runs that wait for proxies, or proxies that may be due for a check. */
  proxies: boolean;
  /** Ended runs with tasks that still wait. */
  endedRuns: boolean;
  /** Ended runs whose records have no profile. */
  unprofiledRuns: boolean;
  /** Degraded runs whose rules may be repaired. */
  repairs: boolean;
  /** Ended runs whose pages a monitor compares. */
  monitors: boolean;
  /** Alerts due for delivery. */
  alerts: boolean;
  /** Messages of notification channels due for delivery. */
  messages: boolean;
  /** Channels that receive notifications. */
  channels: boolean;
  /** Webhooks due for delivery. */
  webhooks: boolean;
  /** The id of the newest event. */
  lastEvent: string;
}

export interface DutyStore {
  dutiesDue(now: number): Promise<DutiesDue>;
}
