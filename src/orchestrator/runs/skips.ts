/** Pages that a crawl found and does not fetch, and its warnings. */
import { NEVER_FETCHED } from "../../domain/crawl/crawl-end.ts";
import type { CrawlSnapshot } from "../../domain/crawl/crawl-options.ts";
import { addSkips, paginationWarning, type RunWarning, type SkipCounts } from "../../domain/crawl/crawl-skips.ts";
import { DOCUMENT_RULE } from "../../domain/page/document-warning.ts";
import { SIGN_IN_RULE } from "../../domain/page/sign-in.ts";
import type { TaskCounts } from "../../domain/run/run-end.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { RunErrorRecord } from "../../store/ports/progress-port.ts";

/** The pages that a crawl has and will have: pages that do not count come on top of its limit. */
export function pagesOfCrawl(run: RunRecord, { skipped }: TaskCounts, errors: readonly RunErrorRecord[]): number {
  // Responses stored for idempotent replay may predate this.
  const { options } = (run.snapshot ?? {}) as Partial<CrawlSnapshot>;
  const unfetched = errors.reduce((sum, { reason, count }) => sum + (NEVER_FETCHED.includes(reason) ? count : 0), 0);
  return Math.min(run.pagesKnown, (options?.max_pages ?? Number.POSITIVE_INFINITY) + skipped + unfetched);
}

/** By reason; a lower bound where a limit stopped discovery, as `depth` and `page_limit` do. */
export function skippedOf(run: RunRecord, counts: TaskCounts, errors: readonly RunErrorRecord[]): SkipCounts {
  const robots = errors.reduce((sum, { reason, count }) => sum + (reason === "robots_disallowed" ? count : 0), 0);
  const beyond = run.pagesKnown - pagesOfCrawl(run, counts, errors);
  const page_limit = Math.max(beyond, run.facts.left?.pages === true ? 1 : 0);
  return addSkips(run.facts.skipped ?? {}, { robots, page_limit });
}

/** Codes of warnings about a whole page, by their rule. */
const PAGE_WARNINGS: Readonly<Record<string, RunWarning["code"]>> = {
  [SIGN_IN_RULE]: "sign_in",
  [DOCUMENT_RULE]: "document_incomplete",
};

/** Why the results may not be what was requested; missing single fields are in `stats`. */
export function warningsOf({ facts }: Pick<RunRecord, "facts">): RunWarning[] {
  const { stats, sign_ins: sent, pagination_cut: cut } = facts;
  const ofPage = ((stats?.warnings ?? []) as { rule?: string; message?: string }[]).flatMap(
    ({ rule = "", message = "" }): RunWarning[] => {
      const code = PAGE_WARNINGS[rule];
      return code === undefined ? [] : [{ code, message }];
    },
  );
  const warnings = cut === undefined ? ofPage : [...ofPage, paginationWarning(cut)];
  if (sent === undefined) return warnings;
  const pages = sent.pages === 1 ? "1 page led to a sign-in" : `${sent.pages} pages led to a sign-in`;
  return [...warnings, { code: "sign_in", message: `${pages}: ${sent.message}` }];
}
