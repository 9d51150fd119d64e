import { type Command, Option } from "commander";
import { OrbError } from "../../../base/errors.ts";
import { RUN_KINDS, RUN_STATES, TASK_STATES } from "../../../domain/run/states.ts";
import type { CrawlView } from "../../../orchestrator/crawls/view.ts";
import type { RunView, TaskView } from "../../../orchestrator/runs/view.ts";
import { rowsOf } from "../../api/rows.ts";
import {
  addressCell,
  apiCommand,
  asUnchecked,
  definedOnly,
  fullId,
  listCommand,
  type ListOptions,
  timeCell,
  type UrlOption,
} from "../../api/command.ts";
import { runEvents } from "../../api/events.ts";
import type { CliContext, OpenApi } from "../../context.ts";
import { actorText } from "../../print/actor.ts";
import { remedyOf, strategyOf } from "../../print/failure-report.ts";
import { keptWords } from "../../print/kept-words.ts";
import { facts, printJson, listTable } from "../../print/output.ts";
import { stopRequest } from "../../stop.ts";
import { positiveInteger, someOf } from "../../values.ts";
import { failureWords } from "../../print/waiting-words.ts";
import { eventLine } from "./job-run.ts";
import { skippedWords } from "../../crawl/crawl-skips.ts";
import { acted, addRunProgressCommands } from "./run-progress.ts";
import { addRunBulkCommand } from "./run-bulk.ts";
import { addRunDeletionCommands } from "./run-deletion.ts";
import { addResultsCommand } from "./run-results.ts";

/** `orb runs …`: what became of jobs, and steering them. */
export function addRunsCommands(program: Command, context: CliContext): void {
  const { terminal } = context;
  const runs = program
    .command("runs")
    .description(
      'runs of every kind: show, follow and control them. An id may be shortened to its first 6 characters; "last" is the newest run',
    );

  type Filters = ListOptions & { status?: string; job?: string; kind?: string; site?: string; search?: string };
  listCommand(runs, "list", "runs, newest first; child runs of workflows only with --all or --search")
    .option(
      "--status <status>",
      `only those in one of these states, separated by commas (${RUN_STATES.join(", ")})`,
      someOf(RUN_STATES),
    )
    .option("--job <job_id>", "only those of this job")
    .addOption(new Option("--kind <kind>", "only those of this kind").choices(RUN_KINDS))
    .option("--site <site>", "only those of this site")
    .option("--search <text>", "only those with this text in their name or URL")
    .action(({ status, job, kind, site, search, url, ...page }: Filters) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const filters = definedOnly({ status, kind, site, q: search });
        if (job !== undefined && Object.keys(filters).length > 0)
          throw new OrbError("usage", "--job cannot be combined with the other filters");
        // Runs of workflow steps would crowd out the others, so they are hidden unless a search or `--all` asks for
        // them.
        const top = page.all === true || search !== undefined ? {} : { parent: "none" };
        const { rows, more } =
          job === undefined
            ? await rowsOf(page, (limit) => api.runs.list(asUnchecked({ ...filters, ...top, limit })))
            : await runsOf(api, await fullId(api, "job", job), page);
        if (context.json) return printJson(terminal, rows);
        if (rows.length === 0) return terminal.out("no runs\n");
        terminal.out(runTable(rows, context.wiring.now(), terminal.columns));
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
    );

  apiCommand(runs, "show", "one run")
    .argument("<run_id>")
    .action((id: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        const run = await api.runs.get(await fullId(api, "run", id));
        show(context, run, run.kind === "crawl" && !context.json ? await api.crawls.status(run.id) : null);
      }),
    );

  apiCommand(runs, "events", "the log of a run")
    .argument("<run_id>")
    .option("--limit <number>", "maximum number of events, oldest first", positiveInteger, 200)
    .option("--type <types>", "only events of these types, separated by commas")
    .option("--follow", "follow until the run ends; with --json one event per line")
    .action((id: string, options: EventOptions) => showEvents(context, id, options));

  addResultsCommand(runs, context);

  listCommand(runs, "tasks", "the tasks of a run, with their attempts and files")
    .argument("<run_id>")
    .addOption(
      new Option(
        "--status <status>",
        "only those in this state; retryable: a retry is scheduled, or may fix the failure",
      ).choices([...TASK_STATES, "retryable"]),
    )
    .action((id: string, { status, url, ...page }: ListOptions & { status?: string }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const run = await fullId(api, "run", id);
        const { rows, more } = await rowsOf(page, (limit) => api.runs.tasks(run, asUnchecked({ status, limit })));
        if (context.json) return printJson(terminal, rows);
        if (rows.length === 0) return terminal.out("no tasks\n");
        terminal.out(taskTable(rows, terminal.columns));
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
    );

  for (const [name, description] of [
    ["cancel", "cancel a run; tasks in flight are stopped"],
    ["pause", "finish tasks in flight and start no new ones"],
    ["resume", "continue a paused run"],
  ] as const)
    apiCommand(runs, name, description)
      .argument("<run_id>")
      .action((id: string, options: UrlOption) =>
        context.withApi(options, async (api) => {
          acted(context, await api.runs[name](await fullId(api, "run", id)));
        }),
      );

  addRunProgressCommands(runs, context);
  addRunBulkCommand(runs, context);
  addRunDeletionCommands(runs, context);

  apiCommand(runs, "resolve", "continue or skip a run that waits for a person")
    .argument("<run_id>")
    .option("--session <name>", "continue with this session (name or id); see orb login and orb sessions")
    .addOption(new Option("--skip", "give up the page; the run fails").conflicts("session"))
    .action((id: string, options: UrlOption & { session?: string; skip?: boolean }) =>
      context.withApi(definedOnly({ url: options.url }), async (api) => {
        if (options.session === undefined && options.skip !== true)
          throw new OrbError("usage", "choose how to continue: --session ID or --skip");
        const body = options.session === undefined ? { skip: true } : { session_id: options.session };
        acted(context, await api.runs.resolve(await fullId(api, "run", id), asUnchecked(body)));
      }),
    );
}

function runsOf(api: OpenApi, job: string, page: Omit<ListOptions, "url">) {
  return rowsOf(page, (limit) => api.jobs.runs(job, { limit: Math.min(limit, 100) }));
}

type EventOptions = UrlOption & { limit: number; type?: string; follow?: boolean };

async function showEvents(context: CliContext, named: string, options: EventOptions): Promise<void> {
  const { terminal, wiring } = context;
  await context.withApi(definedOnly({ url: options.url }), async (api) => {
    const id = await fullId(api, "run", named);
    if (options.follow !== true) {
      const events = await api.runs.events(id, {
        limit: Math.min(1000, options.limit),
        ...definedOnly({ type: options.type }),
      });
      if (context.json) return printJson(terminal, events);
      return terminal.out(events.map((event) => eventLine(terminal, event)).join(""));
    }
    using stop = stopRequest(wiring, terminal, null, "stopped following; the run is not cancelled");
    for await (const event of runEvents(api, id, stop.signal, definedOnly({ type: options.type })))
      terminal.out(context.json ? `${JSON.stringify(event)}\n` : eventLine(terminal, event));
    context.exitCode = stop.exitCode ?? context.exitCode;
    return undefined;
  });
}

function runTable(runs: readonly RunView[], now: number, columns: number | undefined): string {
  return listTable(
    ["id", "status", "reason", "created", "page"],
    runs.map((run) => [
      // A screen is narrow, and the prefix of an id is enough.
      columns === undefined ? run.id : run.id.slice(0, 8),
      run.status,
      columns === undefined ? whyNot(run) : cut(whyNot(run), reasonWidth(columns)),
      timeCell(run.created_at, now, columns),
      addressCell(run.url ?? run.name ?? run.kind, columns),
    ]),
    columns,
  );
}

/** Leaves space for the URL; `orb runs show` prints the full text. */
const reasonWidth = (columns: number) => Math.max(12, Math.floor(columns / 4) - 2);

/** What it waits for; of a page, why it failed; of runs with many pages or steps, their final message. */
function whyNot({ status, failure_reason, error_message, message, waiting_for: waits }: RunView): string {
  const failed = waits?.last_failure?.failure_reason;
  if (waits !== null) return failed === undefined || failed === null ? waits.reason : `${waits.reason}: ${failed}`;
  if (failure_reason !== null || (status !== "failed" && status !== "partial")) return failure_reason ?? "";
  return (error_message ?? message ?? "").replace(/^Run \w+: (?:no page was (?:got|fetched) \([^)]*\): )?/, "");
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text);

function taskTable(tasks: readonly TaskView[], columns: number | undefined): string {
  return listTable(
    ["id", "status", "attempts", "strategy", "reason", "files", "page"],
    tasks.map((task) => [
      task.id,
      task.status,
      task.attempts.length,
      task.attempts.at(-1)?.strategy ?? "",
      task.failure_reason ?? whyOf(task.detail),
      task.artifacts.length,
      addressCell(task.url ?? "", columns),
    ]),
    columns,
  );
}

/** Why a task was skipped. */
function whyOf(detail: unknown): string {
  const why = (detail as { why?: unknown } | null)?.why;
  return typeof why === "string" ? why : "";
}

/** All that the API returns, and how many more there are. */
function startWords({ url, urls, url_count: count }: RunView): string | null {
  if (count <= 1) return url;
  return `${urls.join(", ")}${count > urls.length ? ` and ${count - urls.length} more` : ""}`;
}

function show({ json, terminal, wiring }: CliContext, run: RunView, crawl: CrawlView | null): void {
  if (json) return printJson(terminal, run);
  const { stats } = run;
  const stat = (name: string) => (stats[name] === null || stats[name] === undefined ? null : String(stats[name]));
  const last = run.waiting_for?.last_failure ?? null;
  // While the run is retried, its failure is not final.
  const failure =
    run.failure_code === null || last !== null
      ? null
      : `${run.failure_code} (${run.failure_reason}): ${run.error_message ?? ""}`;
  return terminal.out(
    facts(
      [
        ["id", run.id],
        ["job", run.job_id],
        ["name", run.name],
        ["kind", run.kind],
        ["status", run.status],
        ["progress", run.finished_at === null && run.started_at !== null ? `${run.progress} %` : null],
        [run.url_count > 1 ? "starts" : "page", startWords(run)],
        ["pages", crawl === null ? null : pagesWords(crawl)],
        ["strategy", strategyOf(run) ?? run.requested_strategy],
        // With several pages, each has its own.
        [
          "attempts",
          crawl !== null ? null : run.max_attempts === null ? run.attempt : `${run.attempt} of ${run.max_attempts}`,
        ],
        ["failure", failure],
        ["last error", last === null ? null : failureWords(last, wiring.now())],
        ["what to do", failure === null ? null : remedyOf(run)],
        ["http status", stat("http_status")],
        ["title", stat("title")],
        ["final URL", stats["final_url"] === run.url ? null : stat("final_url")],
        ["message", run.message],
        ["waits", run.waiting_for?.message ?? null],
        ["not fetched", skippedWords(run.skipped)],
        ...run.warnings.map(({ message }): [string, string] => ["warning", message]),
        ["created", run.created_at],
        ["started", run.started_at],
        ["started by", run.started_by === null ? null : actorText(run.started_by)],
        ["finished", run.finished_at],
        ["kept", run.finished_at === null ? null : keptWords(run).replace(/^kept /, "")],
      ],
      terminal.columns,
    ),
  );
}

/** `40 known: 12 completed, 3 failed, 2 retrying, 4 in flight, 19 queued`. */
function pagesWords(crawl: CrawlView): string {
  const waiting = crawl.queued_items - crawl.retrying_items;
  const parts = [
    `${crawl.completed_items} completed`,
    `${crawl.failed_items} failed`,
    ...(crawl.skipped_items === 0 ? [] : [`${crawl.skipped_items} skipped`]),
    ...(crawl.retrying_items === 0 ? [] : [`${crawl.retrying_items} retrying`]),
    ...(crawl.running_items === 0 ? [] : [`${crawl.running_items} in flight`]),
    ...(waiting <= 0 ? [] : [`${waiting} queued`]),
    ...(crawl.cancelled_items === 0 ? [] : [`${crawl.cancelled_items} not done`]),
  ];
  return `${crawl.total_items} known: ${parts.join(", ")}`;
}
