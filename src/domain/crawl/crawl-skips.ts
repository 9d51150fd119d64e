/** What a crawl skips and why, and warnings about probably unintended skips. */
import type { LeftReason } from "./crawl-scope.ts";

/** A link that the crawl skips. */
export interface LeftLink {
  key: string;
  why: LeftReason;
  /** Only of links that look like pagination and are skipped by a pattern. */
  next?: { url: string; pattern?: string };
}

export const SKIP_REASONS = [
  "not_included",
  "excluded",
  "robots",
  "depth",
  "page_limit",
  "other_site",
  "elsewhere",
  "file",
  "trap",
  "too_long",
] as const;
export const SKIP_WORDS: Readonly<Record<(typeof SKIP_REASONS)[number], string>> = {
  not_included: "not matched by include, follow or read",
  excluded: "matched by exclude",
  robots: "disallowed by robots.txt",
  depth: "deeper than max_depth",
  page_limit: "beyond max_pages",
  other_site: "on another site, with same_site",
  elsewhere: "outside of stay_within",
  file: "files, by their extension",
  trap: "look like an endless calendar, filter or loop",
  too_long: "URLs that are too long",
};
export type SkipReason = (typeof SKIP_REASONS)[number];
export type SkipCounts = Partial<Record<SkipReason, number>>;

/** Null: not counted, because it is no URL of a page. */
export function skipReasonOf(why: LeftReason): SkipReason | null {
  if (why === "not_http") return null;
  return why === "trap_path" || why === "trap_query" || why === "trap_pattern" ? "trap" : why;
}

export function addSkips(before: SkipCounts, more: SkipCounts): SkipCounts {
  const sum: SkipCounts = { ...before };
  for (const reason of SKIP_REASONS) {
    const count = more[reason] ?? 0;
    if (count > 0) sum[reason] = (sum[reason] ?? 0) + count;
  }
  return sum;
}

/** A pattern of the crawl skips a link that looks like the next page of a list. */
export interface PaginationCut {
  /** The option whose patterns skip it, and those patterns. */
  option: "include" | "follow" | "exclude";
  patterns: readonly string[];
  /** The link, and the page it was found on. */
  url: string;
  found_on: string;
  /** A pattern for `follow` that includes it; null: `exclude` has precedence. */
  follow: string | null;
}

/** A warning of a run, as the API shows it. */
export interface RunWarning {
  code: "pagination_cut" | "sign_in" | "document_incomplete";
  message: string;
  /** Of `pagination_cut`. */
  option?: PaginationCut["option"];
  patterns?: string[];
  url?: string;
  found_on?: string;
  follow?: string | null;
}

const MAX_PATTERNS = 5;

export function paginationCut(
  { include, follow = [] }: { include: readonly string[]; follow?: readonly string[] },
  { url, pattern }: NonNullable<LeftLink["next"]>,
  foundOn: string,
): PaginationCut {
  const at = { url, found_on: foundOn };
  if (pattern !== undefined) return { option: "exclude", patterns: [pattern], ...at, follow: null };
  const option = include.length > 0 ? "include" : "follow";
  const patterns = option === "include" ? include : follow;
  return { option, patterns: patterns.slice(0, MAX_PATTERNS), ...at, follow: followPattern(url) };
}

/** A pattern that matches all pages of the paginated list that the URL belongs to. */
export function followPattern(address: string): string {
  const { pathname, search } = new URL(address);
  if (search !== "") return `${pathname}?**`;
  const last = /^(.*?)\d+([^\d]*)$/s.exec(pathname);
  return last === null ? pathname : `${last[1]}*${last[2]}`;
}

export function paginationWarning({ option, patterns, url, found_on, follow }: PaginationCut): RunWarning {
  const named = patterns.map((pattern) => `"${pattern}"`).join(", ");
  const fix =
    follow === null
      ? `Remove the pattern from exclude, or narrow it`
      : `To follow such pages without reading them, add "${follow}" to follow (--follow '${follow}')`;
  const message = `Pagination cut off: ${option} ${named} excludes ${url}, which looks like another page of a list. ${fix}`;
  return { code: "pagination_cut", message, option, patterns: [...patterns], url, found_on, follow };
}
