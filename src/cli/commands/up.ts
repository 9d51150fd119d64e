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
    .description("run the API, the workers and the managed services, each as a process, and keep them running")
    .option("--status", "say what runs, and start nothing; exits 1 unless all of it is up")
    .option("--stop", "stop what another orb up runs, and wait until it has")
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
    return context.terminal.out("nothing runs: orb up starts it\n");
  }
  printState(context, state);
}

function printState(context: CliContext, state: CliUpState): void {
  const { terminal, wiring } = context;
  if (context.json) return printJson(terminal, upJson(state));
  terminal.out(
    state.supervisor === null
      ? "the orb up that looked after these is gone; the next one takes over what is left\n"
      : state.by === "program"
        ? `a program of its own, process ${state.supervisor.pid}, looks after these\n`
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
  terminal.out(what === "stopped" ? "stopped\n" : "nothing runs\n");
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
      log.info(`${config.managedServices.join(" and ")}: run and watched; the data is kept in SQLite all the same`);
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
      log.error(`${looping.join(" and ")} could not be kept running; the logs in the data directory say why`);
    }
    log.info("stopped");
  } finally {
    picture.done();
  }
}

/** Failed starts are retried forever: tell the user why they fail. */
function logStarted({ children, url }: CliUpState, log: Log): void {
  const missing = children.filter(({ state }) => state !== "up");
  if (missing.length === 0) return log.info("all are started", { url });
  const started = children.filter(({ state }) => state === "up").map(({ name }) => name);
  for (const { name, note, health } of missing)
    log.warn(`${name} could not be started, and is tried again: ${note ?? health ?? "it has not said why"}`);
  log.warn(started.length === 0 ? "none is started" : `started are ${started.join(", ")} alone`, { url });
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
      `a program of its own, process ${state.supervisor.pid}, looks after the services of this data directory`,
      {
        hint: "orb serve and orb worker run beside it; orb up does when it has ended, or with another APP_DATA_DIR.",
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
