/** The steps of `orb demo`, over the API of its server. */
import type { CrawlDetail } from "../../orchestrator/crawls/view.ts";
import type { OrbweaverClient, Row, WorkflowTask } from "../../api-client/client.ts";
import { asUnchecked } from "../api/command.ts";
import { pause } from "../commands/runs/job-run.ts";
import type { CliContext } from "../context.ts";
import { CrawlDisplay, type DisplayMode } from "../crawl/crawl-display.ts";
import { CRAWL_OVER, followCrawl } from "../crawl/crawl-follow.ts";
import type { DemoBook, DemoSetup, DemoSummary } from "./demo-words.ts";
import type { CliDemo } from "../wiring.ts";
import { WorkflowDisplay } from "../workflow/workflow-display.ts";
import { follow as followWorkflow, WORKFLOW_OVER } from "../workflow/workflow-follow.ts";

interface Tour {
  context: CliContext;
  api: OrbweaverClient;
  demo: CliDemo;
  signal: AbortSignal;
  say: (text: string) => void;
  head: (context: CliContext, setup: DemoSetup) => string;
}

/** Null: it was stopped. */
export async function runTour({ context, api, demo, signal, say, head }: Tour): Promise<DemoSummary | null> {
  const { terminal, wiring, json } = context;
  const mode: DisplayMode = json ? "silent" : terminal.live ? "live" : "plain";
  const { url: shop, crawl: order } = await api.server.startDemoSite();
  const setup = { shop, dashboard: demo.url, folder: demo.folder, browser: demo.browser };
  say(head(context, setup));

  say("Crawling the shop: every page, up to four at once\n");
  const crawlDisplay = new CrawlDisplay(terminal, wiring.now, mode);
  let crawl: CrawlDetail;
  try {
    const { task_id: id } = await api.crawls.start(asUnchecked(order));
    crawl = await followCrawl({ api, id, display: crawlDisplay, signal });
  } finally {
    crawlDisplay.done();
  }
  if (!CRAWL_OVER.has(crawl.status)) return null;
  const pages = await api.runs.tasks(crawl.task_id, { limit: 1000 }).take();
  const records = (await api.runs.results(crawl.task_id, { limit: 1000 }).take()) as unknown as DemoRecord[];

  say("Building a dataset from the pictures of its gallery\n");
  // The template's time estimates are for full-size sites.
  const display = new WorkflowDisplay(terminal, wiring.now, mode, { url: demo.url, guesses: false });
  let id: string;
  let status: string;
  try {
    ({ id } = await api.workflows.create(asUnchecked(demo.galleryWorkflow(new URL(shop).origin))));
    ({ status } = await followWorkflow({ api, id, display, signal, wait: pause(signal) }));
  } finally {
    display.done();
  }
  if (!WORKFLOW_OVER.has(status)) return null;
  const steps = await api.workflows.tasks(id).take();
  return summaryOf({ setup, demo, crawl, pages, records, steps, workflow: { id, status } });
}

type TaskView = Row<"get /jobs/runs/{run_id}/tasks">;
type DemoRecord = { data: { fields: DemoBook } };

interface Seen {
  setup: DemoSetup;
  demo: CliDemo;
  crawl: CrawlDetail;
  pages: readonly TaskView[];
  records: readonly DemoRecord[];
  steps: readonly WorkflowTask[];
  workflow: { id: string; status: string };
}

function summaryOf({ setup, demo, crawl, pages, records, steps, workflow }: Seen): DemoSummary {
  const books = records.flatMap(({ data: { fields } }) => (fields.price === null ? [] : [fields]));
  const waited = pages.filter(({ attempts }) => attempts.some(({ failure_code: code }) => code === "rate_limited"));
  const again = pages.filter(
    ({ status, attempts }) =>
      status === "completed" && attempts.some(({ failure_code: code }) => code !== null && code !== "rate_limited"),
  );
  const rendered = pages.filter(({ status, strategy }) => status === "completed" && strategy === "browser");
  const result = (name: string) => {
    const step = steps.find(({ task_name: own }) => own === name);
    return (step?.result ?? {}) as Record<string, number | string | Record<string, number> | undefined>;
  };
  const count = (value: unknown) => (typeof value === "number" ? value : 0);
  const [checked, deduplicated, packed] = [result("validate"), result("deduplicate"), result("export")];
  return {
    ok: workflow.status === "completed" && books.length > 0,
    ...setup,
    crawl: {
      id: crawl.task_id,
      status: crawl.status,
      pages: crawl.completed_items,
      failed: crawl.failed_items,
      seconds: Math.round(crawl.duration_seconds * 10) / 10,
      books: books.length,
      examples: books.slice(0, 4),
      rate_limited: {
        pages: waited.length,
        waits: waited.reduce(
          (sum, { attempts }) => sum + attempts.filter(({ failure_code: code }) => code === "rate_limited").length,
          0,
        ),
        got: waited.filter(({ status }) => status === "completed").length,
      },
      retried: again.length,
      failures: crawl.error_groups.map((group) => ({
        reason: group.failure_reason,
        count: group.count,
        message: group.example.message,
        url: group.example.url,
      })),
    },
    scripted:
      demo.browser === null
        ? { rendered: 0, skipped: demo.scripted.length }
        : { rendered: rendered.length, skipped: 0 },
    images: {
      id: workflow.id,
      status: workflow.status,
      found: count(checked["valid"]) + count(checked["invalid"]),
      refused: (checked["reasons"] as Record<string, number> | undefined) ?? {},
      exact_copies: count(deduplicated["exact"]),
      smaller_copies: count(deduplicated["near"]),
      kept: count(packed["count"]),
      labels: (packed["labels"] as Record<string, number> | undefined) ?? {},
      bytes: count(packed["bytes"]),
    },
  };
}
