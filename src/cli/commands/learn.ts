import { Readable } from "node:stream";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Answer } from "../../api-client/client.ts";
import { OrbError } from "../../base/errors.ts";
import { apiCommand, asUnchecked, definedOnly, nextCommand, type UrlOption } from "../api/command.ts";
import type { CliContext } from "../context.ts";
import { EXIT, oneLine, plural, printJson, table } from "../print/output.ts";
import { positiveNumber } from "../values.ts";

interface LearnOptions extends UrlOption {
  example?: Record<string, string[]>;
  records?: "one" | "list";
  strategy?: "auto" | "http" | "browser";
  session?: string;
  timeout?: number;
  out?: string;
  save?: string;
}

const MOST_VALUES = 5;

type Lesson = Answer<"post /extract/learn">;

const EXAMPLES = `
An example is a value as shown on the page. Give one value per field and page,
or several values from one page for a list. Several fields with the same number
of values describe the first records of a list, unless --records says otherwise.

Examples:
  orb learn https://shop.example/lamp --example name="Blue lamp" \\
    --example price="€ 12.90"
  orb learn https://shop.example/ --example name=Lamp --example name=Chair \\
    --example price="€ 12" --example price="€ 90" --save "Shop prices"`;

/** `orb learn`: derives rules from example values. */
export function addLearnCommand(program: Command, context: CliContext): void {
  const { terminal, wiring } = context;
  apiCommand(program, "learn", "derive extraction rules from example values")
    .argument("<page...>", "one to five pages with the same layout")
    .option("--example <field=value>", "field and its value as shown on the page; repeatable", addExample)
    .addOption(
      new Option("--records <what>", "what each page has; by default the number of values decides").choices([
        "one",
        "list",
      ]),
    )
    .addOption(new Option("--strategy <name>", "how the pages are fetched").choices(["auto", "http", "browser"]))
    .option("--session <name>", "name or id of a stored session; see orb sessions")
    .option("--timeout <seconds>", "time limit per page", positiveNumber)
    .option("--out <file>", "write the rules to this file, for --rules of scrape, crawl and jobs")
    .option("--save <name>", "save a job with these rules for the first page")
    .addHelpText("after", EXAMPLES)
    .action((pages: string[], options: LearnOptions) =>
      context.withApi(definedOnly({ url: options.url }), async (api) => {
        if (options.out !== undefined) await wiring.refuseUnwritable(options.out);
        const { example, records, strategy, session, timeout } = options;
        if (example === undefined)
          throw new OrbError("usage", "--example is missing", {
            hint: 'Add a value to extract: --example title="Blue lamp"',
          });
        const body = {
          pages: pages.map((url) => ({ url })),
          examples: example,
          ...definedOnly({ records, strategy, session_id: session, timeout_seconds: timeout }),
        };
        const lesson = await api.extract.learn(asUnchecked(body));
        const { fields, items } = lesson;
        const learned = Object.keys(fields).length > 0;
        const rules = { fields, ...(items === null ? {} : { items }) };
        if (learned && options.out !== undefined)
          await wiring.write(options.out, Readable.from([Buffer.from(`${JSON.stringify(rules, null, 2)}\n`)]));
        const job =
          learned && options.save !== undefined
            ? await api.jobs.create(asUnchecked({ name: options.save, target_url: pages[0]!, ...rules }))
            : null;
        if (context.json) printJson(terminal, job === null ? lesson : { ...lesson, job_id: job.id });
        else terminal.out(shown(lesson, terminal.columns));
        for (const { field, page, message } of lesson.problems)
          terminal.err(`${field}: ${page === null ? "" : `${pages[page]}: `}${message}\n`);
        context.exitCode = learned ? (lesson.problems.length === 0 ? EXIT.done : EXIT.partial) : EXIT.failed;
        if (context.json || !learned) return;
        if (options.out !== undefined) terminal.err(`rules written to ${options.out}\n`);
        terminal.err(
          job === null ? tryIt(pages[0]!, options) : `next: ${nextCommand(`jobs run ${job.id}`, options)}\n`,
        );
      }),
    );
}

function tryIt(page: string, { out, ...options }: LearnOptions): string {
  if (out !== undefined) return `next: ${nextCommand(`scrape ${page} --rules ${out}`, options)}\n`;
  return "next: write the rules with --out FILE, or create a job with --save NAME\n";
}

function addExample(text: string, before: Record<string, string[]> = {}): Record<string, string[]> {
  const [, name = "", value = ""] = /^([^=]+)=([\s\S]+)$/.exec(text) ?? [];
  if (name.trim() === "" || value.trim() === "" || name === "__proto__")
    throw new InvalidArgumentError('expected FIELD=VALUE, such as title="Blue lamp".');
  return { ...before, [name.trim()]: [...(before[name.trim()] ?? []), value.trim()] };
}

function shown(lesson: Lesson, columns: number | undefined): string {
  const { items, fields, alternatives, record_counts: counts } = lesson;
  if (Object.keys(fields).length === 0) return "";
  const lines = Object.entries(fields).map(([field, rule]) => {
    const [best, ...others] = alternatives[field] ?? [];
    return [
      field,
      ruleText(rule),
      best?.score.toFixed(2) ?? "",
      others.length,
      oneLine(valuesText(best?.values ?? [])),
    ];
  });
  const found = counts.reduce((sum, count) => sum + count, 0);
  const where = items === null ? "" : `items: ${ruleText(items)}, ${plural(found, "record")} on the given pages\n`;
  return where + table(["field", "rule", "score", "others", "values"], lines, columns);
}

function ruleText(rule: Record<string, unknown>): string {
  const { css, xpath, jsonpath, from, attr, regex, all } = rule;
  const [name, text] =
    css !== undefined ? ["", css] : xpath !== undefined ? ["xpath:", xpath] : [`${from ?? "jsonpath"}:`, jsonpath];
  return `${name}${String(text)}${attr === undefined ? "" : `@${String(attr)}`}${regex === undefined ? "" : ` /${String(regex)}/`}${all === true ? " (all)" : ""}`;
}

function valuesText(values: readonly unknown[]): string {
  const shown = values
    .slice(0, MOST_VALUES)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  return [...shown, ...(values.length > MOST_VALUES ? ["…"] : [])].join(" · ");
}
