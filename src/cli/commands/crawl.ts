import { type Command, Option } from "commander";
import { OrbError } from "../../base/errors.ts";
import { EXPORT_FORMATS } from "../../exporters/registry.ts";
import type { CrawlView } from "../../orchestrator/crawls/view.ts";
import { given, idOf, type UrlOption } from "../api/command.ts";
import type { CliContext, OpenApi } from "../context.ts";
import { addCrawlOptions, crawlOf, type CrawlOptions } from "../crawl-options.ts";
import { EXIT, plural, printJson } from "../output.ts";
import { addReadingOptions, type RecipeOptions, recipeOf } from "../recipe-options.ts";
import { RunLine } from "../run-line.ts";
import { stopRequest } from "../stop.ts";
import { pause } from "./job-run.ts";

interface CrawlCommandOptions extends UrlOption, RecipeOptions, CrawlOptions {
  format?: string;
  out?: string;
  resume?: string;
}

/** `orb crawl`: many pages, followed live; Ctrl-C keeps what is done. */
export function addCrawlCommand(program: Command, context: CliContext): void {
  const command = program
    .command("crawl")
    .description("crawl a site: follow its links, read every page, and print what was found")
    .argument("[url...]", "where to begin");
  addCrawlOptions(command);
  addReadingOptions(command, ["auto", "http", "browser"])
    .addOption(new Option("--format <name>", "how the results are written (json)").choices(EXPORT_FORMATS))
    .option("--out <file>", "to a file instead of standard output")
    .option("--resume <id>", "go on with a crawl that was interrupted")
    .option("--url <address>", "ask this server instead of the database here (token: APP_API_TOKEN)")
    .action((urls: string[], options: CrawlCommandOptions) => crawl(context, urls, options));
}

async function crawl(context: CliContext, urls: string[], options: CrawlCommandOptions): Promise<void> {
  const { terminal, wiring } = context;
  if (urls.length === 0 && options.resume === undefined)
    throw new OrbError("usage", "an address to begin with is missing, or --resume ID");
  const body = options.resume === undefined ? await bodyOf(context, urls, options) : null;
  const line = new RunLine(terminal, wiring.now, terminal.live && !context.json);
  using stop = stopRequest(wiring, terminal, null, "stopping: what is done is kept");
  try {
    await context.withApi({ ...given({ url: options.url }), log: (log) => line.wrap(log) }, async (api) => {
      await api.here?.work({ onRole: () => {} });
      const id = body === null ? await goOn(api, idOf(options.resume ?? "", "run")) : await begin(api, body);
      const view = await follow(api, id, line, stop.signal);
      line.done();
      await conclude(context, api, view, options);
    });
  } finally {
    line.done();
  }
}

async function bodyOf(
  { wiring }: CliContext,
  urls: string[],
  options: CrawlCommandOptions,
): Promise<Record<string, unknown>> {
  const recipe = await recipeOf(options, wiring);
  return given({
    url: urls.length === 1 ? urls[0] : urls,
    ...crawlOf(options),
    export_format: options.format,
    ...given({
      fields: recipe["fields"],
      items: recipe["items"],
      schema: recipe["schema"],
      strategy: recipe["strategy"],
    }),
  });
}

async function begin(api: OpenApi, body: Record<string, unknown>): Promise<string> {
  const answer = await api.request("POST", "/scraping/async-scrape", { body });
  return (await answer.json<{ task_id: string }>()).task_id;
}

const look = async (api: OpenApi, id: string) =>
  (await api.request("GET", `/scraping/tasks/${id}/status`)).json<CrawlView>();

async function goOn(api: OpenApi, id: string): Promise<string> {
  const { status } = await look(api, id);
  if (status === "paused") await api.request("POST", `/jobs/runs/${id}/resume`);
  else if (status === "partial" || status === "failed") await api.request("POST", `/jobs/runs/${id}/retry-failed`);
  return id;
}

const OVER: ReadonlySet<string> = new Set(["completed", "partial", "failed", "cancelled"]);
const LOOK_MS = 300;

async function follow(api: OpenApi, id: string, line: RunLine, signal: AbortSignal): Promise<CrawlView> {
  for (;;) {
    const view = await look(api, id);
    line.event(progressOf(view));
    if (OVER.has(view.status)) return view;
    if (signal.aborted) {
      // Another process would go on with it: whoever pressed Ctrl-C wants it to stop.
      if (view.status === "running") await api.request("POST", `/jobs/runs/${id}/pause`);
      return look(api, id);
    }
    await pause(signal)(LOOK_MS);
  }
}

function progressOf(view: CrawlView): string {
  const { completed_items: done, total_items: known, failed_items: failed, pages_per_second: rate, errors } = view;
  if (view.status === "pending") return "waiting for its turn";
  const wrong =
    failed === 0
      ? ""
      : `, ${failed} failed (${errors.timeout} timeout, ${errors.connection} connection, ${errors.general} other)`;
  return `${done} of ${known} known pages, ${rate.toFixed(1)}/s${wrong}`;
}

async function conclude(
  context: CliContext,
  api: OpenApi,
  view: CrawlView,
  options: CrawlCommandOptions,
): Promise<void> {
  const { terminal, wiring } = context;
  const id = view.task_id;
  if (!OVER.has(view.status)) {
    context.exitCode = EXIT.partial;
    if (context.json) printJson(terminal, view);
    terminal.err(`stopped with ${plural(view.completed_items, "page")} done: orb crawl --resume ${id} goes on\n`);
    return;
  }
  context.exitCode = view.status === "completed" ? EXIT.done : view.status === "partial" ? EXIT.partial : EXIT.failed;
  if (context.json && options.format === undefined && options.out === undefined) printJson(terminal, view);
  else {
    const query = { format: options.format ?? "json" };
    const answer = await api.request("GET", `/scraping/tasks/${id}/results`, { query });
    await wiring.write(options.out ?? null, answer.stream);
  }
  const where = options.out === undefined ? "" : `, written to ${options.out}`;
  terminal.err(`${view.message ?? view.status}${where} (${id})\n`);
}
