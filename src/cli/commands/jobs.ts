import { type Command, Option } from "commander";
import type { Job } from "../../api-client/client.ts";
import { OrbError } from "../../base/errors.ts";
import { without } from "../../base/without.ts";
import { ON_DEGRADED } from "../../domain/health/on-degraded.ts";
import { FIXTURES_SETTING } from "../../domain/page/fixture.ts";
import { rowsOf } from "../api/rows.ts";
import {
  asUnchecked,
  addressCell,
  apiCommand,
  definedOnly,
  fullId,
  listCommand,
  type ListOptions,
  type UrlOption,
} from "../api/command.ts";
import type { CliContext } from "../context.ts";
import { addCrawlOptions, crawlOf, type CrawlOptions } from "../crawl/crawl-options.ts";
import { describeField, describeRule, FIELD_HELP } from "../fields.ts";
import { readJsonFile } from "../files.ts";
import { facts, listTable, plural, printJson } from "../print/output.ts";
import { addRecipeOptions, type RecipeOptions, recipeOf } from "../recipe-options.ts";
import { wholeNumber } from "../values.ts";
import { addJobHealthCommand } from "./jobs/job-health.ts";
import { addFixtureCommands } from "./jobs/job-fixtures.ts";
import { addChangesCommand } from "./jobs/job-changes.ts";
import { addMonitorFlags, type MonitorFlags, monitorPart } from "./jobs/monitor-flags.ts";
import { addRepairCommand } from "./jobs/job-repair.ts";
import { addNotify, type NotifyFlag, notifyText } from "./notifications/job-notify.ts";
import { addVersionCommands } from "./jobs/job-versions.ts";
import { runJob } from "./runs/job-run.ts";
import { deletionEnded } from "./runs/run-deletion.ts";

interface JobOptions extends RecipeOptions, CrawlOptions, MonitorFlags, UrlOption {
  crawl?: boolean;
  name?: string;
  targetUrl?: string;
  schedule?: string;
  timezone?: string;
  tag?: string[];
  keepRuns?: number;
  keepDays?: number;
  onDegraded?: string;
  fixtures?: number;
  autoRepair?: boolean;
  notify?: NotifyFlag[] | false;
  requiresAuth?: boolean;
  respectRobots?: boolean;
  escalate?: boolean;
}

/** `orb jobs …`: saved recipes for pages and crawls. */
export function addJobsCommands(program: Command, context: CliContext): void {
  const jobs = program.command("jobs").description("saved jobs: what to fetch, how, and what to extract");

  listCommand(jobs, "list", "jobs, newest first")
    .option("--tag <tag>", "only those with this tag")
    .option("--site <site>", "only those of this site")
    .option("--search <text>", "only those with this text in their name or URL")
    .action(({ tag, site, search, url, ...page }: ListOptions & { tag?: string; site?: string; search?: string }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const { rows, more } = await rowsOf(page, (limit) => api.jobs.list({ tag, site, q: search, limit }));
        if (context.json) return printJson(context.terminal, rows);
        if (rows.length === 0) return context.terminal.out("no jobs\n");
        context.terminal.out(jobTable(rows, context.terminal.columns));
        if (more) context.terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
    );

  apiCommand(jobs, "show", "one job")
    .argument("<job_id>")
    .action((id: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        show(context, await api.jobs.get(await fullId(api, "job", id)));
      }),
    );

  const create = apiCommand(
    jobs,
    "create",
    "create a job from a JSON file, from flags or from both (flags take precedence)",
  ).argument("[file]", "the job as JSON, as in the API; - reads standard input");
  addJobOptions(create).action((file: string | undefined, options: JobOptions) =>
    context.withApi(definedOnly({ url: options.url }), async (api) => {
      const body = jobOf(await readArguments(context, file, options));
      show(context, await api.jobs.create(asUnchecked(body)));
    }),
  );

  const update = apiCommand(jobs, "update", "change a job; existing runs keep the old settings")
    .argument("<job_id>")
    .argument("[file]", "the changes as JSON; - reads standard input");
  addJobOptions(update).action((id: string, file: string | undefined, options: JobOptions) =>
    context.withApi(definedOnly({ url: options.url }), async (api) => {
      const job = await fullId(api, "job", id);
      const args = await readArguments(context, file, options);
      if (Object.keys(jobOf(args)).length === 0)
        throw new OrbError("usage", "nothing to change: add a file or flags", { hint: "See orb jobs update --help." });
      const body = jobOf(args, await api.jobs.get(job));
      show(context, await api.jobs.change(job, asUnchecked(body)));
    }),
  );

  apiCommand(jobs, "delete", "delete a job; its runs are kept unless you use --runs")
    .argument("<job_id>")
    .option("--force", "cancel its active runs first")
    .option("--runs", "also delete its runs, with their results and files")
    .action((id: string, options: UrlOption & { force?: boolean; runs?: boolean }) =>
      context.withApi(definedOnly({ url: options.url }), async (api) => {
        const query = definedOnly({
          force: options.force === true ? true : undefined,
          runs: options.runs === true ? ("delete" as const) : undefined,
        });
        const deletion = await api.jobs.delete(await fullId(api, "job", id), query);
        const runs = deletion === null || deletion === undefined ? 0 : await deletionEnded(api, deletion);
        if (context.json) printJson(context.terminal, { deleted: id, ...(options.runs === true ? { runs } : {}) });
        else
          context.terminal.out(
            `deleted ${id}${options.runs === true ? ` and ${plural(runs, "run")}` : "; its runs are kept (orb runs delete deletes them)"}\n`,
          );
      }),
    );

  addJobHealthCommand(jobs, context);
  addVersionCommands(jobs, context);
  addRepairCommand(jobs, context);
  addChangesCommand(jobs, context);

  apiCommand(jobs, "run", "run a job now")
    .argument("<job_id>")
    .option("--wait", "wait until it ends; run it in this process if there is no worker")
    .action((id: string, options: UrlOption & { wait?: boolean }) => runJob(context, id, options));

  addFixtureCommands(jobs, context);
}

function addJobOptions(command: Command): Command {
  command
    .option("--name <name>", "name of the job")
    .option("--target-url <url>", "URL of the page, or start URL of the crawl")
    .option("--crawl", "the job is a crawl: follow links and read every page")
    .option("--schedule <cron>", "cron expression, such as '0 6 * * *'")
    .option("--timezone <name>", "time zone of the schedule, such as Europe/Berlin (default: UTC)")
    .option("--tag <tag>", "tag, to filter lists; repeatable", (tag: string, before: string[] = []) => [...before, tag])
    .option("--keep-runs <number>", "number of ended runs to keep, 0: all (default: APP_KEEP_RUNS)", wholeNumber)
    .option("--keep-days <number>", "days to keep a run, 0: forever (default: APP_KEEP_DAYS)", wholeNumber)
    .addOption(
      new Option(
        "--on-degraded <what>",
        "if records of a run are worse than before: only alert, also pause the schedule, or fail the run (default: alert)",
      ).choices(ON_DEGRADED),
    )
    .option(FIXTURES_SETTING.cli.flag, FIXTURES_SETTING.cli.about, wholeNumber)
    .option("--auto-repair", "accept repairs of broken rules that are beyond doubt, and read the pages again")
    .option("--no-auto-repair", "leave repairs of broken rules to a person (the default)")
    .option(
      "--notify <channel>",
      "notify this channel; types may follow: ops:run_failed,run_completed; repeatable",
      addNotify,
    )
    .option("--no-notify", "notify only the channels whose rules match")
    .option("--requires-auth", "the page requires a sign-in: use a browser and a session of its origin")
    .option("--respect-robots", "do not fetch pages that robots.txt disallows")
    .option("--no-escalate", "do not switch to a browser after a block (no effect with strategy auto)");
  return addCrawlOptions(addRecipeOptions(addMonitorFlags(command)), {
    saved: true,
    heading: "Crawl options:",
  }).addHelpText("after", FIELD_HELP);
}

interface JobArguments {
  options: JobOptions;
  fromFile: Record<string, unknown>;
  recipe: Record<string, unknown>;
}

async function readArguments(
  { wiring }: CliContext,
  file: string | undefined,
  options: JobOptions,
): Promise<JobArguments> {
  const fromFile = file === undefined ? {} : await readJsonFile((path) => wiring.openFile(path), file, "file");
  return { options, fromFile, recipe: await recipeOf(options, wiring) };
}

/** The body for the API. An existing job keeps its kind; for a new one, any crawl option makes it a crawl. */
function jobOf(
  { options, fromFile, recipe }: JobArguments,
  known?: Pick<Job, "kind" | "monitor">,
): Record<string, unknown> {
  // These are of pages, too.
  const { documents, ...crawl } = crawlOf(options);
  const shared = definedOnly({ respect_robots: options.respectRobots, documents });
  const isMeant = options.crawl === true || fromFile["kind"] === "crawl" || Object.keys(crawl).length > 0;
  return {
    ...fromFile,
    ...monitorPart(options, fromFile["monitor"] ?? known?.monitor),
    ...(isMeant || known?.kind === "crawl"
      ? crawlPart(fromFile["crawl"], recipe, { ...shared, ...crawl })
      : { ...recipe, ...shared }),
    ...definedOnly({
      name: options.name,
      target_url: options.targetUrl,
      schedule: options.schedule,
      timezone: options.timezone,
      tags: options.tag,
      keep_runs: options.keepRuns,
      keep_days: options.keepDays,
      on_degraded: options.onDegraded,
      fixtures: options.fixtures,
      auto_repair: options.autoRepair,
      notify: options.notify === false ? [] : options.notify,
      requires_auth: options.requiresAuth,
      // Only if set: commander's default is true.
      escalate: options.escalate === false ? false : undefined,
    }),
  };
}

const OF_CRAWL_PAGES: ReadonlySet<string> = new Set([
  ...["strategy", "proxy", "headers", "session_id", "fields", "items", "schema", "extract", "document", "browser"],
]);

/** Extraction options of a crawl belong below `crawl`. */
function crawlPart(
  fromFile: unknown,
  { max_attempts: tries, ...recipe }: Record<string, unknown>,
  crawl: Record<string, unknown>,
): Record<string, unknown> {
  const known = typeof fromFile === "object" && fromFile !== null ? (fromFile as Record<string, unknown>) : {};
  const before = tries === undefined ? known : without(known, "retry_attempts", "max_attempts");
  const isItsOwn = ([key]: [string, unknown]) => OF_CRAWL_PAGES.has(key);
  const overrides = Object.fromEntries(Object.entries(recipe).filter(isItsOwn));
  const ofPages = Object.fromEntries(Object.entries(recipe).filter((entry) => !isItsOwn(entry)));
  const all = { ...before, ...overrides, ...definedOnly({ max_attempts: tries }), ...crawl };
  return { ...ofPages, kind: "crawl", ...(Object.keys(all).length === 0 ? {} : { crawl: all }) };
}

function jobTable(jobs: readonly Job[], columns: number | undefined): string {
  return listTable(
    ["id", "name", "kind", "strategy", "schedule", "page or template"],
    jobs.map((job) => [
      job.id,
      job.name ?? "",
      job.kind,
      job.workflow === null ? job.strategy : "",
      job.schedule?.cron ?? "",
      job.workflow === null ? addressCell(job.target_url ?? "", columns) : sourceWords(job.workflow),
    ]),
    columns,
  );
}

function show({ json, terminal }: CliContext, job: Job): void {
  if (json) return printJson(terminal, job);
  return terminal.out(
    facts(
      [
        ["id", job.id],
        ["name", job.name],
        ["kind", job.kind],
        [job.crawl === null ? "page" : "crawl", job.target_url],
        ["site", job.site],
        ...crawlLines(job.crawl),
        ...workflowLines(job.workflow),
        ["strategy", job.workflow === null ? job.strategy : null],
        ["proxy", job.proxy],
        ["sign-in", job.requires_auth ? "required" : null],
        ["session", job.session_id],
        ...fieldLines(job.fields),
        ["items", typeof job.items === "object" && job.items !== null ? describeRule(job.items) : job.items],
        ["schema", shown(job.schema)],
        ...replayLines(job.replay),
        ["headers", shown(job.header_names)],
        ["cookies", shown(job.cookie_names)],
        ["wait for", job.browser?.wait_for ?? null],
        ["attempts", job.max_attempts],
        ["timeout", job.timeout_seconds === null ? null : `${job.timeout_seconds} s`],
        ["robots.txt", job.respect_robots ? "respected" : null],
        ["documents", job.documents ? null : "not read"],
        ["schedule", job.schedule === null ? null : `${job.schedule.cron} ${job.schedule.timezone ?? "UTC"}`],
        ["next run", job.next_run_at],
        ["last run", job.last_run === null ? null : `${job.last_run.id} ${job.last_run.status}`],
        ["tags", shown(job.tags)],
        ["retention", keeps(job)],
        ["on degraded", job.on_degraded === "alert" ? null : job.on_degraded],
        ["saved pages", job.fixtures === null ? null : String(job.fixtures)],
        ["repair", job.auto_repair ? "automatic" : null],
        ["notifies", job.notify.map(notifyText).join("; ") || null],
        [
          "monitor",
          job.monitor === null
            ? null
            : [job.monitor.what, ...job.monitor.ignore.map((one) => `without ${one}`)].join(", "),
        ],
        ["created", job.created_at],
        ["updated", job.updated_at === job.created_at ? null : job.updated_at],
      ],
      terminal.columns,
    ),
  );
}

/** Its own retention. */
function keeps({ keep_runs: runs, keep_days: days }: Job): string | null {
  const parts = [
    ...(runs === null ? [] : [runs === 0 ? "all runs" : `the newest ${plural(runs, "run")}`]),
    ...(days === null ? [] : [days === 0 ? "without a time limit" : `for ${plural(days, "day")}`]),
  ];
  return parts.length === 0 ? null : parts.join(", ");
}

function shown(value: unknown): string | null {
  if (value === null || (Array.isArray(value) && value.length === 0)) return null;
  return Array.isArray(value) && value.every((one) => typeof one === "string")
    ? value.join(", ")
    : JSON.stringify(value);
}

type Detail = readonly [string, string | null];

/** One line each, in the syntax of `--field`. */
function fieldLines(fields: Job["fields"]): Detail[] {
  if (fields === null || Array.isArray(fields)) return [["fields", shown(fields)]];
  return Object.entries(fields).map(([name, rule], index) => [index === 0 ? "fields" : "", describeField(name, rule)]);
}

function crawlLines(crawl: Job["crawl"]): Detail[] {
  if (crawl === null) return [];
  const { url, max_depth: depth, max_pages: pages, timeout_minutes: minutes, include, exclude, follow, read } = crawl;
  return [
    ["other starts", Array.isArray(url) ? url.slice(1).join(", ") : null],
    ["limits", `depth ${depth}, ${plural(pages, "page")}, ${plural(minutes, "minute")}`],
    ["include", shown(include)],
    ["exclude", shown(exclude)],
    ["follow", shown(follow)],
    ["read", shown(read)],
    ["sites", crawl.same_site ? null : "any"],
    ["sitemaps", crawl.use_sitemap ? "yes" : null],
  ];
}

type Source = NonNullable<Job["workflow"]>;

/** The source of a workflow, in short. */
function sourceWords({ template, template_version: version }: Source): string {
  if (template === undefined || template === null) return "own definition";
  return version === undefined || version === null ? template : `${template}, version ${version}`;
}

function workflowLines(workflow: Job["workflow"]): Detail[] {
  if (workflow === null) return [];
  const { template, definition, params } = workflow;
  const { steps } = (definition ?? {}) as { steps?: readonly unknown[] };
  return [
    [template === undefined || template === null ? "source" : "template", sourceWords(workflow)],
    ["steps", steps === undefined ? null : String(steps.length)],
    ["params", params === undefined || params === null || Object.keys(params).length === 0 ? null : shown(params)],
  ];
}

function replayLines(replay: unknown): Detail[] {
  if (replay === null) return [];
  const { request, ...rest } = replay as { request?: { method?: string; url?: string } };
  return [
    ["call", `${request?.method ?? "GET"} ${request?.url ?? ""}`],
    ["", Object.keys(rest).length === 0 ? null : JSON.stringify(rest)],
  ];
}
