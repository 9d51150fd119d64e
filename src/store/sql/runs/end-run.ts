import {
  cutByTime,
  cutWithoutProxies,
  endOfPageRun,
  endOfRun,
  endOfWorkflow,
  NO_TASKS,
  type TaskCounts,
} from "../../../domain/run/run-end.ts";
import { type RunEnd, type RunHold, waitForComparison } from "../../../domain/run/run-hold.ts";
import type { Failure } from "../../../domain/run/failure.ts";
import { eventOfMove } from "../../../domain/run/run-events.ts";
import type { RunFacts } from "../../../domain/run/run-facts.ts";
import { OPEN_TASK_STATES, type RunState, TASK_STATES } from "../../../domain/run/states.ts";
import { bumpControl, type Context, mergeFacts, parseJson } from "../kernel/context.ts";
import { type MoveEvent, moveRun } from "./move-run.ts";
import { crawlEnd } from "../crawls/crawls.ts";
import { writeHold } from "../lanes/write-hold.ts";

const SUM_COUNTS = `SELECT ${TASK_STATES.map((name) => `coalesce(sum(${name}), 0) AS ${name}`).join(", ")} FROM streams WHERE run = ? AND auxiliary = 0`;

interface EndingRun {
  n: number;
  status: RunState;
  open_streams: number;
  kind: string;
  job: string | null;
  hold: string | null;
  facts: string | null;
  pages_limit: number | null;
  pages_counted: number;
}

function readRow({ connection }: Context, run: number): EndingRun {
  return connection
    .sql("SELECT n, status, open_streams, kind, job, hold, facts, pages_limit, pages_counted FROM runs WHERE n = ?")
    .get(run) as unknown as EndingRun;
}

function readCounts({ connection }: Context, run: number): TaskCounts {
  return { ...NO_TASKS, ...(connection.sql(SUM_COUNTS).get(run) as unknown as TaskCounts) };
}

/**
 * Ends the run when nothing of it is open, or when a crawl has reached its page limit or is saturated: its waiting tasks
 * are then swept. A paused run ends when it is resumed. Returns the lanes that got work.
 */
export function endRunIfDone(context: Context, run: number, now: number): { status: RunState; lanes: string[] } | null {
  const row = readRow(context, run);
  if (row.status !== "running" || isEnding(row.hold)) return null;
  const isFull = row.pages_limit !== null && row.pages_counted >= row.pages_limit;
  const isSaturated = parseJson<RunFacts>(row.facts, {}).goal?.saturated === true;
  if (row.open_streams > 0 && !isFull && !isSaturated) return null;
  const counts = readCounts(context, run);
  const pagesOpen = OPEN_TASK_STATES.reduce((sum, name) => sum + counts[name], 0) > 0;
  // Auxiliary tasks continue until it is known whether there are more pages.
  if (row.open_streams > 0 && !pagesOpen) return null;
  const end = endOf(context, row, counts, pagesOpen ? (isFull ? "pages" : "saturated") : null);
  const lanes = finish(context, row, end, now);
  if (pagesOpen) bumpControl(context);
  return lanes === null ? null : { status: end.status, lanes };
}

/** Only its records have to be compared before it ends. */
export function isEnding(hold: string | null): boolean {
  return parseJson<RunHold | null>(hold, null)?.end !== undefined;
}

/** Returns null, and holds the run, if its records have to be compared first. */
function finish(context: Context, row: EndingRun, end: RunEnd, now: number): string[] | null {
  if (!failsIfDegraded(context, row, end.status)) return moveRun(context, row.n, end.status, eventOfEnd(end), now);
  writeHold(context, row.n, waitForComparison(end, now), now);
  return null;
}

function failsIfDegraded({ connection }: Context, { job, kind }: EndingRun, status: RunState): boolean {
  if (job === null || (kind !== "page" && kind !== "crawl")) return false;
  if (status !== "completed" && status !== "partial") return false;
  return connection.sql("SELECT 1 FROM jobs WHERE id = ? AND on_degraded = 'fail'").get(job) !== undefined;
}

/** Ends a run whose records were compared as it was to end. */
export function endCompared(context: Context, run: number, end: RunEnd, now: number): string[] {
  return moveRun(context, run, end.status, eventOfEnd(end), now);
}

const eventOfEnd = ({ status, message, meta }: RunEnd): MoveEvent => ({
  type: eventOfMove("running", status),
  message,
  meta,
});

function endOf(context: Context, row: EndingRun, counts: TaskCounts, cutBy: "pages" | "saturated" | null): RunEnd {
  if (row.kind === "page") return endOfPageRun(counts, parseJson<RunFacts>(row.facts, {}));
  if (row.kind === "workflow") return { ...endOfWorkflow(counts, readWorkflowError(context, row.n)), meta: { counts } };
  if (row.kind !== "crawl") return { ...endOfRun(counts), meta: { counts } };
  return endCrawl(context, row, counts, cutBy);
}

function readWorkflowError({ connection }: Context, run: number): string | null {
  const row = connection.sql("SELECT error_message FROM workflows WHERE run = ?").get(run);
  return (row?.["error_message"] ?? null) as string | null;
}

/** The result of a crawl; the run's facts record why it stopped. */
function endCrawl(
  context: Context,
  row: EndingRun,
  counts: TaskCounts,
  cutBy: "pages" | "saturated" | "time" | "proxies" | null,
): RunEnd {
  const before = parseJson<RunFacts>(row.facts, {}).left ?? {};
  const left = cutBy === null ? before : { ...before, [cutBy]: true };
  const { status, message, end_reason, error_class } = crawlEnd(context, row, counts, left, cutBy);
  mergeFacts(context, row.n, { end_reason, left });
  // The end messages of all kinds begin alike.
  return { status, message: message.replace(/^Crawl/, "Run"), meta: { counts, end_reason, error_class } };
}

/** Ends a run whose time is over with its present results; its waiting tasks are swept. */
export function endByTime(context: Context, run: number, now: number): void {
  const row = readRow(context, run);
  if (row.status !== "running" || isEnding(row.hold)) return;
  const counts = readCounts(context, run);
  const end =
    row.kind === "crawl" ? endCrawl(context, row, counts, "time") : { ...cutByTime(counts), meta: { counts } };
  if (row.kind !== "crawl") mergeFacts(context, run, { left: { time: true } });
  finish(context, row, end, now);
  bumpControl(context);
}

/**
 * Ends a run that waited for proxies in vain with its present results; its waiting tasks are swept. It can continue
 * later.
 */
export function endWithoutProxies(context: Context, run: number, failure: Failure, now: number): void {
  const row = readRow(context, run);
  const counts = readCounts(context, run);
  const end =
    row.kind === "crawl"
      ? endCrawl(context, row, counts, "proxies")
      : { ...cutWithoutProxies(counts, failure.message), meta: { counts } };
  const failureFacts = { failure_code: failure.code, failure_reason: failure.reason, error_message: failure.message };
  const left = { ...parseJson<RunFacts>(row.facts, {}).left, proxies: true };
  mergeFacts(context, run, { left, ...(end.status === "failed" ? failureFacts : {}) });
  finish(context, row, end.status === "failed" ? { ...end, meta: failureFacts } : end, now);
  bumpControl(context);
}
