import { nullable, strict } from "../../api/schemas.ts";
import { Type } from "../../api/type.ts";
import type { Crawl, Row } from "../../api-client/client.ts";
import { adviceFor } from "../advice.ts";
import { short } from "../bounds.ts";
import { Cursor, id, NextShape, Text, Total, waitSeconds } from "../shapes.ts";
import { defineTool, type Next, type ToolCall } from "../tool.ts";
import { hasEnded, waitForCrawl } from "../waiting.ts";
import { waitingWords } from "../words.ts";

const LISTED = 20;
const MOST_GROUPS = 5;

const Summary = strict({
  run_id: Type.String(),
  url: Text,
  status: Type.String({
    description: "pending, running, paused, waiting_for_human, completed, partial, failed or cancelled",
  }),
  progress: { ...Total, description: "percent of the known pages" },
  pages: strict({ known: Total, got: Total, failed: Total, left: Total }),
  created_at: Type.String(),
  finished_at: Text,
  waiting: nullable(Type.String({ description: "why it waits" })),
});

export const crawlStatus = defineTool({
  name: "crawl_status",
  title: "Crawl status",
  description: "Status of a crawl or scrape; can wait for its end. Without run_id: the newest ones, with their ids.",
  input: strict({
    run_id: Type.Optional(id("from scrape or crawl_start; without it: a list of the newest")),
    wait_seconds: waitSeconds(0, "returns when the run has ended, or after this time"),
    cursor: Cursor,
  }),
  output: strict({
    run: nullable(
      strict({
        ...Summary.properties,
        seconds: Type.Number(),
        relevant_pages: nullable(Total),
        end_reason: Text,
        message: Text,
        warnings: Type.Array(Type.String(), { description: "probable mistakes in the settings, and what to do" }),
        skipped: Type.Record(Type.String(), Total, {
          description: "URLs that were found but not fetched, by reason",
        }),
        failures: Type.Array(
          strict({
            failure_code: Type.String(),
            failure_reason: Type.String(),
            count: Total,
            example: Text,
            advice: Text,
          }),
          { description: "by reason, most frequent first" },
        ),
      }),
    ),
    runs: Type.Array(Summary, { description: "if no run_id was given" }),
    next: NextShape,
  }),
  role: "viewer",
  hints: { reads: true, repeatable: true },
  call: async ({ run_id: runId, wait_seconds: seconds = 0, cursor }, call) =>
    runId === undefined ? list(call, cursor) : one(await waitForCrawl(call, runId, seconds)),
});

function summaryOf(view: Row<"get /scraping/tasks"> & Partial<Crawl>) {
  return {
    run_id: view.task_id,
    url: short(view.url, 200),
    status: view.status,
    progress: view.progress,
    pages: {
      known: view.total_items,
      got: view.completed_items,
      failed: view.failed_items,
      left: view.queued_items + view.running_items,
    },
    created_at: view.created_at,
    finished_at: view.finished_at,
    waiting: short(waitingWords(view), 200),
  };
}

function one(view: Crawl) {
  const failures = view.error_groups.slice(0, MOST_GROUPS).map((group) => ({
    failure_code: group.failure_code,
    failure_reason: group.failure_reason,
    count: group.count,
    example: short(group.example.url),
    advice: adviceFor(group.failure_code, group.failure_reason),
  }));
  return {
    run: {
      ...summaryOf(view),
      seconds: view.duration_seconds,
      relevant_pages: view.goal?.relevant_pages ?? null,
      end_reason: view.end_reason,
      message: short(view.message),
      warnings: view.warnings.map(({ message }) => message),
      skipped: { ...view.skipped },
      failures,
    },
    runs: [],
    next: nextOf(view),
  };
}

function nextOf({ task_id: id, status, completed_items: got, failed_items: failed }: Crawl): Next | null {
  const results = (why: string): Next => ({ tool: "crawl_results", arguments: { run_id: id }, why });
  if (!hasEnded(status))
    return {
      tool: "crawl_status",
      arguments: { run_id: id, wait_seconds: 45 },
      why: "it has not ended; crawl_results has the results so far",
    };
  if (got > 0) return results("to read the results");
  return failed === 0
    ? null
    : { tool: "crawl_results", arguments: { run_id: id, what: "failures" }, why: "to see the failures" };
}

async function list({ api }: ToolCall, cursor: string | undefined) {
  const { rows, next: more } = await api.crawls.list({ limit: LISTED, cursor }).page();
  return {
    run: null,
    runs: rows.map(summaryOf),
    next: more === null ? null : { tool: "crawl_status", arguments: { cursor: more }, why: "older ones" },
  };
}
