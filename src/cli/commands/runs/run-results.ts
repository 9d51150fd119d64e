import { type Command, Option } from "commander";
import { OrbError } from "../../../base/errors.ts";
import type { ExportRecord } from "../../../exporters/exporter.ts";
import { EXPORT_FORMATS, exporterNamed, formatNamed, RECORD_FORMATS } from "../../../exporters/registry.ts";
import type { OrbweaverClient } from "../../../api-client/client.ts";
import { rowsOf } from "../../api/rows.ts";
import { apiCommand, asUnchecked, definedOnly, fullId, type UrlOption } from "../../api/command.ts";
import { withFormatOfFile } from "../../out-format.ts";
import type { CliContext } from "../../context.ts";
import { printJson, type Terminal } from "../../print/output.ts";
import { printRecords } from "../../records.ts";
import { positiveInteger } from "../../values.ts";

interface ResultOptions extends UrlOption {
  format?: string;
  out?: string;
  limit?: number;
  onlyChanged?: boolean;
}

export const OUT_HELP =
  "write to this file, in the format of --format, otherwise of the file extension; with --format markdown, an existing folder or a path that ends in / gets one file per page";
const MOST_FOR_READING = 50;

/** `orb runs results`: for reading, or exported in one of the formats. */
export function addResultsCommand(runs: Command, context: CliContext): void {
  apiCommand(runs, "results", "results of a run")
    .argument("<run_id>")
    .addOption(
      new Option(
        "--format <name>",
        "all results in this format; default: readable text on a terminal, otherwise json",
      ).choices(EXPORT_FORMATS),
    )
    .option("--out <file>", OUT_HELP)
    .option(
      "--limit <number>",
      "maximum number of records (default: 50 as readable text, otherwise all)",
      positiveInteger,
    )
    .option("--only-changed", "saved crawls: only records of pages that are new or changed since the previous run")
    .action((id: string, options: ResultOptions) => showResults(context, id, options));
}

async function showResults(context: CliContext, named: string, said: ResultOptions): Promise<void> {
  const { terminal, wiring } = context;
  const options = context.json ? said : withFormatOfFile(said);
  const reading = terminal.columns !== undefined && options.out === undefined && !context.json;
  // Only the server's export knows what changed.
  const format = options.format ?? (reading && options.onlyChanged !== true ? null : "json");
  if (options.onlyChanged === true && options.limit !== undefined)
    throw new OrbError("usage", "--only-changed cannot be combined with --limit", { hint: "Remove --limit." });
  if (format !== null) refuseOnScreen(terminal, format, options.out);
  if (format !== null && options.limit !== undefined && !RECORD_FORMATS.includes(format))
    throw new OrbError("usage", `--limit cannot be combined with --format ${format}`, {
      hint: "Remove --limit.",
    });
  if (options.out !== undefined) await wiring.refuseUnwritable(options.out, format ?? "json");
  await context.withApi(definedOnly({ url: options.url }), async (api) => {
    const id = await fullId(api, "run", named);
    if (format === null) {
      const most = { limit: options.limit ?? MOST_FOR_READING };
      const { rows, more } = await rowsOf(most, (limit) => api.runs.results(id, { limit }));
      printRecords(
        terminal,
        rows.map(({ data }) => data),
      );
      if (more) terminal.err("there are more records: use --limit, or --format for all\n");
      return;
    }
    await wiring.write(options.out ?? null, await inForm(api, id, format, options), format);
    if (options.out !== undefined && context.json) printJson(terminal, { written: options.out });
    else if (options.out !== undefined) terminal.err(`written to ${options.out}\n`);
  });
}

/** Binary formats would garble a terminal. */
export function refuseOnScreen(terminal: Terminal, format: string, out: string | undefined): void {
  if (formatNamed(format).isText || terminal.columns === undefined || out !== undefined) return;
  throw new OrbError("usage", `--format ${format} cannot be printed on a terminal`, { hint: "Add --out FILE." });
}

/** All records as the server exports them; a limited number is read and formatted here. */
async function inForm(
  api: OrbweaverClient,
  id: string,
  format: string,
  { limit, onlyChanged }: Pick<ResultOptions, "limit" | "onlyChanged">,
): Promise<AsyncIterable<Uint8Array>> {
  if (limit === undefined) {
    const file = {
      params: { run_id: id },
      query: definedOnly({ format: asUnchecked(format), only_changed: onlyChanged }),
    };
    return api.open("get /jobs/runs/{run_id}/results", file);
  }
  const { rows } = await rowsOf({ limit }, (size) => api.runs.results(id, { limit: size }));
  return exporterNamed(format).export(
    (async function* () {
      yield* rows as ExportRecord[];
    })(),
  );
}
