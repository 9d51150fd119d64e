/**
 * How a crawl ends: why it stopped (`end_reason`), and whether anything is missing (`status`). A limit that the user set
 * is no failure: a crawl that reached its page limit is completed.
 */
import type { Failure, FailureCode, FailureReason } from "../run/failure.ts";

export const END_REASONS = [
  "exhausted",
  "limit_pages",
  "limit_depth",
  "limit_time",
  "saturated",
  "breaker_open",
  "no_proxies",
] as const;
export type EndReason = (typeof END_REASONS)[number];

/** How one page ended. */
const PAGE_ENDS = ["succeeded", "missing", "disallowed", "file", "failed"] as const;
export type PageEnd = (typeof PAGE_ENDS)[number];

export const ERROR_CLASSES = ["timeout", "connection", "general"] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

export interface CrawlFacts {
  /** Pages by outcome; pages that were never tried are not counted. */
  pages: Readonly<Record<PageEnd, number>>;
  /** The failed pages by class. */
  errors: Readonly<Record<ErrorClass, number>>;
  /** Completed pages that have not changed since the previous run of the job. */
  unchanged: number;
  /** Completed pages that were fetched for their links only. */
  followedOnly: number;
  /** Pages that the site redirected to a sign-in; they are completed or skipped, depending on its address. */
  signIns?: number;
  /** The time limit was reached before all pages were done. */
  timeIsUp: boolean;
  /** Pages are left because their site's circuit breaker is open. */
  breakerOpen: boolean;
  /** Pages are left because no proxy was usable. */
  proxiesGone: boolean;
  /** `max_pages` excluded pages. */
  pagesLeft: boolean;
  /** Sites that were tried without success when `max_pages` ended the crawl before the next attempt. */
  silent: readonly string[];
  /** It was to stop when new pages add little to its goal, and they did. */
  isSaturated?: boolean;
  /** `max_depth` excluded links that are in scope. */
  depthLeft: boolean;
  /** Sitemaps that could not be read after all attempts: how many pages they list is unknown. */
  sitemapsUnread: number;
  /** Message of the most frequent failure; null: there was none. */
  example: string | null;
  /** Whether a part of the pages is an acceptable result. */
  partialResultsOk: boolean;
}

export const NO_PAGES: Pick<CrawlFacts, "pages" | "errors"> = {
  pages: { succeeded: 0, missing: 0, disallowed: 0, file: 0, failed: 0 },
  errors: { timeout: 0, connection: 0, general: 0 },
};

export interface CrawlEnd {
  status: "completed" | "partial" | "failed";
  end_reason: EndReason;
  /** The most frequent class of errors; null: none. */
  error_class: ErrorClass | null;
  message: string;
}

/**
 * `max_pages` counts fetched pages, successful or not. Pages that failed for these reasons were not fetched: robots.txt
 * disallows them, or their site was given up first.
 */
export const NEVER_FETCHED: readonly FailureReason[] = ["robots_disallowed", "breaker_open"];

/** How many pages a crawl may discover: some of them will not count. */
export function mostKnown(maxPages: number): number {
  return 2 * maxPages + 1000;
}

/** It is a file, and not one that can be read. */
const FILE_REASONS: ReadonlySet<FailureReason> = new Set<FailureReason>([
  "not_html",
  "document_encrypted",
  "document_damaged",
  "document_unsupported",
  "document_too_large",
  "document_timeout",
  "needs_ocr",
]);

/**
 * Null: the page was fetched. A page that does not exist, is disallowed, or turns out to be a file that cannot be read is
 * no failure of the crawl.
 */
export function pageEndOf(failure: Pick<Failure, "reason"> | null): PageEnd {
  if (failure === null) return "succeeded";
  if (failure.reason === "http_not_found") return "missing";
  if (failure.reason === "robots_disallowed") return "disallowed";
  if (FILE_REASONS.has(failure.reason)) return "file";
  return "failed";
}

export function errorClassOf(code: FailureCode): ErrorClass {
  if (code === "timeout") return "timeout";
  return code === "network" ? "connection" : "general";
}

export function endOfCrawl(facts: CrawlFacts): CrawlEnd {
  const { pages, partialResultsOk } = facts;
  const end_reason = endReasonOf(facts);
  const gap = gapOf(facts);
  const example = facts.example === null ? "" : `: ${facts.example}`;
  const error_class = errorClass(facts, gap !== null || pages.succeeded === 0);
  const end = (status: CrawlEnd["status"], words: string): CrawlEnd => {
    const { signIns = 0, sitemapsUnread } = facts;
    const sent = signIns === 0 ? "" : `; ${count(signIns, "page")} led to a sign-in`;
    const unread = sitemapsUnread === 0 ? "" : `; ${count(sitemapsUnread, "sitemap")} could not be read`;
    return { status, end_reason, error_class, message: `${words}${sent}${unread}` };
  };
  if (pages.succeeded === 0)
    return end("failed", `Crawl failed: no page was fetched (${emptyReason(facts)})${example}`);
  const notes = [
    facts.unchanged === 0 ? [] : `${facts.unchanged} unchanged`,
    facts.followedOnly === 0 ? [] : `${facts.followedOnly} followed without a record`,
  ].flat();
  const same = notes.length === 0 ? "" : ` (${notes.join(", ")})`;
  const got = `${count(pages.succeeded, "page")} fetched${same}${otherPages(pages)}`;
  if (gap === null) return end("completed", `Crawl completed: ${got}${WORDS[end_reason]}`);
  if (partialResultsOk) return end("partial", `Crawl completed in part: ${got}; ${gap}`);
  return end("failed", `Crawl failed: ${gap}, and partial_results_ok is false; ${got}`);
}

const WORDS: Readonly<Record<EndReason, string>> = {
  exhausted: "",
  limit_pages: "; stopped at the page limit",
  limit_depth: "; stopped at the depth limit, deeper links were not followed",
  limit_time: "",
  saturated: "; stopped because hardly any of the last pages was relevant to the goal",
  breaker_open: "",
  no_proxies: "",
};

/** What stopped the crawl has precedence over limits it would have reached. */
function endReasonOf(facts: CrawlFacts): EndReason {
  if (facts.proxiesGone) return "no_proxies";
  if (facts.timeIsUp) return "limit_time";
  if (facts.breakerOpen) return "breaker_open";
  if (facts.isSaturated === true) return "saturated";
  if (facts.pagesLeft) return "limit_pages";
  return facts.depthLeft ? "limit_depth" : "exhausted";
}

/** Why the result is incomplete; null: it is complete. */
function gapOf({ timeIsUp, breakerOpen, proxiesGone, pages, silent }: CrawlFacts): string | null {
  const gaps: string[] = [];
  if (timeIsUp) gaps.push("the time limit was reached");
  if (proxiesGone) gaps.push("some pages were not fetched because no proxy was usable");
  if (breakerOpen) gaps.push("some pages were not fetched because their site keeps failing");
  if (pages.failed > 0) gaps.push(`${count(pages.failed, "page")} failed`);
  if (silent.length > 0) gaps.push(`nothing from ${listed(silent)}`);
  return gaps.length === 0 ? null : gaps.join(", ");
}

const MAX_LISTED = 3;

function listed(sites: readonly string[]): string {
  const more = sites.length > MAX_LISTED ? ` and ${sites.length - MAX_LISTED} more` : "";
  return `${sites.slice(0, MAX_LISTED).join(", ")}${more}`;
}

function errorClass(
  { errors, timeIsUp, breakerOpen, proxiesGone }: CrawlFacts,
  isIncomplete: boolean,
): ErrorClass | null {
  if (!isIncomplete) return null;
  const most = ERROR_CLASSES.reduce((best, name) => (errors[name] > errors[best] ? name : best));
  if (errors[most] > 0) return most;
  // No page failed by itself: the cause is the proxies, the time limit, or the site.
  if (proxiesGone) return "connection";
  return timeIsUp && !breakerOpen ? "timeout" : "general";
}

function emptyReason(facts: CrawlFacts): string {
  const { missing, disallowed, file } = facts.pages;
  const parts = [gapOf(facts) ?? "", missing > 0 ? `${missing} not found` : ""];
  if (disallowed > 0) parts.push(`${disallowed} disallowed by robots.txt`);
  if (file > 0) parts.push(file === 1 ? "1 is a file" : `${file} are files`);
  return parts.filter((part) => part !== "").join(", ") || "there was nothing to fetch";
}

function otherPages({ missing, disallowed, file }: CrawlFacts["pages"]): string {
  const parts = [
    missing > 0 ? `, ${missing} not found` : "",
    disallowed > 0 ? `, ${disallowed} disallowed by robots.txt` : "",
  ];
  return `${parts.join("")}${file > 0 ? `, ${count(file, "file")} skipped` : ""}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
