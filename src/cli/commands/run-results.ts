import { type Command, Option } from "commander";
import { OrbError } from "../../base/errors.ts";
import type { ExportRecord } from "../../exporters/exporter.ts";
import { EXPORT_FORMATS, exporterNamed, formatNamed, RECORD_FORMATS } from "../../exporters/registry.ts";
import type { OrbweaverClient } from "../../api-client/client.ts";
import { rowsOf } from "../api/rows.ts";
import { apiCommand, asSaid, given, fullId, type UrlOption } from "../api/command.ts";
import type { CliContext } from "../context.ts";
import { printJson, type Terminal } from "../output.ts";
import { printRecords } from "../records.ts";
import { positiveInteger } from "../values.ts";

interface ResultOptions extends UrlOption {
  format?: string;
  out?: string;
  limit?: number;
}

export const OUT_HELP = "to a file; with --format markdown also to a folder/, a file per page";
const MOST_FOR_READING = 50;

/** `orb runs results`: for reading, or whole in one of the export formats. */
export function addResultsCommand(runs: Command, context: CliContext): void {
  apiCommand(runs, "results", "what a run found")
    .argument("<run_id>")
    .addOption(
      new Option("--format <name>", "all of it in this form; otherwise for reading, or as json off a terminal").choices(
        EXPORT_FORMATS,
      ),
    )
    .option("--out <file>", OUT_HELP)
    .option("--limit <number>", "how many; otherwise 50 for reading, and all in a form", positiveInteger)
    .action((id: string, options: ResultOptions) => showResults(context, id, options));
}

async function showResults(context: CliContext, named: string, options: ResultOptions): Promise<void> {
  const { terminal, wiring } = context;
  const reading = terminal.columns !== undefined && options.out === undefined && !context.json;
  const format = options.format ?? (reading ? null : "json");
  if (format !== null) refuseOnScreen(terminal, format, options.out);
  if (format !== null && options.limit !== undefined && !RECORD_FORMATS.includes(format))
    throw new OrbError("usage", `--limit counts records, and --format ${format} has none`, {
      hint: "Leave out --limit.",
    });
  if (options.out !== undefined) await wiring.refuseUnwritable(options.out, format ?? "json");
  await context.withApi(given({ url: options.url }), async (api) => {
    const id = await fullId(api, "run", named);
    if (format === null) {
      const most = { limit: options.limit ?? MOST_FOR_READING };
      const { rows, more } = await rowsOf(most, (limit) => api.runs.results(id, { limit }));
      printRecords(
        terminal,
        rows.map(({ data }) => data),
      );
      if (more) terminal.err("there are more: --limit, or --format for all\n");
      return;
    }
    await wiring.write(options.out ?? null, await inForm(api, id, format, options.limit), format);
    if (options.out !== undefined && context.json) printJson(terminal, { written: options.out });
    else if (options.out !== undefined) terminal.err(`written to ${options.out}\n`);
  });
}

/** Bytes would make a mess of a terminal. */
export function refuseOnScreen(terminal: Terminal, format: string, out: string | undefined): void {
  if (formatNamed(format).isText || terminal.columns === undefined || out !== undefined) return;
  throw new OrbError("usage", `--format ${format} is not for a screen`, { hint: "Add --out FILE." });
}

/** All records as the server writes them; a number of them is asked for and written here. */
async function inForm(
  api: OrbweaverClient,
  id: string,
  format: string,
  limit: number | undefined,
): Promise<AsyncIterable<Uint8Array>> {
  if (limit === undefined) {
    const file = { params: { run_id: id }, query: { format: asSaid(format) } };
    return api.open("get /jobs/runs/{run_id}/results", file);
  }
  const { rows } = await rowsOf({ limit }, (size) => api.runs.results(id, { limit: size }));
  return exporterNamed(format).export(
    (async function* () {
      yield* rows as ExportRecord[];
    })(),
  );
}
