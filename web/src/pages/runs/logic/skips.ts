/** Skipped pages of a crawl, in words. */
import { fullNumber } from "../../../logic/format.ts";

const WORDS: Readonly<Record<string, string>> = {
  not_included: "not matched by any pattern",
  excluded: "excluded by a pattern",
  robots: "disallowed by robots.txt",
  depth: "too deep",
  page_limit: "beyond the page limit",
  other_site: "on other sites",
  elsewhere: "outside the “Stay within” limit",
  file: "files",
  trap: "in endless lists or loops",
  too_long: "with URLs that are too long",
};
/** Where a limit stopped discovery, the count is a lower bound. */
const AT_LEAST: ReadonlySet<string> = new Set(["depth", "page_limit"]);

/** Pages blocked by robots.txt count as failed. */
const COUNTED_ELSEWHERE: ReadonlySet<string> = new Set(["robots"]);

/** Number of skipped URLs, without those counted elsewhere. */
export function skippedCount(skipped: Readonly<Record<string, number | undefined>> | null): number {
  return Object.entries(skipped ?? {}).reduce(
    (sum, [reason, count = 0]) => (COUNTED_ELSEWHERE.has(reason) ? sum : sum + count),
    0,
  );
}

interface SkippedWords {
  reason: string;
  count: string;
  words: string;
}

/** Most frequent first. */
export function skippedWords(skipped: Readonly<Record<string, number | undefined>> | null): SkippedWords[] {
  return Object.entries(skipped ?? {})
    .flatMap(([reason, count = 0]) => (count > 0 ? [{ reason, count }] : []))
    .toSorted((a, b) => b.count - a.count)
    .map(({ reason, count }) => ({
      reason,
      count: `${AT_LEAST.has(reason) ? "at least " : ""}${fullNumber(count)}`,
      words: WORDS[reason] ?? reason.replaceAll("_", " "),
    }));
}
