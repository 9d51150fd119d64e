import type { Command } from "commander";
import { OrbError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Config } from "../../config/options.ts";
import type { CliContext } from "../context.ts";
import { EXIT, paint, printJson, type Terminal } from "../print/output.ts";
import { Picture } from "../print/picture.ts";
import { upJson, upTable } from "../print/up-table.ts";
import type { CliUp, CliUpState } from "../wiring.ts";
import { onStopSignals, STOPPING } from "../stop.ts";

interface UpOptions {
  status?: true;
  stop?: true;
}

/** `orb up`: runs and supervises everything that the configuration needs. */
export function addUpCommand(program: Command, context: CliContext): void {
  program
    .command("up")
    .description("run the API, the workers and the managed services as processes, and keep them running")
    .option("--status", "show the state of all processes; exits 1 unless all are running")
    .option("--stop", "stop a running orb up, and wait until it has stopped")
    .action(async (options: UpOptions) => {
      const loaded = context.wiring.loadConfig();
      if (options.status === true) return status(context, loaded.config);
      if (options.stop === true) return stop(context, loaded.config);
      return up(context, loaded);
    });
}

async function status(context: CliContext, config: Config): Promise<void> {
  const state = await context.wiring.upState(config);
  const isWell =
    state !== null && state.supervisor !== null && state.children.every(({ state: childState }) => childState === "up");
  if (!isWell) context.exitCode = EXIT.failed;
  if (state === null || (state.supervisor === null && state.children.length === 0)) {
    if (context.json) return printJson(context.terminal, { running: false, pid: null, processes: [] });
    return context.terminal.out("not running; start it with orb up\n");
  }
  printState(context, state);
}

function printState(context: CliContext, state: CliUpState): void {
  const { terminal, wiring } = context;
  if (context.json) return printJson(terminal, upJson(state));
  terminal.out(
    state.supervisor === null
      ? "the orb up of these processes has ended; the next one takes over those that still run\n"
      : state.by === "program"
        ? `process ${state.supervisor.pid}, a program that uses the library, manages these\n`
        : `orb up runs as process ${state.supervisor.pid}\n`,
  );
  terminal.out(
    upTable({ ...terminal, colour: terminal.colour && terminal.columns !== undefined }, state, wiring.now()),
  );
}

async function stop(context: CliContext, config: Config): Promise<void> {
  const { terminal, wiring } = context;
  const what = await wiring.stopUp(config, wiring.createLog(config));
  if (context.json) return printJson(terminal, { stopped: what === "stopped" });
  terminal.out(what === "stopped" ? "stopped\n" : "not running\n");
}

async function up(context: CliContext, loaded: ReturnType<CliContext["wiring"]["loadConfig"]>): Promise<void> {
  const { wiring, terminal } = context;
  const { config } = loaded;
  let running: CliUp | null = null;
  const picture = new Picture(terminal, terminal.live && !context.json, (spinner) =>
    running === null ? `${spinner} starting` : picked(terminal, running.state, wiring.now()),
  );
  try {
    const log = picture.wrap(wiring.createLog(config));
    for (const warning of loaded.warnings) log.warn(warning);
    running = await wiring.takeUp(config, log);
    if (running === null) {
      picture.done();
      return await reportOther(context, config);
    }
    if (config.managedServices !== null && config.database.kind === "sqlite")
      log.info(`${config.managedServices.join(" and ")}: supervised, but data is still stored in SQLite`);
    using stopping = stopOnSignals(context, running, (text) => (terminal.live ? picture.note(text) : log.info(text)));
    const begun = running.start();
    await Promise.race([begun, stopping.asked]);
    if (!stopping.wasAsked) {
      if (context.json) printJson(terminal, upJson(running.state));
      logStarted(running.state, log);
    }
    await stopping.asked;
    const looping = running.state.children.filter(({ state }) => state === "crash_loop").map(({ name }) => name);
    await running.stop();
    await begun;
    if (looping.length > 0) {
      context.exitCode = EXIT.failed;
      log.error(`${looping.join(" and ")} could not be kept running; see the logs in the data directory`);
    }
    log.info("stopped");
  } finally {
    picture.done();
  }
}

/** Failed starts are retried forever: tell the user why they fail. */
function logStarted({ children, url }: CliUpState, log: Log): void {
  const missing = children.filter(({ state }) => state !== "up");
  if (missing.length === 0) return log.info("all processes started", { url });
  const started = children.filter(({ state }) => state === "up").map(({ name }) => name);
  for (const { name, note, health } of missing)
    log.warn(`${name} could not be started and is retried: ${note ?? health ?? "no reason given"}`);
  log.warn(started.length === 0 ? "no process started" : `started only ${started.join(", ")}`, { url });
}

/** The table, and below it the most important lines that would not fit. */
function picked(terminal: Terminal, state: CliUpState, now: number): string {
  const table = upTable(terminal, state, now).trimEnd();
  return state.url === null ? table : `${table}\n${paint(terminal, "gray", "listens on")} ${state.url}`;
}

/** Another supervisor runs already: success, unless it is a program that has the services for itself. */
async function reportOther(context: CliContext, config: Config): Promise<void> {
  const state = await context.wiring.upState(config);
  if (state === null || state.supervisor === null) {
    if (context.json) return printJson(context.terminal, { running: true, pid: null, processes: [] });
    return context.terminal.out("another orb up is starting or stopping on this data directory\n");
  }
  if (state.by === "program")
    throw new OrbError(
      "service_unavailable",
      `process ${state.supervisor.pid}, a program that uses the library, already manages the services of this data directory`,
      {
        hint: "You can run orb serve and orb worker beside it. To use orb up, stop that program first, or set another APP_DATA_DIR.",
      },
    );
  printState(context, state);
}

/** The first signal stops in order, the second at once; a closed terminal counts as the first. */
function stopOnSignals(context: CliContext, running: CliUp, say: (text: string) => void) {
  const { wiring } = context;
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  let count = 0;
  const ask = () => {
    count += 1;
    if (count === 1) say(STOPPING);
    else {
      context.exitCode = EXIT.failed;
      running.hurry();
    }
    resolve();
  };
  const release = onStopSignals(wiring, ask);
  return {
    asked,
    get wasAsked() {
      return count > 0;
    },
    [Symbol.dispose]: release,
  };
}
