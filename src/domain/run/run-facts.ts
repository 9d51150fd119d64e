import type { EndReason } from "../crawl/crawl-end.ts";
import type { PaginationCut, SkipCounts } from "../crawl/crawl-skips.ts";
import type { ExtractStats } from "../page/extract-request.ts";
import type { ChangeCounts } from "../page/page-change.ts";
import type { FailureCode, FailureReason } from "./failure.ts";

/** What is known of how a page was got: shown on the run, written together with the outcome it comes from. */
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
  /** What the limits of a crawl kept out, or cut off. */
  left?: { pages?: boolean; depth?: boolean; time?: boolean; proxies?: boolean };
  /** Pages of a crawl that were as they had been. */
  unchanged?: number;
  /** Pages of a crawl that were fetched for their links alone, by its patterns. */
  followed_only?: number;
  /** Links that a crawl has left, each address once for each process that met it. */
  skipped?: SkipCounts;
  /** The first link that looked like the next page of a list and was left by a pattern. */
  pagination_cut?: PaginationCut;
  /** Of a saved crawl that has run before. */
  changes?: ChangeCounts;
  /** What it did not come to may still be there: a list that it read shows a part, or robots.txt has closed a part. */
  sees_part?: boolean;
  /** Where starts of a crawl have moved to, in other sites than they were. */
  moved_starts?: readonly string[];
  /** Why a crawl went no further. */
  end_reason?: EndReason;
  /** How long it had been running before it was opened again, in all: its time begins anew with that. */
  ran_before_ms?: number;
  /** Of a workflow: since when it is paused or waits for a person (null: it does not), and how long it did before. */
  stopped_at?: number | null;
  stopped_ms?: number;
  /** Pages of a crawl that were sent to a sign-in, and what was said of one of them. */
  sign_ins?: { pages: number; message: string };
  /** The session that a person supplied for this run. */
  session_id?: string;
  /** The site that the way of its page leads to, and that is to be left alone; null: it goes on. */
  waits_at?: string | null;
}

export interface PageStats {
  http_status: number | null;
  content_type: string | null;
  content_length: number | null;
  title: string | null;
  final_url: string | null;
  duration_ms: number;
  strategy: string;
  /** Only of pages that a browser has put together. */
  browser?: string;
  redirects?: string[];
  warnings?: unknown[];
  /** Of a page that was read by more than rules. */
  extract?: ExtractStats;
}

/** What a site has been found to need, until when that is believed. */
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
