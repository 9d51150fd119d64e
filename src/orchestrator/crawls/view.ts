import { NO_GOAL_PAGES } from "../../domain/crawl/goal-score.ts";
import { isoOf, isoOrNull } from "../../base/iso.ts";
import { ERROR_CLASSES, type ErrorClass, errorClassOf } from "../../domain/crawl/crawl-end.ts";
import { crawlOptionsOf } from "../../domain/crawl/crawl-options.ts";
import type { RunWarning, SkipCounts } from "../../domain/crawl/crawl-skips.ts";
import type { ChangeCounts } from "../../domain/page/page-change.ts";
import type { TaskCounts } from "../../domain/run/run-end.ts";
import { expiryOf, type RetentionRules } from "../../domain/run/retention.ts";
import { sinceLastStep } from "../../domain/run/running-time.ts";
import { type RunState, TERMINAL_RUN_STATES } from "../../domain/run/states.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { WaitingView } from "../../domain/run/waiting.ts";
import type { RunErrorRecord } from "../../store/ports/progress-port.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { ErrorGroup } from "../runs/failed.ts";
import { pagesOfCrawl, skippedOf, warningsOf } from "../runs/skips.ts";
import type { RunSiteView } from "../runs/sites.ts";
import { progressOf, startsOf } from "../runs/view.ts";

/** Next to a crawl's `task_id`, the task of a page is `page_task_id`; `task_id` is its alias. */
interface CrawlErrorGroup extends ErrorGroup {
  example: ErrorGroup["example"] & { page_task_id: string };
}

/** A crawl as `/scraping/*` shows it. */
export interface CrawlView {
  crawl_id: string;
  /** Alias of `crawl_id`; elsewhere a task is one page. */
  task_id: string;
  name: string | null;
  url: string | null;
  urls: string[];
  url_count: number;
  status: CrawlStatus;
  progress: number;
  total_items: number;
  max_pages: number;
  /** Waiting, for a slot or for their next attempt. */
  queued_items: number;
  /** Of the queued ones: failed and waiting for a retry. */
  retrying_items: number;
  running_items: number;
  completed_items: number;
  failed_items: number;
  skipped_items: number;
  /** Unfinished when the crawl was cancelled or timed out. */
  cancelled_items: number;
  /** Of the completed ones: unchanged since the job's previous run. */
  unchanged_items: number;
  /** Redirected to a sign-in page by the site. */
  sign_in_items: number;
  /** Of the completed ones: fetched for their links only; they yield no records. */
  followed_items: number;
  /** Found but not fetched, by reason. */
  skipped: SkipCounts;
  warnings: RunWarning[];
  /** Changes against the job's previous run; null: not saved, or the first run. */
  changes: ChangeCounts | null;
  success_rate: number;
  duration_seconds: number;
  time_remaining_seconds: number | null;
  pages_per_second: number;
  errors: Record<ErrorClass, number>;
  /** Null: the crawl has no goal. */
  goal: GoalView | null;
  end_reason: string | null;
  /** The requested default format of its results. */
  export_format: string;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  expires_at: string | null;
  /** Exempt from retention. */
  kept: boolean;
  /** Deleted when its job has this many newer runs; null: no such limit. */
  keep_runs: number | null;
  message: string | null;
  /** What blocks it although it is not paused. */
  waiting_for: WaitingView | null;
}

export interface CrawlDetail extends CrawlView {
  error_groups: CrawlErrorGroup[];
  retrying_groups: CrawlErrorGroup[];
  waiting_sites: Pick<RunSiteView, "site" | "waiting_for" | "last_failure">[];
}

export type CrawlStatus = Exclude<RunState, "queued"> | "pending";

/** How a crawl with a goal does. */
interface GoalView {
  text: string;
  pages_read: number;
  relevant_pages: number;
  best_relevance: number;
}

function goalOf(run: RunRecord): GoalView | null {
  const { goal: text } = crawlOptionsOf(run);
  if (text === "") return null;
  const { pages, relevant, best } = run.facts.goal ?? NO_GOAL_PAGES;
  return { text, pages_read: pages, relevant_pages: relevant, best_relevance: best };
}

/** The crawl API says `pending` for queued. */
export function crawlStatusOf(state: RunState): CrawlStatus {
  return state === "queued" ? "pending" : state;
}

/** Time used so far; restarts when the run is reopened. */
export function ranMs(run: RunRecord, now: number): number {
  return run.ranMs + sinceLastStep(run.runningSince, now);
}

/** Total running time since its start, including reopened generations. */
export function ranInAllMs(run: RunRecord, now: number): number {
  return (run.facts.ran_before_ms ?? 0) + ranMs(run, now);
}

function errorsByClass(errors: readonly RunErrorRecord[]): Record<ErrorClass, number> {
  const sums = Object.fromEntries(ERROR_CLASSES.map((name) => [name, 0])) as Record<ErrorClass, number>;
  for (const { code, count } of errors) sums[errorClassOf(code)] += count;
  return sums;
}

const openOf = ({ pending, queued, retrying, running }: TaskCounts) => pending + queued + retrying + running;

/**
 * Waiting pages, including retries. A crawl keeps more links than it may fetch, in case some do not count: those are
 * not part of `total` yet.
 */
export function waitingPages(counts: TaskCounts, total: number, running: number): number {
  const ended = counts.completed + counts.failed + counts.skipped;
  return Math.min(openOf(counts) - running, Math.max(0, total - ended - running));
}

export function toCrawlView(
  run: RunRecord,
  counts: TaskCounts,
  errors: readonly RunErrorRecord[],
  more: { now: number; retention: RetentionRules; underWay: number; retrying: number; waiting: WaitingView | null },
): CrawlView {
  const { now, retention, underWay, retrying, waiting } = more;
  const ended = counts.completed + counts.failed + counts.skipped;
  const { max_pages, export_format } = crawlOptionsOf(run);
  const total = pagesOfCrawl(run, counts, errors);
  const open = openOf(counts);
  const isOver = TERMINAL_RUN_STATES.includes(run.status);
  // Nothing waits in an ended crawl, even while the state of its pages is still being written.
  const running = isOver ? 0 : underWay;
  const queued = isOver ? 0 : waitingPages(counts, total, running);
  const cancelled = counts.cancelled + (isOver ? open : 0);
  const ran = ranInAllMs(run, now);
  const { expiresAt, keepRuns } = expiryOf(run, retention);
  return {
    crawl_id: run.id,
    task_id: run.id,
    name: run.name,
    url: run.url === null ? null : shownUrl(run.url),
    ...startsOf(run),
    status: crawlStatusOf(run.status),
    progress: progressOf(run),
    total_items: total,
    max_pages,
    queued_items: queued,
    retrying_items: isOver ? 0 : retrying,
    running_items: running,
    completed_items: counts.completed,
    failed_items: counts.failed,
    skipped_items: counts.skipped,
    cancelled_items: Math.min(cancelled, Math.max(0, total - ended - queued - running)),
    unchanged_items: run.facts.unchanged ?? 0,
    sign_in_items: run.facts.sign_ins?.pages ?? 0,
    followed_items: run.facts.followed_only ?? 0,
    skipped: skippedOf(run, counts, errors),
    warnings: warningsOf(run),
    changes: run.facts.changes ?? null,
    success_rate: counts.completed + counts.failed === 0 ? 0 : counts.completed / (counts.completed + counts.failed),
    duration_seconds: Math.round(ran) / 1000,
    time_remaining_seconds:
      run.timeLimitMs === null || isOver ? null : Math.max(0, Math.round((run.timeLimitMs - ranMs(run, now)) / 1000)),
    pages_per_second: ran === 0 ? 0 : Math.round((ended / ran) * 100_000) / 100,
    errors: errorsByClass(errors),
    goal: goalOf(run),
    end_reason: run.facts.end_reason ?? null,
    export_format,
    created_at: isoOf(run.createdAt),
    started_at: isoOrNull(run.startedAt),
    finished_at: isoOrNull(run.finishedAt),
    expires_at: isoOrNull(expiresAt),
    kept: run.kept,
    keep_runs: keepRuns,
    message: run.hold?.message ?? run.message,
    waiting_for: waiting,
  };
}
