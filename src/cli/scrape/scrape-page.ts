import { isOrbError, OrbError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Config } from "../../config/options.ts";
import { POOL } from "../../domain/proxy/proxy-options.ts";
import { TERMINAL_RUN_STATES } from "../../domain/run/states.ts";
import type { ExportRecord } from "../../exporters/exporter.ts";
import type { JobInput } from "../../orchestrator/jobs/input.ts";
import { fileNameOf, fileUrl } from "../../orchestrator/read-file.ts";
import type { RunView } from "../../orchestrator/runs/view.ts";
import { definedOnly, nextCommand, type UrlOption } from "../api/command.ts";
import { refusal } from "../api/problem.ts";
import { refuseOnScreen } from "../commands/runs/run-results.ts";
import { commandLog } from "../command-log.ts";
import type { CliContext } from "../context.ts";
import { remedyOf, reportFailure } from "../print/failure-report.ts";
import { EXIT, oneLine, paint, printJson } from "../print/output.ts";
import { type RecipeOptions, recipeOf, triesOf } from "../recipe-options.ts";
import { printRecords } from "../records.ts";
import { RunLine } from "../print/run-line.ts";
import {
  type DocumentOptions,
  pageFormatOf,
  printedPage,
  refuseLostFormat,
  withDocumentRequest,
  withoutDocument,
  writeScreenshot,
} from "./scrape-document.ts";
import { remoteBackend, localBackend, type ScrapeBackend } from "./scrape-backend.ts";
import { fileOf, type ScrapedFile } from "./scrape-file.ts";
import { ScrapeNotes } from "./scrape-notes.ts";
import { withFormatOfFile } from "../out-format.ts";
import { type StopRequest, stopRequest } from "../stop.ts";
import type { CliScratch, CliWorker } from "../wiring.ts";

export interface ScrapeOptions extends RecipeOptions, DocumentOptions, UrlOption {
  save?: boolean;
  respectRobots?: boolean;
  /** False: `--no-documents`. */
  documents?: boolean;
}

/** Fetches one page and prints its content. */
export async function scrape(context: CliContext, url: string, said: ScrapeOptions): Promise<void> {
  const { wiring, terminal } = context;
  const options = context.json ? said : withFormatOfFile(said, ["html"]);
  refuseBytesOnScreen(context, options);
  refuseLostFormat(context.json, options);
  if (options.out !== undefined) await wiring.refuseUnwritable(options.out, options.format ?? "json");
  if (options.screenshot !== undefined) await wiring.refuseUnwritable(options.screenshot);
  const file = await fileOf(wiring, url, options);
  const recipe = (await recipeOf({ ...options, maxAttempts: triesOf(options) ?? 1 }, wiring)) as JobInput;
  const robots = {
    ...(options.respectRobots === true ? { respect_robots: true } : {}),
    ...(options.documents === false ? { documents: false } : {}),
  };
  const how =
    file === null
      ? { target_url: absolute(url) }
      : { target_url: fileUrl(file.name), strategy: "http" as const, escalate: false };
  const input = withDocumentRequest({ ...recipe, ...robots, ...how }, options);
  const line = new RunLine(terminal, wiring.now, terminal.live && !context.json);
  using stop = stopRequest(wiring, terminal, null, "cancelling; press Ctrl-C again to exit at once");
  const got = { url: file === null ? url : how.target_url, file, input, named: recipe, options, line, stop };
  try {
    if (options.url === undefined) await scrapeHere(context, got);
    else
      await context.withApi({ ...definedOnly({ url: options.url }), log: (log) => line.wrap(log) }, (api) =>
        scrapeAt(context, remoteBackend(api), got),
      );
  } finally {
    line.done();
  }
}

interface Scraped {
  /** As typed by the user. */
  url: string;
  /** Read instead of fetching the URL. */
  file: ScrapedFile | null;
  input: JobInput;
  /** The fields named by the user: notes cover only these. */
  named: Pick<JobInput, "fields" | "items">;
  options: ScrapeOptions;
  line: RunLine;
  stop: StopRequest;
}

/** In a worker of this process: on the installation's database, or on a temporary one. */
async function scrapeHere(context: CliContext, got: Scraped): Promise<void> {
  const { config, warnings } = context.wiring.loadConfig();
  const log = got.line.wrap(commandLog(context.terminal, config.logLevel));
  for (const warning of warnings) log.warn(warning);
  const worker = await startWorker(context, config, log, got);
  try {
    // A session of the installation has another id in the temporary store.
    const session = worker.sessionId === undefined || worker.sessionId === null ? {} : { session_id: worker.sessionId };
    const input = { ...got.input, ...session };
    await scrapeAt(context, localBackend(worker), { ...got, input }, worker.sessionId);
  } finally {
    got.line.done();
    await worker.stop();
  }
}

async function scrapeAt(
  context: CliContext,
  backend: ScrapeBackend,
  { url, input, named, options, line, stop }: Scraped,
  session?: string | null,
): Promise<void> {
  const id = await asArgument(() => backend.begin(input));
  const run = renamed(await follow(backend, id, line, stop), session, options.session);
  line.done();
  const notes = new ScrapeNotes(named);
  await present(context, backend, run, { ...options, notes, assumed: input.target_url !== url });
  if (run.status === "cancelled") context.exitCode = stop.exitCode ?? context.exitCode;
}

/** Users omit the scheme; programs that read lists do not call this. */
function absolute(url: string): string {
  return /^[a-z][a-z0-9+.-]*:/i.test(url) && !/^[\w.-]+:\d+(?:[/?#]|$)/.test(url) ? url : `https://${url}`;
}

/** A job's `target_url` is the argument `url` here. */
async function asArgument<T>(begin: () => Promise<T>): Promise<T> {
  try {
    return await begin();
  } catch (error) {
    const known = isOrbError(error) ? error : refusal(error);
    if (known === null || !known.fields.some(({ path }) => path === "target_url")) throw error;
    const fields = known.fields.map((field) => (field.path === "target_url" ? { ...field, path: "url" } : field));
    const { code, message, hint, cause } = known;
    throw new OrbError(code, message.replace(/\btarget_url: /, "url: "), {
      cause,
      fields,
      ...(hint === undefined ? {} : { hint }),
    });
  }
}

/** Messages contain the session's name as the user typed it. */
function renamed(run: RunView, here: string | null | undefined, shown: string | undefined): RunView {
  if (typeof here !== "string" || shown === undefined) return run;
  const name = (text: string | null) => text?.replaceAll(here, shown) ?? null;
  return { ...run, error_message: name(run.error_message), message: name(run.message) };
}

function refuseBytesOnScreen({ terminal }: CliContext, options: ScrapeOptions): void {
  const { format, out } = options;
  if (format !== undefined && pageFormatOf(options) === null) refuseOnScreen(terminal, format, out);
}

function startWorker(
  context: CliContext,
  config: Config,
  log: Log,
  { options, file }: Scraped,
): Promise<CliWorker & Partial<CliScratch>> {
  const { wiring } = context;
  if (options.save === true) return wiring.startWorker(config, log, { onRole: () => {}, onTask: () => {} });
  return wiring.startScratch(config, log, {
    ...(options.session === undefined ? {} : { sessionId: options.session }),
    pool: options.proxy === POOL,
    ...(file === null ? {} : { file }),
  });
}

/** Until the run has ended, waits for a person, or is cancelled by the user. */
async function follow(backend: ScrapeBackend, id: string, line: RunLine, stop: StopRequest): Promise<RunView> {
  const seen = new AbortController();
  const signal = AbortSignal.any([stop.signal, seen.signal]);
  for await (const event of backend.events(id, signal)) {
    line.event(event.message);
    if (event.level !== "warn") continue;
    const { status } = await backend.show(id);
    // This terminal is the only one that could answer: stop waiting.
    if (status === "waiting_for_human") seen.abort();
  }
  const run = await backend.show(id);
  if (!stop.signal.aborted || TERMINAL_RUN_STATES.includes(run.status)) return run;
  await backend.cancel(id);
  return backend.show(id);
}

/** A server stores every run. */
const isKept = ({ save, url }: ScrapeOptions) => save === true || url !== undefined;

interface Presented extends ScrapeOptions {
  notes: ScrapeNotes;
  /** The URL was typed without a scheme. */
  assumed: boolean;
}

async function present(context: CliContext, backend: ScrapeBackend, run: RunView, options: Presented): Promise<void> {
  const { terminal } = context;
  const { notes } = options;
  const ok = run.status === "completed";
  context.exitCode = ok ? EXIT.done : EXIT.failed;
  const saved = isKept(options);
  const runs = (words: string) => nextCommand(`runs ${words}`, options);
  const records = () => notes.watched(backend.records(run.id));
  const page = pageFormatOf(options);
  if (ok && options.screenshot !== undefined)
    await writeScreenshot(context, backend, await gathered(backend.records(run.id)), options.screenshot);
  if (context.json) {
    const found = await gathered(records());
    if (ok && options.out !== undefined && page !== null)
      await writeText(context, options.out, printedPage(found, page));
    else if (ok && options.out !== undefined) await write(context, backend, run, options.format ?? "json", options.out);
    return printJson(terminal, asJson(run, found, options));
  }
  if (!ok) {
    if (run.status === "cancelled") terminal.err("cancelled\n");
    else reportFailure(terminal, run, hintOf(run, options));
    if (run.status === "waiting_for_human" && saved)
      terminal.err(`the run waits for a person: ${runs(`resolve ${run.id} --session ID`)}, or --skip\n`);
    else if (saved) terminal.err(`stored as a run: ${runs(`show ${run.id}`)}\n`);
    return undefined;
  }
  const format = options.format ?? (terminal.columns === undefined || options.out !== undefined ? "json" : null);
  if (terminal.live) terminal.err(`${paint(terminal, "gray", summary(run))}\n`);
  if (page !== null) {
    await writeText(context, options.out ?? null, printedPage(await gathered(records()), page));
    if (options.out !== undefined) terminal.err(`written to ${options.out}\n`);
  } else if (format === null) {
    // A screenshot is in its file; the results of rules are printed.
    const found = await gathered(records());
    printRecords(
      terminal,
      (options.rules === undefined ? found.map(withoutDocument) : found).map(({ data }) => data),
    );
  } else {
    // Read for the notes only: exported records come formatted by the server.
    await gathered(records());
    await write(context, backend, run, format, options.out ?? null);
    if (options.out !== undefined) terminal.err(`written to ${options.out}\n`);
  }
  if (options.screenshot !== undefined) terminal.err(`screenshot written to ${options.screenshot}\n`);
  for (const note of notes.about(run)) terminal.err(`${paint(terminal, "yellow", "note:")} ${oneLine(note)}\n`);
  if (saved) terminal.err(`stored as a run: ${runs(`show ${run.id}`)}\n`);
  return undefined;
}

async function gathered(records: AsyncIterable<ExportRecord>): Promise<ExportRecord[]> {
  const all: ExportRecord[] = [];
  for await (const record of records) all.push(record);
  return all;
}

function hintOf(run: RunView, { assumed }: Presented): string | null {
  if (assumed && run.failure_reason === "tls_failed")
    return "https:// was assumed: use http:// for a site without TLS.";
  return remedyOf(run);
}

async function writeText({ wiring }: CliContext, path: string | null, text: string): Promise<void> {
  await wiring.write(
    path,
    (async function* () {
      yield Buffer.from(text);
    })(),
  );
}

async function write(
  { wiring }: CliContext,
  backend: ScrapeBackend,
  { id }: RunView,
  format: string,
  path: string | null,
): Promise<void> {
  await wiring.write(path, await backend.inForm(id, format), format);
}

function summary({ stats, resolved_strategy: strategy }: RunView): string {
  const seconds = typeof stats["duration_ms"] === "number" ? `${(stats["duration_ms"] / 1000).toFixed(1)} s` : "";
  const bytes = typeof stats["content_length"] === "number" ? `${Math.ceil(stats["content_length"] / 1024)} KiB` : "";
  const type = typeof stats["document_type"] === "string" ? stats["document_type"].toUpperCase() : "";
  const address = String(stats["final_url"]);
  const name = fileNameOf(address);
  const source = name === null ? `${String(stats["http_status"])} by ${strategy}` : "read from this machine";
  const how = [source, type, bytes, seconds].filter((part) => part !== "");
  return oneLine(`${how.join(", ")}: ${name ?? address}`);
}

function asJson(run: RunView, records: readonly ExportRecord[], options: Presented): Record<string, unknown> {
  return {
    status: run.status,
    url: run.url,
    ...(isKept(options) ? { run_id: run.id } : {}),
    strategy: run.resolved_strategy,
    strategy_evidence: run.strategy_evidence,
    attempts: run.attempt,
    failure_code: run.failure_code,
    failure_reason: run.failure_reason,
    error_message: run.error_message,
    hint: hintOf(run, options),
    notes: run.status === "completed" ? options.notes.about(run) : [],
    stats: run.stats,
    records: records.map(({ data }) => data),
  };
}
