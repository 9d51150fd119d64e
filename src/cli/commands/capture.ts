import { type Command, Option } from "commander";
import { OrbError } from "../../base/errors.ts";
import { apiCommand, asUnchecked, definedOnly, type UrlOption } from "../api/command.ts";
import type { CapturedCall, CapturedPage } from "../scrape/capture-view.ts";
import { commandLog } from "../command-log.ts";
import type { CliContext } from "../context.ts";
import { readText } from "../files.ts";
import { EXIT, oneLine, paint, plural, printJson, table } from "../print/output.ts";
import { stopRequest } from "../stop.ts";
import { positiveInteger, positiveNumber } from "../values.ts";
import { rethrow } from "./login.ts";

interface CaptureCommandOptions extends UrlOption {
  out?: string;
  save?: boolean;
  name?: string;
  har?: string;
  choose?: number;
  session?: string;
  timeout?: number;
  waitFor?: string;
}

const LARGEST_HAR = 256 * 1024 * 1024;
const MOST_SHOWN = 20;

/** `orb capture`: finds the API behind a page. */
export function addCaptureCommand(program: Command, context: CliContext): void {
  apiCommand(
    program,
    "capture",
    "find the API calls that load a page's content, and create a job that repeats one of these calls",
  )
    .argument("[page]", "the page, opened in a browser; not needed with --har")
    .option("--har <file>", "read a HAR file instead of opening the page")
    .option("--choose <number>", "use this call of the list, without a prompt", positiveInteger)
    .option("--out <file>", "write the job to this file")
    .addOption(new Option("--save", "save the job").conflicts("out"))
    .option("--name <name>", "name of the job")
    .option("--session <name>", "open the page with this session (name or id)")
    .option("--wait-for <css>", "wait until this selector matches")
    .option("--timeout <seconds>", "time limit for the page", positiveNumber, 30)
    .action((page: string | undefined, options: CaptureCommandOptions) => capture(context, page, options));
}

async function capture(context: CliContext, page: string | undefined, options: CaptureCommandOptions): Promise<void> {
  const { terminal, wiring } = context;
  if (options.out !== undefined) await wiring.refuseUnwritable(options.out);
  const captured = await look(context, page, options);
  // Programs read the list, then pass --choose.
  if (context.json && options.choose === undefined) return printJson(terminal, captured);
  if (captured.calls.length === 0) {
    context.exitCode = EXIT.failed;
    return terminal.err("the page made no call with a JSON response: its content is in the HTML, use orb scrape\n");
  }
  if (!context.json) describe(context, captured);
  const call = await choose(context, captured, options);
  if (call === null) return undefined;
  const job = { ...(options.name === undefined ? {} : { name: options.name }), ...call.job };
  return deliver(context, job, call, options);
}

async function look(
  context: CliContext,
  page: string | undefined,
  options: CaptureCommandOptions,
): Promise<CapturedPage> {
  const { wiring, terminal } = context;
  if (options.har !== undefined) {
    if (page !== undefined) throw new OrbError("usage", "a page cannot be combined with --har");
    return wiring.captureHar(await readText((path) => wiring.openFile(path), options.har, "--har", LARGEST_HAR));
  }
  if (page === undefined) throw new OrbError("usage", "the page is missing: orb capture URL, or --har FILE");
  const { config } = wiring.loadConfig();
  const log = commandLog(terminal, config.logLevel);
  using stop = stopRequest(wiring, terminal, null, "stopping");
  if (!context.json) terminal.err(`opening ${oneLine(page)} …\n`);
  const limits = { timeoutMs: (options.timeout ?? 30) * 1000, signal: stop.signal };
  const more = definedOnly({ waitFor: options.waitFor, sessionId: options.session });
  return wiring.capture(config, log, page, { ...limits, ...more }).catch(rethrow);
}

function describe({ terminal }: CliContext, { calls, settled, dropped, title }: CapturedPage): void {
  if (title !== null && title !== "") terminal.err(`${oneLine(title)}\n`);
  if (!settled) terminal.err("the page was still loading at the time limit; increase --timeout\n");
  if (dropped > 0) terminal.err(`${plural(dropped, "response")} skipped: too many or too large\n`);
  const percent = (share: number | null) => (share === null ? "–" : `${Math.round(share * 100)} %`);
  const lines = calls
    .slice(0, MOST_SHOWN)
    .map((call, index) => [
      index + 1,
      percent(call.coverage).padStart(5),
      call.items === null ? "–" : `${call.items.count} × ${call.items.path}`,
      `${call.pagination ?? "–"}${call.pages > 1 ? ` (${call.pages} seen)` : ""}`,
      `${call.method} ${call.url}`,
    ]);
  const columns = terminal.live ? (process.stderr.columns ?? 80) : undefined;
  terminal.err(table(["#", "shown", "items", "pages", "call"], lines, columns));
  if (calls.length > MOST_SHOWN) terminal.err(`and ${calls.length - MOST_SHOWN} more; --json lists all\n`);
}

/** Null: the user chose none. */
async function choose(
  { wiring }: CliContext,
  { calls }: CapturedPage,
  options: CaptureCommandOptions,
): Promise<CapturedCall | null> {
  const pick = (number: number) => {
    const call = calls[number - 1];
    if (call !== undefined) return call;
    const message = `there is no call ${number}: expected 1 to ${calls.length}`;
    throw new OrbError("input_invalid", `--choose: ${message}`, { fields: [{ path: "choose", message }] });
  };
  if (options.choose !== undefined) return pick(options.choose);
  if (!wiring.prompt.available)
    throw new OrbError("usage", `choose a call with --choose 1 … ${calls.length}`, {
      hint: "orb cannot ask, because standard input is not a terminal. The calls above are sorted: the one with most of the page's content is first.",
    });
  for (;;) {
    const answer = await wiring.prompt.line(`Which call? [1–${calls.length}, Enter: 1, q: quit] `);
    if (answer === null || /^q/i.test(answer.trim())) return null;
    if (answer.trim() === "") return pick(1);
    const number = Number(answer);
    if (Number.isInteger(number) && calls[number - 1] !== undefined) return pick(number);
  }
}

async function deliver(
  context: CliContext,
  job: Record<string, unknown>,
  call: CapturedCall,
  options: CaptureCommandOptions,
): Promise<void> {
  const { terminal, wiring } = context;
  if (call.left_out.length > 0 && !context.json) {
    const names = call.left_out.map(({ in: where, name }) => `${name} (${where})`).join(", ");
    terminal.err(
      `${paint(terminal, "yellow", "left out:")} ${oneLine(names)}: they look like secrets; if the API needs them, add headers, cookies or a session to the job\n`,
    );
  }
  const text = `${JSON.stringify(job, null, 2)}\n`;
  if (options.save === true) {
    return context.withApi(definedOnly({ url: options.url }), async (api) => {
      const saved = await api.jobs.create(asUnchecked(job));
      if (context.json) return printJson(terminal, saved);
      terminal.out(`${saved.id}\n`);
      return terminal.err(`orb jobs run ${saved.id} --wait runs it\n`);
    });
  }
  if (options.out === undefined) return terminal.out(text);
  await wiring.write(
    options.out,
    (async function* () {
      yield Buffer.from(text);
    })(),
  );
  terminal.err(`written to ${options.out}; orb jobs create ${options.out} saves it\n`);
  if (context.json) printJson(terminal, job);
  return undefined;
}
