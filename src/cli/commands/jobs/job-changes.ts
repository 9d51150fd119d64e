import { type Command, Option } from "commander";
import { OrbError } from "../../../base/errors.ts";
import type { Answer, Row } from "../../../api-client/client.ts";
import { PAGE_CHANGE_KINDS, type PageChangeKind } from "../../../domain/monitor/monitored-page.ts";
import { addressCell, definedOnly, fullId, listCommand, type ListOptions, timeCell } from "../../api/command.ts";
import { rowsOf } from "../../api/rows.ts";
import type { CliContext } from "../../context.ts";
import { facts, listTable, oneLine, plainText, plural, printJson } from "../../print/output.ts";
import { positiveInteger } from "../../values.ts";

type Job = Answer<"get /jobs/{job_id}">;
type Details = Answer<"get /jobs/{job_id}/changes/{number}">;

/** `orb jobs changes`: what the monitor of a job found. */
export function addChangesCommand(jobs: Command, context: CliContext): void {
  listCommand(
    jobs,
    "changes",
    "changed pages that the job's monitor found, newest first; with a number: the differences",
  )
    .argument("<job_id>")
    .argument("[number]", "number of a change", positiveInteger)
    .option("--ignored", "the places that the monitor leaves out now, by page")
    .addOption(new Option("--change <kind>", "only these").choices(PAGE_CHANGE_KINDS))
    .action(
      (id: string, number: number | undefined, options: ListOptions & { change?: PageChangeKind; ignored?: boolean }) =>
        context.withApi(definedOnly({ url: options.url }), async (api) => {
          const { terminal, json, wiring } = context;
          const { url: _url, change, ignored, ...page } = options;
          if (ignored === true && (number !== undefined || change !== undefined))
            throw new OrbError("input_invalid", "--ignored: cannot be combined with a number or --change");
          const job = await fullId(api, "job", id);
          if (number !== undefined) return show(context, job, await api.jobs.pageChange(job, String(number)));
          if (ignored === true)
            return showIgnored(
              context,
              await api.jobs.get(job),
              await rowsOf(page, (limit) => api.jobs.ignoredPlaces(job, { limit })),
            );
          const { rows, more } = await rowsOf(page, (limit) => api.jobs.changes(job, definedOnly({ limit, change })));
          if (json) return printJson(terminal, rows);
          if (rows.length === 0) return terminal.out(await whyNone(api, job));
          const lines = rows.map((row) => [
            row.number,
            timeCell(row.found_at, wiring.now(), terminal.columns),
            row.change,
            addressCell(row.url, terminal.columns),
            row.summary === null ? "" : oneLine(row.summary),
          ]);
          terminal.out(listTable(["number", "found", "change", "page", "first difference"], lines, terminal.columns));
          if (more) terminal.err("there are more entries: use --limit or --all\n");
          return undefined;
        }),
    );
}

const noMonitor = (job: string) => `the job has no monitor: orb jobs update ${job} --monitor text\n`;

async function whyNone(api: Parameters<Parameters<CliContext["withApi"]>[1]>[0], job: string): Promise<string> {
  const { monitor } = await api.jobs.get(job);
  return monitor === null
    ? noMonitor(job)
    : `no changes yet: every run is compared with the last good one, from the second run on; what is left out: orb jobs changes ${job} --ignored\n`;
}

function show({ json, terminal, wiring }: CliContext, job: string, change: Details): void {
  if (json) return printJson(terminal, change);
  const { words_added: added, words_removed: removed, share, diff } = change;
  const size = diff?.picture === null || diff === null ? `${plural(added, "word")} added, ${removed} removed` : "";
  const about = facts(
    [
      ["page", change.url],
      ["change", change.change],
      ["found", timeCell(change.found_at, wiring.now(), terminal.columns)],
      ["before", change.previous_at === null ? null : timeCell(change.previous_at, wiring.now(), terminal.columns)],
      ["run", change.run_id],
      [
        "size",
        change.change === "changed" ? [size, `${Math.round(share * 1000) / 10} %`].filter(Boolean).join(", ") : null,
      ],
    ],
    terminal.columns,
  );
  const more = diff?.truncated === true ? "there are more differences than are kept\n" : "";
  const unified = diff === null || diff.unified === "" ? "" : `\n${plainText(diff.unified)}`;
  const noise = diff === null || diff.ignored.length === 0 ? "" : `\n${plainText(ignoredText(job, diff.ignored))}`;
  return terminal.out(`${about}${unified}${more}${noise}`);
}

type Ignored = NonNullable<Details["diff"]>["ignored"];

const KINDS: Readonly<Record<Ignored[number]["kind"], string>> = {
  built_in: "date, counter or id",
  words: "words of a line that change on their own",
  place: "a place that changes on its own",
  shuffled: "another order",
  this_run: "differed between fetches of this run",
  unsettled: "a later fetch was as before",
};

type LeftOut = Row<"get /jobs/{job_id}/ignored-places">;

function showIgnored(
  { json, terminal }: CliContext,
  { id: job, monitor }: Job,
  { rows, more }: { rows: LeftOut[]; more: boolean },
): void {
  if (json) return printJson(terminal, rows);
  if (monitor === null) return terminal.out(noMonitor(job));
  if (rows.length === 0)
    return terminal.out("no place of a page is left out so far; dates, counters and ids in texts never count\n");
  const lines = rows.map(({ url, places }) => {
    const list = places.map(({ kind, place, texts }) => `  ${KINDS[kind]}: ${place}  (${texts[0] ?? "–"})\n`);
    return `${url}\n${list.join("")}`;
  });
  terminal.out(plainText(`${lines.join("")}${countHint(job)}`));
  if (more) terminal.err("there are more entries: use --limit or --all\n");
  return undefined;
}

const countHint = (job: string) =>
  `to count one from now on: orb jobs update ${job} --monitor-watch "…" (with all places to count: the list is replaced)\n`;

/** What was left out, and how to count it. */
function ignoredText(job: string, ignored: Ignored): string {
  const lines = ignored.map(({ kind, place, before, after }) => {
    const sample = `${before[0]?.trim() ?? "–"} → ${after[0]?.trim() ?? "–"}`;
    return `  ${KINDS[kind]}: ${place === null ? sample : `${place}  (${sample})`}\n`;
  });
  const hint = ignored.some(({ place }) => place !== null) ? countHint(job) : "";
  return `${plural(ignored.length, "place")} ignored as noise:\n${lines.join("")}${hint}`;
}
