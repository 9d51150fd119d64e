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
import type { Failure, FailureCode, FailureReason } from "../../domain/failure.ts";
import { encodeId } from "../../domain/ids.ts";
import type { TaskCounts } from "../../domain/run-end.ts";
import type { RunFacts } from "../../domain/run-facts.ts";
import type { RunErrorRecord } from "../crawl-port.ts";
import type { NewTask, SettledTask } from "../port.ts";
import { type Context, keyHash, mergeFacts, moveRun, parseJson, rows, stampIdleLanesOfRun } from "./context.ts";
import { insertTasks } from "./insert-tasks.ts";

interface ErrorRow {
  code: FailureCode;
  reason: FailureReason;
  count: number;
  example_task: number;
  example_message: string;
}

function errorRows({ connection }: Context, run: number): ErrorRow[] {
  return rows<ErrorRow>(connection.sql("SELECT * FROM run_errors WHERE run = ? ORDER BY count DESC, reason").all(run));
}

export function readErrors(context: Context, run: number): RunErrorRecord[] {
  return errorRows(context, run).map((row) => ({
    code: row.code,
    reason: row.reason,
    count: row.count,
    exampleTaskId: encodeId(context.instance, "task", row.example_task),
    exampleMessage: row.example_message,
  }));
}

/** Counts a page that failed, in the transaction in which it did. */
export function countError({ connection }: Context, task: { row: number; runId: string }, failure: Failure): void {
  connection
    .sql(
      `INSERT INTO run_errors (run, code, reason, count, example_task, example_message)
       SELECT n, ?, ?, 1, ?, ? FROM runs WHERE id = ? ON CONFLICT DO UPDATE SET count = count + 1`,
    )
    .run(failure.code, failure.reason, task.row, failure.message, task.runId);
}

/** After failed pages were given another try: what is still failed is counted anew. */
export function recountErrors({ connection }: Context, run: number, failedState: number): void {
  connection.sql("DELETE FROM run_errors WHERE run = ?").run(run);
  connection
    .sql(
      `INSERT INTO run_errors (run, code, reason, count, example_task, example_message)
       SELECT s.run, json_extract(t.outcome, '$.failure.code'), json_extract(t.outcome, '$.failure.reason'), count(*),
         min(t.id), json_extract(t.outcome, '$.failure.message')
       FROM streams s JOIN tasks t ON t.stream = s.id AND t.state = ${failedState}
       WHERE s.run = ? AND s.failed > 0 GROUP BY 2, 3`,
    )
    .run(run);
}

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
  for (const { code, reason, count } of errorRows(context, run.n)) {
    const end = pageEndOf({ reason });
    pages[end] += count;
    if (end === "failed") errors[errorClassOf(code)] += count;
    breakerOpen ||= reason === "breaker_open";
  }
  const facts = parseJson<RunFacts>(run.facts, {});
  const { options } = JSON.parse(run.snapshot) as { options?: { partial_results_ok?: boolean } };
  const crawl: CrawlFacts = {
    pages,
    errors,
    timeIsUp,
    breakerOpen,
    pagesLeft: facts.left?.pages === true,
    depthLeft: facts.left?.depth === true,
    partialResultsOk: options?.partial_results_ok !== false,
  };
  return endOfCrawl(crawl);
}

/** The pages that this one leads to become tasks with the same stroke: a crash loses neither. Says which lanes got work. */
export function growRun(context: Context, { task, report }: SettledTask, now: number): string[] {
  if (report?.discovered === undefined && report?.deeperLeft !== true) return [];
  const { n } = context.connection.sql("SELECT n FROM runs WHERE id = ?").get(task.runId) as { n: number };
  const found = (report.discovered ?? []).map((page) => ({
    key: page.key,
    lane: page.lane,
    site: page.site,
    resolver: task.resolver,
    url: page.url,
    // What is nearer to the start comes first.
    priority: -page.depth,
    handler: task.handler,
    payload: { depth: page.depth },
  }));
  const { lanes, leftOut } = addDiscovered(context, { n, id: task.runId }, found, now);
  if (leftOut || report.deeperLeft === true)
    noteLeft(context, n, { pages: leftOut, depth: report.deeperLeft === true });
  return lanes;
}

function noteLeft(context: Context, run: number, left: { pages: boolean; depth: boolean }): void {
  const row = context.connection.sql("SELECT facts FROM runs WHERE n = ?").get(run) as { facts: string | null };
  const before = parseJson<RunFacts>(row.facts, {}).left ?? {};
  if ((before.pages === true || !left.pages) && (before.depth === true || !left.depth)) return;
  mergeFacts(context, run, {
    left: { pages: before.pages === true || left.pages, depth: before.depth === true || left.depth },
  });
}

/**
 * Adds the pages that a page links to and that are not known yet, up to the run's limit. Says which lanes got work, and
 * whether the limit kept some out.
 */
function addDiscovered(
  context: Context,
  run: { n: number; id: string },
  tasks: readonly NewTask[],
  now: number,
): { lanes: string[]; leftOut: boolean } {
  const { connection } = context;
  const { pages_limit: limit, pages_known: known } = connection
    .sql("SELECT pages_limit, pages_known FROM runs WHERE n = ?")
    .get(run.n) as { pages_limit: number | null; pages_known: number };
  const room = limit === null ? Number.POSITIVE_INFINITY : Math.max(0, limit - known);
  const hashes = tasks.map((task) => keyHash(run.id, task.key));
  const { added, lanes, leftOut } = insertTasks(context, run.n, tasks, hashes, now, room);
  if (added > 0) connection.sql("UPDATE runs SET pages_known = pages_known + ? WHERE n = ?").run(added, run.n);
  return { lanes, leftOut };
}

/** Lets waiting crawls in; whoever has waited longest is first. */
export function admitCrawls(context: Context, most: number, now: number): { admitted: string[]; lanes: string[] } {
  const { connection } = context;
  const count = (state: string) =>
    (connection.sql(`SELECT count(*) AS n FROM runs WHERE status = ? AND kind = 'crawl'`).get(state) as { n: number })
      .n;
  // Most of the time nobody waits, and then nothing is written.
  if (count("queued") === 0 || count("running") >= most) return { admitted: [], lanes: [] };
  return connection.write(() => {
    const free = most - count("running");
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
