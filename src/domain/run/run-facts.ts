import type { EndReason } from "../crawl/crawl-end.ts";
import type { GoalFacts } from "../crawl/goal-score.ts";
import type { PaginationCut, SkipCounts } from "../crawl/crawl-skips.ts";
import type { ExtractStats } from "../page/extract-request.ts";
import type { MonitorCounts } from "../monitor/monitored-page.ts";
import type { ChangeCounts } from "../page/page-change.ts";
import type { FailureCode, FailureReason } from "./failure.ts";

/** Facts about a run, shown with it; written together with the outcome they come from. */
export interface RunFacts {
  /** The attempt that these facts are of; counts from 1. */
  attempt?: number;
  resolved_strategy?: string | null;
  /** Why that strategy: what was asked for, known or seen. */
  strategy_evidence?: unknown;
  failure_code?: FailureCode | null;
  failure_reason?: FailureReason | null;
  error_message?: string | null;
  stats?: PageStats;
  /** What the limits of a crawl excluded or cut off. */
  left?: { pages?: boolean; depth?: boolean; time?: boolean; proxies?: boolean; saturated?: boolean };
  /** Unchanged pages of a crawl. */
  unchanged?: number;
  /** Pages of a crawl that were fetched for their links alone, by its patterns. */
  followed_only?: number;
  /** Skipped links, each address once per process. */
  skipped?: SkipCounts;
  /** The first pagination link that a pattern skipped. */
  pagination_cut?: PaginationCut;
  /** Of a crawl with a goal. */
  goal?: GoalFacts;
  /** Of a saved crawl that has run before. */
  changes?: ChangeCounts;
  /** Pages that were not reached may still exist: a list was partial, or robots.txt disallows a part. */
  sees_part?: boolean;
  /** A page that the monitor knows was answered, and not compared: pages beyond it may not have been reached. */
  monitor_sees_part?: boolean;
  /** Of a crawl that reached every page it could: see `scopeHashOf`. */
  reached_all?: string;
  /** Changes that the monitor of its job found. */
  monitor?: MonitorCounts;
  /** New URLs of starts that moved to other sites. */
  moved_starts?: readonly string[];
  /** Why a crawl went no further. */
  end_reason?: EndReason;
  /** Total running time before it was reopened, which restarts its time limit. */
  ran_before_ms?: number;
  /** Of a workflow: since when it is paused or waits for a person (null: it does not), and how long it did before. */
  stopped_at?: number | null;
  stopped_ms?: number;
  /** Pages redirected to a sign-in, and the message of one of them. */
  sign_ins?: { pages: number; message: string };
  /** The session that a person supplied for this run. */
  session_id?: string;
  /** The held site that the page redirects to; null: none. */
  waits_at?: string | null;
  /** The trace of the caller that started it (W3C Trace Context). */
  trace?: { trace_id: string; span_id: string; sampled: boolean };
}

export interface PageStats {
  http_status: number | null;
  content_type: string | null;
  content_length: number | null;
  /** Only of documents, such as `pdf`. */
  document_type?: string;
  title: string | null;
  final_url: string | null;
  duration_ms: number;
  strategy: string;
  /** Only of pages that a browser has put together. */
  browser?: string;
  redirects?: string[];
  warnings?: unknown[];
  /** Only with an extractor. */
  extract?: ExtractStats;
}

/** The strategy that a site was found to need, with an expiry. */
export interface LearnedStrategy {
  strategy: string;
  reason: string;
  /** `page`: only the pages below are known to need it. `site`: enough of them did to believe it of all. */
  scope: "page" | "site";
  /** Hashes of the pages that needed it, the newest few. */
  pages: readonly string[];
  /** Other pages of the site were got by a plain request: what some pages need is not believed of all. */
  mixed: boolean;
  learned_at: string;
  expires_at: string;
}
