import { type Command, Option } from "commander";
import { FAILURE_CODES } from "../../../domain/run/failure.ts";
import { changeWords, PAGE_CHANGES } from "../../../domain/page/page-change.ts";
import { TASK_STATES } from "../../../domain/run/states.ts";
import type { ErrorGroup } from "../../../orchestrator/runs/failed.ts";
import type { RunSiteView } from "../../../orchestrator/runs/sites.ts";
import type { RunView } from "../../../orchestrator/runs/view.ts";
import { rowsOf } from "../../api/rows.ts";
import {
  addressCell,
  apiCommand,
  asUnchecked,
  definedOnly,
  fullId,
  listCommand,
  type ListOptions,
  nextCommand,
  type UrlOption,
} from "../../api/command.ts";
import type { CliContext } from "../../context.ts";
import { listTable, plural, printJson, table } from "../../print/output.ts";
import { span } from "../../print/progress.ts";
import { waitingWords } from "../../print/waiting-words.ts";

/** `orb runs sites`, `errors` and `retry-failed`: a run in parts. */
export function addRunProgressCommands(runs: Command, context: CliContext): void {
  const { terminal } = context;
  listCommand(runs, "sites", "progress per site, and why work waits")
    .argument("<run_id>")
    .addOption(new Option("--status <status>", "only sites that have tasks in this state").choices(TASK_STATES))
    .action((id: string, { status, url, ...page }: ListOptions & { status?: string }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const run = await fullId(api, "run", id);
        const { rows, more } = await rowsOf(page, (limit) => api.runs.sites(run, asUnchecked({ status, limit })));
        if (context.json) return printJson(terminal, rows);
        if (rows.length === 0) return terminal.out("no sites\n");
        terminal.out(siteTable(rows, terminal.columns));
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
    );

  apiCommand(runs, "errors", "failures and scheduled retries by reason, each with an example")
    .argument("<run_id>")
    .action((id: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        const groups = await api.runs.errors(await fullId(api, "run", id), { status: "all" });
        if (context.json) return printJson(terminal, groups);
        if (groups.length === 0) return terminal.out("nothing failed\n");
        const [retrying, failed] = [ofStatus(groups, "retrying"), ofStatus(groups, "failed")];
        if (retrying.length > 0) terminal.out(retryTable(retrying, context.wiring.now(), terminal.columns));
        if (failed.length > 0)
          terminal.out(`${retrying.length > 0 ? "\n" : ""}${errorTable(failed, terminal.columns)}`);
        // Pages that do not exist, may not be fetched or are no pages would fail again.
        const worth = failed.find(({ retryable }) => retryable);
        if (worth === undefined) return undefined;
        return terminal.err(
          `${nextCommand(`runs retry-failed ${id} --reason ${worth.failure_reason}`, options)} retries these\n`,
        );
      }),
    );

  listCommand(runs, "changes", "pages that are new, changed or gone since the previous run of a saved crawl")
    .argument("<run_id>")
    .addOption(new Option("--change <change>", "only pages with this change").choices(PAGE_CHANGES))
    .action((id: string, { change, url, ...page }: ListOptions & { change?: string }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const run = await fullId(api, "run", id);
        const { changes } = await api.runs.get(run);
        const { rows, more } = await rowsOf(page, (limit) => api.runs.changes(run, asUnchecked({ change, limit })));
        if (context.json) return printJson(terminal, { changes, pages: rows });
        if (changes === null) return terminal.out("nothing to compare with: not a saved crawl, or its first run\n");
        if (rows.length > 0)
          terminal.out(
            listTable(
              ["change", "page"],
              rows.map((row) => [row.change, addressCell(row.url, terminal.columns)]),
              terminal.columns,
            ),
          );
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return terminal.err(`${changeWords(changes)}; ${changes.unchanged} unchanged\n`);
      }),
    );

  type Choice = UrlOption & { code?: string; reason?: string; site?: string };
  apiCommand(runs, "retry-failed", "retry failed tasks, all or filtered; reopens an ended run")
    .argument("<run_id>")
    .addOption(new Option("--code <code>", "only tasks that failed with this code").choices(FAILURE_CODES))
    .option("--reason <reason>", "only tasks that failed for this reason, see orb runs errors")
    .option("--site <site>", "only tasks that failed on this site")
    .action((id: string, { url, code, reason, site }: Choice) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const body = definedOnly({ failure_code: code, failure_reason: reason, site });
        const run = await api.runs.retryFailed(await fullId(api, "run", id), asUnchecked(body));
        acted(context, run);
        if (!context.json) terminal.err(`${plural(run.retried, "task")} will be retried\n`);
      }),
    );
}

/** Prints the run after an action. */
export function acted({ json, terminal }: CliContext, run: RunView): void {
  if (json) printJson(terminal, run);
  else terminal.out(`${run.id} ${run.status}\n`);
}

function siteTable(sites: readonly RunSiteView[], columns: number | undefined): string {
  return table(
    ["site", "queued", "running", "retrying", "done", "failed", "skipped", "waits"],
    sites.map(({ site, counts, waiting_for }) => [
      site,
      counts.queued,
      counts.running,
      counts.retrying,
      counts.completed,
      counts.failed,
      counts.skipped,
      waiting_for === null ? "" : waitingWords(waiting_for),
    ]),
    columns,
  );
}

function ofStatus(groups: readonly ErrorGroup[], status: ErrorGroup["status"]): ErrorGroup[] {
  return groups.filter((group) => group.status === status);
}

function retryTable(groups: readonly ErrorGroup[], now: number, columns: number | undefined): string {
  return listTable(
    ["retrying", "count", "next attempt", "message", "example"],
    groups.map((group) => [
      group.failure_reason,
      group.count,
      nextTryCell(group.next_try_at, now, columns),
      group.example.message,
      addressCell(group.example.url ?? group.example.task_id, columns),
    ]),
    columns,
  );
}

function nextTryCell(at: string | null, now: number, columns: number | undefined): string {
  if (at === null || columns === undefined) return at ?? "";
  const seconds = (Date.parse(at) - now) / 1000;
  return seconds > 0 ? `in ${span(seconds)}` : "now";
}

function errorTable(groups: readonly ErrorGroup[], columns: number | undefined): string {
  return listTable(
    ["reason", "count", "code", "message", "example"],
    groups.map((group) => [
      group.failure_reason,
      group.count,
      group.failure_code,
      group.example.message,
      addressCell(group.example.url ?? group.example.task_id, columns),
    ]),
    columns,
  );
}
