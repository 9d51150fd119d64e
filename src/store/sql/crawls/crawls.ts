import {
  type CrawlEnd,
  type CrawlFacts,
  ERROR_CLASSES,
  endOfCrawl,
  type ErrorClass,
  errorClassOf,
  NO_PAGES,
  type PageEnd,
  pageEndOf,
} from "../../../domain/crawl/crawl-end.ts";
import { changeWords } from "../../../domain/page/page-change.ts";
import type { TaskCounts } from "../../../domain/run/run-end.ts";
import type { RunFacts } from "../../../domain/run/run-facts.ts";
import { type Context, parseJson, rows, STATE } from "../kernel/context.ts";
import { concludeComparison } from "./page-states.ts";
import { errorRows, readRetryReasons } from "../runs/run-errors.ts";

/** The end of a crawl with these task counts. */
export function crawlEnd(
  context: Context,
  run: { n: number; facts: string | null },
  counts: TaskCounts,
  left: NonNullable<RunFacts["left"]>,
  cutBy: "pages" | "saturated" | "time" | "proxies" | null,
): CrawlEnd {
  const pages: Record<PageEnd, number> = { ...NO_PAGES.pages, succeeded: counts.completed };
  const errors = Object.fromEntries(ERROR_CLASSES.map((name) => [name, 0])) as Record<ErrorClass, number>;
  let breakerOpen = false;
  const groups = errorRows(context, run.n);
  for (const { code, reason, count } of groups) {
    const end = pageEndOf({ reason });
    pages[end] += count;
    if (end === "failed") errors[errorClassOf(code)] += count;
    breakerOpen ||= reason === "breaker_open";
  }
  const sites = cutBy === "time" ? waitingSites(context, run.n) : [];
  breakerOpen ||= sites.includes("failing");
  const { snapshot } = context.connection.sql("SELECT snapshot FROM runs WHERE n = ?").get(run.n) as {
    snapshot: string;
  };
  const { options } = JSON.parse(snapshot) as { options?: { partial_results_ok?: boolean } };
  const facts = parseJson<RunFacts>(run.facts, {});
  const crawl: CrawlFacts = {
    pages,
    errors,
    unchanged: facts.unchanged ?? 0,
    followedOnly: facts.followed_only ?? 0,
    signIns: facts.sign_ins?.pages ?? 0,
    // More time would not have helped pages of a failing site. Earlier cuts still count when only part of the failures
    // was retried.
    timeIsUp: left.time === true && (sites.length === 0 || sites.includes("well")),
    breakerOpen,
    proxiesGone: left.proxies === true,
    example: groups[0]?.example_message ?? readRetryReasons(context, run.n)[0]?.exampleMessage ?? null,
    pagesLeft: left.pages === true,
    isSaturated: left.saturated === true,
    silent: cutBy === "pages" ? silentSites(context, run.n) : [],
    depthLeft: left.depth === true,
    sitemapsUnread: countFailedAuxiliary(context, run.n),
    partialResultsOk: options?.partial_results_ok !== false,
  };
  const end = endOfCrawl(crawl);
  const changes = concludeComparison(context, run.n, { ...end, sitemapsUnread: crawl.sitemapsUnread });
  return changes === null ? end : { ...end, message: `${end.message}; ${changeWords(changes)}` };
}

function countFailedAuxiliary({ connection }: Context, run: number): number {
  const sum = "SELECT coalesce(sum(failed), 0) AS n FROM streams WHERE run = ? AND auxiliary = 1";
  return (connection.sql(sum).get(run) as { n: number }).n;
}

/** Sites whose start URLs failed and wait for a retry, without any page fetched. */
function silentSites({ connection }: Context, run: number): string[] {
  const list = connection
    .sql(
      `SELECT DISTINCT s.site FROM streams s JOIN tasks t ON t.stream = s.id AND t.state IN (${STATE.retrying}, ${STATE.queued}, ${STATE.running})
       WHERE s.run = ? AND s.auxiliary = 0 AND s.queued + s.running + s.retrying > 0 AND t.tries > 0
         AND NOT EXISTS (SELECT 1 FROM streams o WHERE o.run = s.run AND o.site = s.site AND o.auxiliary = 0 AND o.completed + o.skipped > 0)
         AND CAST(coalesce(json_extract(t.payload, '$.depth'), '0') AS BIGINT) = 0 ORDER BY s.site`,
    )
    .all(run);
  return rows<{ site: string }>(list).map(({ site }) => site);
}

/** The state of the sites with open pages of the run. */
function waitingSites({ connection }: Context, run: number): ("failing" | "well")[] {
  const list = connection
    .sql(
      `SELECT DISTINCT CASE WHEN p.breaker_open_until IS NULL THEN 'well' ELSE 'failing' END AS fares
       FROM streams s LEFT JOIN sites p ON p.site = s.site
       WHERE s.run = ? AND s.auxiliary = 0 AND s.pending + s.queued + s.running + s.retrying > 0`,
    )
    .all(run);
  return rows<{ fares: "failing" | "well" }>(list).map(({ fares }) => fares);
}

/**
 * `running_since` caps the added time: a run that started since the last step has run for less than the step, and after
 * the clock was set back it seems to start in the future.
 */
export const TIMED_RUN = "time_limit_ms IS NOT NULL AND running_since IS NOT NULL";

export function passTime({ connection }: Context, elapsedMs: number, now: number, limit: number): string[] {
  const timed = TIMED_RUN;
  return connection.write(() => {
    connection
      .sql(`UPDATE runs SET ran_ms = ran_ms + min(?1, max(0, ?2 - running_since)), running_since = ?2 WHERE ${timed}`)
      .run(Math.round(elapsedMs), now);
    const over = connection.sql(`SELECT id FROM runs WHERE ${timed} AND ran_ms >= time_limit_ms LIMIT ?`).all(limit);
    return rows<{ id: string }>(over).map(({ id }) => id);
  });
}
