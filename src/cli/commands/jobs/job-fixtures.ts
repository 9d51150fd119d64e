import type { Command } from "commander";
import type { Answer } from "../../../api-client/client.ts";
import { without } from "../../../base/without.ts";
import {
  addressCell,
  apiCommand,
  asUnchecked,
  definedOnly,
  fullId,
  nextCommand,
  timeCell,
  type UrlOption,
} from "../../api/command.ts";
import type { CliContext } from "../../context.ts";
import { addField, FIELD_HELP, type FieldRule, itemsRule } from "../../fields.ts";
import { EXIT, listTable, oneLine, plural, printJson } from "../../print/output.ts";
import { asRules, recipeOf } from "../../recipe-options.ts";
import { positiveInteger } from "../../values.ts";

interface TestOptions extends UrlOption {
  rules?: string;
  set?: Record<string, FieldRule>;
  items?: FieldRule;
}

/** `orb jobs test` and `orb jobs fixtures`: rules on saved pages. */
export function addFixtureCommands(jobs: Command, context: CliContext): void {
  apiCommand(jobs, "test", "test the rules of a job, or changed ones, on its saved pages; fetches nothing")
    .argument("<job_id>")
    .option(
      "--rules <file>",
      "JSON file with fields, items and schema to test instead of the job's; - reads standard input",
    )
    .option("--set <name=css>", "a changed or new field; the others stay as they are; repeatable", addField)
    .option("--items <css>", "CSS selector of the records; fields are read once per match", itemsRule)
    .addHelpText("after", `\nExit code 1: a value was lost or changed, or a page fails.\n${FIELD_HELP}`)
    .action((id: string, options: TestOptions) =>
      context.withApi(definedOnly({ url: options.url }), async (api) => {
        const job = await fullId(api, "job", id);
        const { set } = options;
        const given = await recipeOf(without(options, "set", "url"), context.wiring);
        if (set !== undefined) {
          const { fields, crawl } = await api.jobs.get(job);
          given["fields"] = { ...asRules(given["fields"] ?? crawl?.fields ?? fields), ...set };
        }
        const test = await api.jobs.test(job, asUnchecked(given));
        if (!test.passed) context.exitCode = EXIT.failed;
        if (context.json) return printJson(context.terminal, test);
        return context.terminal.out(shownTest(test, context.terminal.columns));
      }),
    );

  apiCommand(jobs, "fixtures", "list the saved pages of a job, newest first")
    .argument("<job_id>")
    .option("--delete <number>", "delete the page with this number", positiveInteger)
    .action((id: string, options: UrlOption & { delete?: number }) =>
      context.withApi(definedOnly({ url: options.url }), async (api) => {
        const { terminal, json, wiring } = context;
        const job = await fullId(api, "job", id);
        if (options.delete !== undefined) {
          await api.jobs.deleteFixture(job, String(options.delete));
          return json ? printJson(terminal, { deleted: options.delete }) : terminal.out(`deleted ${options.delete}\n`);
        }
        const list = await api.jobs.fixtures(job);
        if (json) return printJson(terminal, list);
        if (list.length === 0)
          return terminal.out(`no saved pages: ${nextCommand(`jobs run ${job} --wait`, options)} saves some\n`);
        return terminal.out(
          listTable(
            ["number", "fetched", "records", "bytes", "page"],
            list.map(({ number, fetched_at: at, records, bytes, encrypted, url }) => [
              number,
              timeCell(at, wiring.now(), terminal.columns),
              records,
              encrypted ? `${bytes}, encrypted` : bytes,
              addressCell(url, terminal.columns),
            ]),
            terminal.columns,
          ),
        );
      }),
    );
}

const LONGEST_VALUE = 60;

/** A table of what differs, and a summary. */
function shownTest(
  { pages, summary, passed }: Answer<"post /jobs/{job_id}/test">,
  columns: number | undefined,
): string {
  const lines = pages.flatMap((page) => [
    ...(page.error === null ? [] : [[addressCell(page.url, columns), "", "fails", oneLine(page.error), ""]]),
    ...page.fields
      .filter(({ result }) => result !== "same")
      .map(({ field, result, counts, differences: [first] }) => [
        addressCell(page.url, columns),
        field,
        counts[result] > 1 ? `${result} (${counts[result]} records)` : result,
        shownValue(first?.before),
        shownValue(first?.now),
      ]),
  ]);
  const { lost, changed, new: added, same, failed } = summary;
  const words = [`${same} same`, `${changed} changed`, `${lost} lost`, `${added} new`];
  const total = `${plural(summary.pages, "page")}: fields ${words.join(", ")}${failed === 0 ? "" : `; ${plural(failed, "page")} with an error`}`;
  const head = lines.length === 0 ? "" : `${listTable(["page", "field", "result", "before", "now"], lines, columns)}\n`;
  return `${head}${total}${passed ? "" : " — not as before"}\n`;
}

function shownValue(value: unknown): string {
  if (value === null || value === undefined) return "–";
  const text = oneLine(typeof value === "string" ? value : JSON.stringify(value));
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE - 1)}…`;
}
