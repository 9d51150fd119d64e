import { type Command, Option } from "commander";
import { isOrbError, messageOf, OrbError } from "../../base/errors.ts";
import { Signal } from "../../base/signal.ts";
import { EXPORT_FORMATS } from "../../exporters/registry.ts";
import type { CrawlDetail } from "../../orchestrator/crawls/view.ts";
import { asUnchecked, fullId, definedOnly, nextCommand, type UrlOption } from "../api/command.ts";
import { refusal } from "../api/problem.ts";
import type { CliContext, OpenApi } from "../context.ts";
import { CrawlDisplay } from "../crawl/crawl-display.ts";
import { CRAWL_OVER, followCrawl, type FollowedCrawl, lookAtCrawl } from "../crawl/crawl-follow.ts";
import { addCrawlOptions, crawlOf, type CrawlOptions } from "../crawl/crawl-options.ts";
import {
  refuseTwoOnOutput,
  refuseUnarchived,
  refuseWithResume,
  resultsCommand,
  resumeCommand,
} from "../crawl/crawl-resume.ts";
import { printSkipped } from "../crawl/crawl-skips.ts";
import { EXIT, oneLine, plural, printJson, type Terminal } from "../print/output.ts";
import {
  addHeader,
  addReadingOptions,
  attemptsAlias,
  type RecipeOptions,
  recipeOf,
  triesOf,
} from "../recipe-options.ts";
import { stopRequest } from "../stop.ts";
import { readUrls } from "../crawl/url-list.ts";
import { showFound, showsFound, printResultsHint } from "../crawl/crawl-found.ts";
import { keptWords } from "../print/kept-words.ts";
import { positiveInteger } from "../values.ts";
import { withFormatOfFile } from "../out-format.ts";
import { OUT_HELP, refuseOnScreen } from "./runs/run-results.ts";

interface CrawlCommandOptions extends UrlOption, RecipeOptions, CrawlOptions {
  format?: string;
  out?: string;
  resume?: string;
  name?: string;
  from?: string;
}

/** `orb crawl`: many pages, followed live; Ctrl-C pauses the crawl. */
export function addCrawlCommand(program: Command, context: CliContext): void {
  const command = program
    .command("crawl")
    .description("crawl a site: follow its links, read every page and print the results")
    .argument("[url...]", "start URLs: pages, feeds or sitemaps; - reads URLs from standard input")
    .option("--from <file>", "read start URLs from this file, one per line");
  addCrawlOptions(command);
  addReadingOptions(command, ["auto", "http", "browser"])
    .option("--header <name: value>", "sent only to the origin of the start URL; repeatable", addHeader)
    .option("--session <name>", "name or id of a stored session for the origin of the start URL; see orb sessions")
    .option("--max-attempts <number>", "maximum attempts per page (default: 4)", positiveInteger)
    .addOption(attemptsAlias())
    .option("--name <text>", "name of the crawl")
    .addOption(
      new Option("--format <name>", "output format; default: json, or the format of the resumed crawl").choices(
        EXPORT_FORMATS,
      ),
    )
    .option("--out <file>", OUT_HELP)
    .option("--resume <id>", "continue an interrupted crawl")
    .option("--url <address>", "use this server instead of the local database (token from APP_API_TOKEN)")
    .action((urls: string[], options: CrawlCommandOptions, self: Command) => {
      if (options.resume !== undefined) refuseWithResume(self);
      return crawl(context, urls, options);
    });
}

async function crawl(context: CliContext, named: string[], options: CrawlCommandOptions): Promise<void> {
  const { terminal, wiring } = context;
  const { format } = context.json ? options : withFormatOfFile(options);
  const isNamed = named.length > 0 || options.from !== undefined;
  if (!isNamed && options.resume === undefined)
    throw new OrbError(
      "usage",
      "the start URL is missing: orb crawl https://example.com, or --resume ID to continue a crawl",
    );
  if (isNamed && options.resume !== undefined)
    throw new OrbError("usage", "--resume continues a crawl and cannot be combined with a URL");
  refuseTwoOnOutput(context.json, options);
  if (options.resume === undefined) refuseOnScreen(terminal, format ?? "json", options.out);
  if (options.resume === undefined && options.out !== undefined)
    await wiring.refuseUnwritable(options.out, format ?? "json");
  const body =
    options.resume === undefined ? await bodyOf(context, named, { ...options, ...definedOnly({ format }) }) : null;
  const display = new CrawlDisplay(terminal, wiring.now, context.json ? "silent" : terminal.live ? "live" : "plain");
  const say = { live: true, err: (text: string) => display.note(text.trim()) };
  let resumeHint = "";
  using stop = stopRequest(wiring, say, null, () => `${STOPPING}${resumeHint}`, EXIT.partial);
  try {
    await context.withApi({ ...definedOnly({ url: options.url }), log: (log) => display.wrap(log) }, async (api) => {
      const ended = new Signal();
      const worker = await api.here?.work({ onRole: () => {}, onEnded: () => ended.raise() });
      const id = body === null ? await resumeCrawl(context, api, options) : await begin(api, body);
      // Printed on the first Ctrl-C, so that it is on the screen whatever happens next.
      resumeHint = `; to continue:\n  ${resumeCommand(id, options, context.json)}`;
      const crawled: Crawled = { api, id, display, signal: stop.signal, ended };
      let view = await follow(crawled);
      if (!CRAWL_OVER.has(view.status)) {
        view = await finishInFlight(crawled);
        worker?.hurry();
      }
      display.done();
      await conclude(context, api, view, options);
    });
  } finally {
    display.done();
  }
}

async function bodyOf(
  { wiring }: CliContext,
  named: string[],
  options: CrawlCommandOptions,
): Promise<Record<string, unknown>> {
  const urls = await readUrls(wiring, named, options.from);
  const recipe = await recipeOf(options, wiring);
  return definedOnly({
    name: options.name,
    url: urls.length === 1 ? urls[0] : urls,
    ...crawlOf(options),
    export_format: options.format,
    ...definedOnly({
      fields: recipe["fields"],
      items: recipe["items"],
      schema: recipe["schema"],
      extract: recipe["extract"],
      document: recipe["document"],
      browser: recipe["browser"],
      strategy: recipe["strategy"],
      proxy: recipe["proxy"],
      headers: recipe["headers"],
      session_id: recipe["session_id"],
      max_attempts: triesOf(options),
    }),
  });
}

async function begin(api: OpenApi, body: Record<string, unknown>): Promise<string> {
  return (await api.crawls.start(asUnchecked(body))).task_id;
}

/** Crawls that ended for these reasons may have untried pages. */
const PAGES_LEFT: ReadonlySet<string> = new Set(["limit_time", "breaker_open", "no_proxies"]);

/** Continues a crawl in any state: resumes a paused one, retries failed and left pages, and follows all others. */
async function resumeCrawl(
  { terminal, json, wiring }: CliContext,
  api: OpenApi,
  options: CrawlCommandOptions,
): Promise<string> {
  const id = await fullId(api, "crawl", options.resume ?? "");
  const { status, failed_items: failed, end_reason: why, export_format: begunWith } = await lookAtCrawl(api, id);
  // Fail on unwritable output before the work, not after.
  if (!json || options.out !== undefined) refuseOnScreen(terminal, options.format ?? begunWith, options.out);
  if (options.out !== undefined) await wiring.refuseUnwritable(options.out, options.format ?? begunWith);
  refuseUnarchived(options.format, begunWith);
  if (status === "paused") await api.runs.resume(id);
  else if (
    ((status === "partial" || status === "failed") && (failed > 0 || PAGES_LEFT.has(why ?? ""))) ||
    why === "saturated"
  )
    await api.runs.retryFailed(id);
  return id;
}

const STOPPING = "stopping: pages in flight are finished first; press Ctrl-C again to exit at once";
/** Pages that take longer are dropped and fetched again when the crawl continues. */
const FINISH_MS = 5000;

type Crawled = FollowedCrawl & { api: OpenApi };

async function follow(crawled: Crawled): Promise<CrawlDetail> {
  const view = await followCrawl(crawled);
  return CRAWL_OVER.has(view.status) ? view : halt(crawled);
}

/** Another process would continue it, but Ctrl-C means stop. */
async function halt({ api, id }: Crawled): Promise<CrawlDetail> {
  try {
    await api.runs.pause(id);
  } catch (error) {
    // It has just ended or cannot be paused in its state: the state is printed.
    if (refusal(error, "illegal_transition") === null) throw error;
  }
  return lookAtCrawl(api, id);
}

/** Stops this process's work: tasks in flight finish within `FINISH_MS`. */
async function finishInFlight({ api, id, display }: Crawled): Promise<CrawlDetail> {
  const began = performance.now();
  for (;;) {
    const view = await lookAtCrawl(api, id);
    display.show(view, null);
    const isDone = view.running_items === 0 || CRAWL_OVER.has(view.status) || api.here === null;
    if (isDone || performance.now() - began > FINISH_MS) return view;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function conclude(
  context: CliContext,
  api: OpenApi,
  view: CrawlDetail,
  options: CrawlCommandOptions,
): Promise<void> {
  const { terminal } = context;
  const id = view.task_id;
  if (!CRAWL_OVER.has(view.status)) {
    context.exitCode = EXIT.partial;
    const resume = resumeCommand(id, options, context.json);
    // On a terminal, a user who just stopped the crawl does not want the summary.
    const isWanted = options.out !== undefined || (!context.json && terminal.columns === undefined);
    // An earlier file is worth more than an empty one.
    const isWritten = isWanted && view.completed_items > 0;
    if (isWritten) await writeResults(context, api, view, options);
    if (context.json) return printJson(terminal, { ...view, resume });
    const done = view.started_at === null ? "before it started" : `with ${plural(view.completed_items, "page")} done`;
    const where = isWritten && options.out !== undefined ? `, written to ${options.out}` : "";
    return terminal.err(`stopped ${done}${where}; to continue:\n  ${resume}\n`);
  }
  context.exitCode = view.status === "completed" ? EXIT.done : view.status === "partial" ? EXIT.partial : EXIT.failed;
  if (context.json && options.out === undefined) return printJson(terminal, view);
  const isShown = showsFound(context, options);
  if (isShown) await showFound(terminal, api, view);
  else await writeResults(context, api, view, options);
  if (context.json) return printJson(terminal, view);
  const where = options.out === undefined ? "" : `, written to ${options.out}`;
  const { completed_items: got, failed_items: failed, skipped_items: skipped } = view;
  // Pages in flight when it was cancelled may still be ending.
  const left = view.total_items - got - failed - skipped;
  const counts = view.status === "cancelled" ? `: ${plural(got, "page")} fetched, ${left} not done` : "";
  terminal.err(`${view.message ?? view.status}${counts}${where} (${id})\n`);
  if (isShown && got > 0) printResultsHint(terminal, view, options);
  printExpiry(terminal, view, options);
  printFailures(terminal, view, options);
  printSkipped(terminal, view);
  return printEmptySites(terminal, api, view, options);
}

/** Runs without an expiry print nothing. */
function printExpiry(terminal: Terminal, view: CrawlDetail, options: UrlOption): void {
  if (view.expires_at === null && view.keep_runs === null) return;
  const command = nextCommand(`runs keep ${view.task_id}`, options);
  terminal.err(`${keptWords(view)}; ${command} keeps it permanently\n`);
}

/** Writes all results so far as one file. */
async function writeResults(
  { wiring }: CliContext,
  api: OpenApi,
  { task_id: id, export_format: begunWith }: CrawlDetail,
  options: CrawlCommandOptions,
): Promise<void> {
  const format = options.format ?? begunWith;
  try {
    const file = { params: { task_id: id }, query: { format: asUnchecked(format) } };
    const answer = await api.open("get /scraping/tasks/{task_id}/results", file);
    await wiring.write(options.out ?? null, answer, format);
  } catch (error) {
    throw kept(error, resultsCommand(id, { ...options, format }));
  }
}

/** Writing failed, but the crawl still has its results: adds the command that exports them. */
function kept(error: unknown, command: string): OrbError {
  const known = isOrbError(error) ? error : refusal(error);
  const [code, fields] = known === null ? (["fetch_failed", []] as const) : [known.code, known.fields];
  const hint = `The results are stored; get them with:\n  ${command}`;
  return new OrbError(code, messageOf(error), { cause: error, hint, fields });
}

const MOST_SITES = 3;

/** Of several start sites, lists those without results. */
async function printEmptySites(terminal: Terminal, api: OpenApi, view: CrawlDetail, options: UrlOption): Promise<void> {
  if (view.failed_items === 0 || view.completed_items === 0) return;
  const { rows } = await api.runs.sites(view.task_id, { status: "failed", limit: 1000 }).page();
  const empty = rows.filter(({ counts }) => counts.completed + counts.skipped === 0);
  if (empty.length === 0) return;
  const names = empty.slice(0, MOST_SITES).map(({ site }) => site);
  const more = empty.length > names.length ? ` and ${empty.length - names.length} more` : "";
  const command = nextCommand(`runs sites ${view.task_id}`, options);
  terminal.err(`no pages from ${oneLine(names.join(", "))}${more}; ${command} shows each site\n`);
}

const MOST_REASONS = 5;

function printFailures(terminal: Terminal, view: CrawlDetail, options: UrlOption): void {
  const { task_id: id, error_groups: groups } = view;
  const shown = groups.slice(0, MOST_REASONS).map(({ failure_reason: reason, count }) => `${count} ${reason}`);
  if (shown.length === 0) return;
  const more = groups.length > shown.length ? ", …" : "";
  terminal.err(
    `failed pages: ${shown.join(", ")}${more}; ${nextCommand(`runs errors ${id}`, options)} shows examples\n`,
  );
}
