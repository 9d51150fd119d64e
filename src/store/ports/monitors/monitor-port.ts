/** Store methods and records for monitors: what a job's pages were, and how they changed. */
import type {
  MonitorCounts,
  MonitoredContent,
  MonitoredFile,
  PageChangeKind,
} from "../../../domain/monitor/monitored-page.ts";
import type { Monitored } from "../../../domain/monitor/options.ts";
import type { VolatileProfile } from "../../../domain/monitor/volatile/profile.ts";
import type { SharedProfile } from "../../../domain/monitor/volatile/shared.ts";
import type { AlertRecord } from "../alert-port.ts";

/** The last good state of a page. */
export interface MonitorState {
  rules: string;
  content: MonitoredContent;
  profile: VolatileProfile | null;
  /** What other pages of the job have shown. */
  shared: SharedProfile | null;
  readAt: number;
  /** When the content was read; later ones were without a difference. */
  contentAt: number;
}

/** A run whose pages wait to be compared; `drop`: it failed or is degraded, so they are not. */
export interface MonitorRun {
  runId: string;
  generation: number;
  drop: boolean;
}

/** A page of a run that waits, beside its last good state. */
export interface WaitingPage {
  number: number;
  url: string;
  rules: string;
  content: MonitoredContent | null;
  /** Further fetches, see `readFetches`. */
  again: MonitoredFile | null;
  readAt: number;
  /** Null: the page is new, or is compared by other rules from now on. */
  state: MonitorState | null;
}

/** The result of a comparison. */
export interface ComparedPage {
  number: number;
  /** What the page was compared with: nothing is written if that is no longer the state. */
  comparedWith: string | null;
  /** `kept`: the difference is too small, or the page cannot be compared: the state stays. */
  verdict: PageChangeKind | "same" | "kept";
  profile: VolatileProfile | null;
  /** Of the new state, by the new profile. */
  digest: string | null;
  change: { added: number; removed: number; share: number; summary: string | null; diff: MonitoredFile | null } | null;
}

export interface MonitorChangeRecord {
  number: number;
  runId: string;
  url: string;
  change: PageChangeKind;
  what: Monitored;
  foundAt: number;
  /** When the page was last read before; null: it is new. */
  beforeAt: number | null;
  added: number;
  removed: number;
  share: number;
  summary: string | null;
  files: Partial<Record<"before" | "after" | "diff", MonitoredFile & { isSealed: boolean }>>;
}

export interface MonitorRecord {
  sinceAt: number;
  /** How many pages it knows. */
  pages: number;
}

/** A page that a monitor knows, with its last good state. */
export interface KnownPage {
  /** Its place in the list. */
  position: string;
  url: string;
  state: MonitorState;
}

export interface MonitorStore {
  monitorState(jobId: string, key: string): Promise<MonitorState | null>;
  /** Ended runs, oldest first. */
  monitorsDue(limit: number): Promise<MonitorRun[]>;
  waitingPages(runId: string, limit: number): Promise<WaitingPage[]>;
  /**
   * Writes states and changes, and removes the pages from those that wait: each page once, whatever is repeated. `shared`:
   * what the job's pages have shown so far; null: as before.
   */
  recordComparisons(
    runId: string,
    what: Monitored,
    pages: readonly ComparedPage[],
    now: number,
    shared?: SharedProfile | null,
  ): Promise<void>;
  /**
   * Records up to `limit` pages that a complete crawl no longer reached as removed. Returns how many; 0: there are no
   * more, or the crawl does not tell.
   */
  recordUnreached(runId: string, what: Monitored, limit: number, now: number): Promise<number>;
  /** Removes up to `limit` waiting pages without comparing them; returns how many. */
  dropWaitingPages(runId: string, limit: number): Promise<number>;
  /**
   * Ends the comparison of a run: its event and its alert are one transaction. Null, and nothing is written: pages still
   * wait, or another process did it.
   */
  concludeMonitor(
    run: Pick<MonitorRun, "runId" | "generation">,
    options: { deliver: boolean },
    now: number,
  ): Promise<{ counts: MonitorCounts; alert: AlertRecord | null } | null>;
  /** Removes up to `limit` of the oldest changes of the run's job, until it has `keep`; returns how many. */
  trimMonitor(runId: string, keep: number, limit: number): Promise<number>;
  monitor(jobId: string): Promise<MonitorRecord | null>;
  /** The pages that the monitor knows, in any steady order, after a position. */
  knownPages(jobId: string, options: { after: string; limit: number }): Promise<KnownPage[]>;
  /** Newest first. */
  monitorChanges(
    jobId: string,
    options: { before?: number; limit: number; change?: PageChangeKind; runId?: string },
  ): Promise<MonitorChangeRecord[]>;
  monitorChange(jobId: string, number: number): Promise<MonitorChangeRecord | null>;
}
