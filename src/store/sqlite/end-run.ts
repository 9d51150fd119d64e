import { endOfPageRun, endOfRun, NO_TASKS, type TaskCounts } from "../../domain/run-end.ts";
import type { RunFacts } from "../../domain/run-facts.ts";
import { type RunState, TASK_STATES } from "../../domain/states.ts";
import { bumpControl, type Context, mergeFacts, moveRun, parseJson } from "./context.ts";
import { crawlEnd } from "./crawls.ts";

const SUM_COUNTS = `SELECT ${TASK_STATES.map((name) => `coalesce(sum(${name}), 0) AS ${name}`).join(", ")} FROM streams WHERE run = ? AND aside = 0`;

/** Ends the run when nothing of it is open. A paused run ends when it is resumed. */
export function endRunIfDone(context: Context, run: number, now: number): RunState | null {
  const { connection } = context;
  const row = connection
    .sql("SELECT n, status, open_streams, kind, facts, snapshot FROM runs WHERE n = ?")
    .get(run) as {
    n: number;
    status: RunState;
    open_streams: number;
    kind: string;
    facts: string | null;
    snapshot: string;
  };
  if (row.open_streams > 0 || row.status !== "running") return null;
  const counts = { ...NO_TASKS, ...(connection.sql(SUM_COUNTS).get(run) as unknown as TaskCounts) };
  const end = endOf(context, row, counts);
  moveRun(context, run, end.status, end.message, now, end.meta);
  return end.status;
}

function endOf(
  context: Context,
  row: { n: number; kind: string; facts: string | null; snapshot: string },
  counts: TaskCounts,
): { status: RunState; message: string; meta: unknown } {
  if (row.kind === "page") return endOfPageRun(counts, parseJson<RunFacts>(row.facts, {}));
  if (row.kind !== "crawl") return { ...endOfRun(counts), meta: { counts } };
  return endCrawl(context, row, counts, false);
}

/** What a crawl came to; why it went no further stands on the run. */
function endCrawl(
  context: Context,
  row: { n: number; facts: string | null; snapshot: string },
  counts: TaskCounts,
  timeIsUp: boolean,
): { status: RunState; message: string; meta: unknown } {
  const { status, message, end_reason, error_class } = crawlEnd(context, row, counts, timeIsUp);
  mergeFacts(context, row.n, { end_reason });
  // Every run's end begins with the same words.
  return { status, message: message.replace(/^Crawl/, "Run"), meta: { counts, end_reason, error_class } };
}

/** The time of a run is over: it ends with what it has, and what waits is swept. */
export function endByTime(context: Context, run: number, now: number): void {
  const { connection } = context;
  const row = connection.sql("SELECT n, status, facts, snapshot FROM runs WHERE n = ?").get(run) as {
    n: number;
    status: RunState;
    facts: string | null;
    snapshot: string;
  };
  if (row.status !== "running") return;
  const counts = { ...NO_TASKS, ...(connection.sql(SUM_COUNTS).get(run) as unknown as TaskCounts) };
  const end = endCrawl(context, row, counts, true);
  moveRun(context, run, end.status, end.message, now, end.meta);
  bumpControl(context);
}
