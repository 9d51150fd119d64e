import { type Command, Option } from "commander";
import { OCCURRENCE_OUTCOMES } from "../../domain/run/schedule-occurrences.ts";
import type { ScheduleView, OccurrenceView } from "../../orchestrator/schedules.ts";
import { rowsOf } from "../api/rows.ts";
import { apiCommand, asUnchecked, definedOnly, fullId, type ListOptions, type UrlOption } from "../api/command.ts";
import type { CliContext } from "../context.ts";
import { facts, listTable, printJson } from "../print/output.ts";
import { positiveInteger } from "../values.ts";

/** `orb schedules …`: jobs that run by themselves. */
export function addSchedulesCommands(program: Command, context: CliContext): void {
  const { terminal } = context;
  const schedules = program.command("schedules").description("scheduled jobs: next times and past outcomes");

  paged(apiCommand(schedules, "list", "jobs with a schedule, newest first", { isDefault: true })).action(
    ({ url, ...page }: ListOptions) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const { rows, more } = await rowsOf(page, (limit) => api.schedules.list({ limit }));
        if (context.json) return printJson(terminal, rows);
        if (rows.length === 0) return terminal.out("no schedules\n");
        terminal.out(scheduleTable(rows, terminal.columns));
        const waits = rows.find(({ waiting_for: why }) => why !== null)?.waiting_for;
        if (waits) terminal.err(`${waits.message}\n`);
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
  );

  apiCommand(schedules, "show", "one schedule, with its next five times")
    .argument("<job_id>")
    .action((id: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        show(context, await api.schedules.get(await fullId(api, "job", id)));
      }),
    );

  apiCommand(schedules, "preview", "next times of a cron expression")
    .argument("<cron>", "a cron expression, such as '0 6 * * *'")
    .option("--timezone <name>", "time zone, such as Europe/Berlin (default: UTC)")
    .option("--count <number>", "number of times to show", positiveInteger, 5)
    .action((cron: string, { url, timezone, count }: UrlOption & { timezone?: string; count: number }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const preview = await api.schedules.preview(asUnchecked(definedOnly({ cron, timezone, count })));
        if (context.json) return printJson(terminal, preview);
        return terminal.out(preview.next_times.map(({ local }) => `${local}  ${preview.timezone}\n`).join(""));
      }),
    );

  paged(apiCommand(schedules, "slots", "outcomes of past scheduled times, newest first"))
    .argument("<job_id>")
    .addOption(new Option("--outcome <outcome>", "only times with this outcome").choices(OCCURRENCE_OUTCOMES))
    .action((id: string, { outcome, url, ...page }: ListOptions & { outcome?: string }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const job = await fullId(api, "job", id);
        const { rows, more } = await rowsOf(page, (limit) => api.schedules.slots(job, asUnchecked({ outcome, limit })));
        if (context.json) return printJson(terminal, rows);
        if (rows.length === 0) return terminal.out("no scheduled time has passed yet\n");
        terminal.out(slotTable(rows, terminal.columns));
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
    );

  for (const [name, description] of [
    ["pause", "start no scheduled runs until it is resumed"],
    ["resume", "continue a paused schedule with its next time"],
  ] as const)
    apiCommand(schedules, name, description)
      .argument("<job_id>")
      .action((id: string, options: UrlOption) =>
        context.withApi(options, async (api) => {
          show(context, await api.schedules[name](await fullId(api, "job", id)));
        }),
      );
}

function paged(command: Command): Command {
  return command
    .option("--limit <number>", "maximum number of entries", positiveInteger, 50)
    .option("--all", "list all entries");
}

function scheduleTable(rows: readonly ScheduleView[], columns: number | undefined): string {
  return listTable(
    ["job", "next", "cron", "time zone", "last", "started", "missed", "skipped", "name"],
    rows.map((row) => [
      row.job_id,
      row.paused ? "paused" : (row.next_at ?? "never"),
      row.cron,
      row.timezone,
      row.last?.outcome ?? "",
      row.counts.started,
      row.counts.missed,
      row.counts.skipped,
      row.name ?? row.kind,
    ]),
    columns,
  );
}

function slotTable(rows: readonly OccurrenceView[], columns: number | undefined): string {
  return listTable(
    ["time", "outcome", "times", "run", "message"],
    rows.map((row) => [
      row.at === row.until ? row.at : `${row.at} to ${row.until}`,
      row.outcome,
      row.count,
      row.run_id ?? "",
      row.message ?? "",
    ]),
    columns,
  );
}

function show(context: CliContext, schedule: ScheduleView): void {
  const { terminal } = context;
  if (context.json) return printJson(terminal, schedule);
  const { last, counts } = schedule;
  const [next = null, ...later] = schedule.next_times;
  const lines: [string, string | number | null][] = [
    ["job", `${schedule.job_id} (${schedule.name ?? schedule.kind})`],
    ["cron", `${schedule.cron} in ${schedule.timezone}`],
    ["overlap", schedule.overlap],
    ["missed", schedule.missed],
    ["jitter", schedule.jitter_seconds === 0 ? null : `up to ${schedule.jitter_seconds} s`],
    ["state", schedule.paused ? "paused" : null],
    ["waits", schedule.waiting_for?.message ?? null],
    ["next", next],
    ...later.map((time): [string, string] => ["", time]),
    ["last", last === null ? null : `${last.until} ${last.outcome}${last.message === null ? "" : `: ${last.message}`}`],
    [
      "totals",
      `${counts.started} started, ${counts.missed} missed, ${counts.skipped} skipped, ${counts.refused} refused`,
    ],
  ];
  return terminal.out(facts(lines, terminal.columns));
}
