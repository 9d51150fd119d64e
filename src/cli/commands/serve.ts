import { type Command, InvalidArgumentError } from "commander";
import type { Log } from "../../base/log.ts";
import { type Config, OPTIONS } from "../../config/options.ts";
import type { Option } from "../../config/option.ts";
import { BadValue } from "../../config/types.ts";
import type { CliContext } from "../context.ts";
import { paint, printJson, wrapped } from "../print/output.ts";
import { storageOf } from "../storage.ts";
import { stopRequest } from "../stop.ts";
import type { CliServer, Wiring } from "../wiring.ts";

interface ServeOptions {
  host?: string;
  port?: number;
  worker: boolean;
}

/** `orb serve`: the API, and the worker unless another process is one. */
export function addServeCommand(program: Command, context: CliContext): void {
  program
    .command("serve")
    .description("run the HTTP API, the dashboard and a worker in one process")
    .option("--host <address>", "address to listen on (default: APP_HOST)", asOption(OPTIONS.host))
    .option("--port <number>", "port to listen on, 0: any free port (default: APP_PORT)", asOption(OPTIONS.port))
    .option("--no-worker", "run the API and dashboard only, without a worker")
    .action((options: ServeOptions) => serve(context, options));
}

/** An option is validated like the variable that it overrides. */
function asOption<T>(option: Option<T>): (text: string) => NonNullable<T> {
  return (text) => {
    try {
      return option.type.parse(text, "");
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      throw new InvalidArgumentError(`expected ${option.type.expected}.`);
    }
  };
}

async function serve(context: CliContext, options: ServeOptions): Promise<void> {
  const { wiring, terminal } = context;
  const loaded = wiring.loadConfig();
  const config: Config = {
    ...loaded.config,
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.port === undefined ? {} : { port: options.port }),
  };
  const log = wiring.createLog(config);
  for (const warning of loaded.warnings) log.warn(warning);
  // Registered first: a stop during startup must work as well.
  using stop = stopRequest(wiring, terminal, log);
  let announced = false;
  const server = await wiring.startServer(config, log, {
    worker: options.worker,
    sources: {
      ...loaded.sources,
      ...(options.host === undefined ? {} : { host: "command line" }),
      ...(options.port === undefined ? {} : { port: "command line" }),
    },
    onRole: (role) => {
      if (!announced && terminal.live) return;
      if (role === "standby") log.info("another process works on this queue; standing by");
      if (role === "drained") log.info("drained: accepts no tasks until orb workers resume");
      if (role === "engine") log.info("working on the queue");
    },
  });
  try {
    if (context.json) printJson(terminal, { url: server.url, role: server.role, ...storageOf(config) });
    await announce(wiring, log, config, server);
    announced = true;
    await stop.asked;
  } finally {
    await server.stop();
  }
  log.info("stopped");
}

/** Prints the URL, the role, the storage, and what to try next. */
async function announce(wiring: Wiring, log: Log, config: Config, { url, role }: CliServer): Promise<void> {
  const { terminal } = wiring;
  const storage = storageOf(config);
  const tokenNeeded = config.apiToken !== null;
  if (!terminal.live) {
    log.info(`listening on ${url}`, { url, role: role ?? "no worker", token_needed: tokenNeeded, ...storage });
    return;
  }
  const work = {
    engine: "this process works on the queue",
    standby: "another process works on the queue; this one stands by to take over",
    drained: "drained: accepts no tasks until orb workers resume",
    stopped: "the worker has stopped",
    none: "no worker in this process (--no-worker); start orb worker",
  }[role ?? "none"];
  const header = tokenNeeded ? ' -H "Authorization: Bearer $APP_API_TOKEN"' : "";
  const browser = await wiring.findBrowserPath(config);
  const orb = wiring.program;
  const database = config.database.kind === "sqlite" ? `SQLite, ${storage.database}` : "Postgres";
  const lines: [string, string][] = [
    ["work", `${work}${role === "engine" ? `, up to ${config.maxWorkers} tasks at once` : ""}`],
    ["database", `${database}; files in ${storage.files}`],
    ["browser", browser ?? `none, needed only for some pages; install one with ${orb} doctor --fix`],
    ["token", tokenNeeded ? "required: APP_API_TOKEN" : "not required: only this machine can connect"],
    ["reference", `${url}/docs`],
    ["try", `${orb} demo`],
    ["", `${orb} crawl https://example.com --max-pages 20 --url ${url}`],
    ["", `curl -s${header} ${url}/jobs`],
    ["stop", "Ctrl-C"],
  ];
  terminal.err(`Orbweaver listens on ${paint(terminal, "cyan", url)}\n`);
  for (const [name, text] of lines)
    terminal.err(`  ${paint(terminal, "gray", name.padEnd(10))} ${wrapped(text, terminal.columns, 13)}\n`);
}
