import type { Command } from "commander";
import type { JobHealth } from "../../../api-client/client.ts";
import { describeReason } from "../../../domain/health/describe-reason.ts";
import { apiCommand, definedOnly, fullId, nextCommand, type UrlOption } from "../../api/command.ts";
import type { CliContext } from "../../context.ts";
import { facts, plural, printJson, table } from "../../print/output.ts";
import { wholeNumber } from "../../values.ts";

/** `orb jobs health`: whether the records of a job's runs stay what they were. */
export function addJobHealthCommand(jobs: Command, context: CliContext): void {
  apiCommand(jobs, "health", "whether the records of its runs stay what they were, field by field")
    .argument("<job_id>")
    .option("--runs <number>", "how many runs, newest first (default: 5)", wholeNumber)
    .option("--accept", "the newest runs are right although they are degraded: compare later ones with them")
    .action((id: string, options: UrlOption & { runs?: number; accept?: boolean }) =>
      context.withApi(definedOnly({ url: options.url }), async (api) => {
        const job = await fullId(api, "job", id);
        const query = { runs: options.runs ?? SHOWN_RUNS };
        const health =
          options.accept === true ? await api.jobs.acceptHealth(job, query) : await api.jobs.health(job, query);
        if (context.json) return printJson(context.terminal, health);
        return context.terminal.out(shown(health, options, context.terminal.columns));
      }),
    );
}

const SHOWN_RUNS = 5;

const percent = (share: number | null) => (share === null ? "–" : `${Math.round(share * 1000) / 10} %`);

function shown(health: JobHealth, options: UrlOption, columns: number | undefined): string {
  const { baseline, runs, fields, on_degraded: action, job_id: job } = health;
  if (runs.length === 0)
    return "no run with records yet: they are compared from the fourth run on (docs/data-quality.md)\n";
  const compared =
    baseline.runs < baseline.needed
      ? `${plural(baseline.runs, "run")} so far; runs are compared from ${baseline.needed} on`
      : plural(baseline.runs, "run");
  const about = facts(
    [
      ["newest run", `${runs[0]!.run_id}  ${runs[0]!.ended_at}`],
      ["baseline", compared],
      ["on degraded", action],
    ],
    columns,
  );
  // The newest run stands first, next to what it is compared with.
  const header = ["field", "verdict", "baseline", ...runs.map(({ ended_at: at }) => at.slice(5, 16).replace("T", " "))];
  const lines = fields.map(({ name, hint, baseline: usual, values }) => [
    name,
    hint === null ? (values[0]?.verdict ?? "") : "never filled",
    usual === null ? "–" : percent(usual.coverage),
    ...values.map(({ coverage, verdict }) => `${percent(coverage)}${verdict === "degraded" ? " !" : ""}`),
  ]);
  const records = ["records", "", "", ...runs.map(({ records: count }) => String(count))];
  return `${about}\n${table(header, [...lines, records], columns)}${reasonLines(runs[0]!, nextCommand(`jobs health ${job} --accept`, options))}`;
}

function reasonLines({ degraded, accepted_at: accepted }: JobHealth["runs"][number], accept: string): string {
  if (degraded === null) return "";
  const lines = degraded.map((reason) => {
    const examples = reason.examples === undefined ? "" : `, such as ${JSON.stringify(reason.examples[0])}`;
    return `! ${describeReason(reason)}${examples}\n`;
  });
  const then = accepted === null ? `If the change is right, accept it: ${accept}\n` : `accepted at ${accepted}\n`;
  return `\n${lines.join("")}${then}`;
}
