import {
  type CrawlEnd,
  type CrawlFacts,
  ERROR_CLASSES,
  endOfCrawl,
  type ErrorClass,
  errorClassOf,
  type PageEnd,
  pageEndOf,
} from "../../domain/crawl-end.ts";
import type { TaskCounts } from "../../domain/run-end.ts";
import type { RunFacts } from "../../domain/run-facts.ts";
import { type Context, moveRun, parseJson, rows, stampIdleLanesOfRun } from "./context.ts";
import { countCrawls } from "./crawl-pace.ts";
import { errorRows, readRetryReasons } from "./run-errors.ts";

/** How a crawl ends that has these tasks. */
export function crawlEnd(
  context: Context,
  run: { n: number; facts: string | null; snapshot: string },
  counts: TaskCounts,
  timeIsUp: boolean,
): CrawlEnd {
  const pages: Record<PageEnd, number> = { succeeded: counts.completed, missing: 0, disallowed: 0, failed: 0 };
  const errors = Object.fromEntries(ERROR_CLASSES.map((name) => [name, 0])) as Record<ErrorClass, number>;
  let breakerOpen = false;
  const groups = errorRows(context, run.n);
  for (const { code, reason, count } of groups) {
    const end = pageEndOf({ reason });
    pages[end] += count;
    if (end === "failed") errors[errorClassOf(code)] += count;
    breakerOpen ||= reason === "breaker_open";
  }
  const left = timeIsUp ? waitingSites(context, run.n) : [];
  breakerOpen ||= left.includes("failing");
  const facts = parseJson<RunFacts>(run.facts, {});
  const { options } = JSON.parse(run.snapshot) as { options?: { partial_results_ok?: boolean } };
  const crawl: CrawlFacts = {
    pages,
    errors,
    unchanged: facts.unchanged ?? 0,
    // What waits for a site that keeps failing would not have been done in more time, either.
    timeIsUp: timeIsUp && (left.length === 0 || left.includes("well")),
    breakerOpen,
    example: groups[0]?.example_message ?? readRetryReasons(context, run.n)[0]?.exampleMessage ?? null,
    pagesLeft: facts.left?.pages === true,
    depthLeft: facts.left?.depth === true,
    sitemapsUnread: failedAside(context, run.n),
    partialResultsOk: options?.partial_results_ok !== false,
  };
  return endOfCrawl(crawl);
}

function failedAside({ connection }: Context, run: number): number {
  const sum = "SELECT coalesce(sum(failed), 0) AS n FROM streams WHERE run = ? AND aside = 1";
  return (connection.sql(sum).get(run) as { n: number }).n;
}

/** How the sites fare on which pages of the run are left. */
function waitingSites({ connection }: Context, run: number): ("failing" | "well")[] {
  const list = connection
    .sql(
      `SELECT DISTINCT CASE WHEN p.breaker_open_until IS NULL THEN 'well' ELSE 'failing' END AS fares
       FROM streams s LEFT JOIN sites p ON p.lane = s.lane
       WHERE s.run = ? AND s.aside = 0 AND s.pending + s.queued + s.running + s.retrying > 0`,
    )
    .all(run);
  return rows<{ fares: "failing" | "well" }>(list).map(({ fares }) => fares);
}

/** Lets waiting crawls in; whoever has waited longest is first. */
export function admitCrawls(context: Context, most: number, now: number): { admitted: string[]; lanes: string[] } {
  const { connection } = context;
  // Most of the time nobody waits, and then nothing is written.
  const { running, queued } = countCrawls(context);
  if (queued === 0 || running >= most) return { admitted: [], lanes: [] };
  return connection.write(() => {
    const free = most - countCrawls(context).running;
    const waiting = rows<{ n: number; id: string }>(
      connection
        .sql("SELECT n, id FROM runs WHERE status = 'queued' AND kind = 'crawl' ORDER BY n LIMIT ?")
        .all(Math.max(0, free)),
    );
    const lanes = new Set<string>();
    for (const { n } of waiting) {
      moveRun(context, n, "running", "Run started", now);
      stampIdleLanesOfRun(context, n);
      const own = connection
        .sql("SELECT DISTINCT l.lane FROM streams s JOIN lanes l ON l.id = s.lane WHERE s.run = ?")
        .all(n);
      for (const { lane } of rows<{ lane: string }>(own)) lanes.add(lane);
    }
    return { admitted: waiting.map(({ id }) => id), lanes: [...lanes] };
  });
}

export function overdueRuns({ connection }: Context, now: number, limit: number): string[] {
  const list = connection
    .sql(
      `SELECT id FROM runs WHERE time_limit_ms IS NOT NULL AND running_since IS NOT NULL
         AND ran_ms + ? - running_since >= time_limit_ms LIMIT ?`,
    )
    .all(now, limit);
  return rows<{ id: string }>(list).map(({ id }) => id);
}

/** A crawl that has looked at fewer pages says nothing yet about how many there are. */
const FEW_PAGES = 20;

const SEE_PROGRESS = `UPDATE runs SET progress = seen.percent FROM (
    SELECT r.n, min(99, 100 * sum(s.completed + s.failed + s.skipped) / max(1, CASE
      WHEN sum(s.completed + s.failed + s.skipped) < ${FEW_PAGES} THEN max(r.pages_known, coalesce(r.pages_limit, 0))
      ELSE r.pages_known END)) AS percent
    FROM runs r JOIN streams s ON s.run = r.n AND s.aside = 0
    WHERE r.time_limit_ms IS NOT NULL AND r.running_since IS NOT NULL GROUP BY r.n
  ) AS seen WHERE runs.n = seen.n AND seen.percent > runs.progress`;

/**
 * A run that began since the last step has been running for a shorter time than the step; by a clock that was set back
 * it seems to have begun in the future.
 */
export function passTime({ connection }: Context, elapsedMs: number, now: number): void {
  const timed = "time_limit_ms IS NOT NULL AND running_since IS NOT NULL";
  if (connection.sql(`SELECT 1 FROM runs WHERE ${timed} LIMIT 1`).get() === undefined) return;
  connection.write(() => {
    connection
      .sql(`UPDATE runs SET ran_ms = ran_ms + min(?1, max(0, ?2 - running_since)), running_since = ?2 WHERE ${timed}`)
      .run(Math.round(elapsedMs), now);
    connection.sql(SEE_PROGRESS).run();
  });
}
