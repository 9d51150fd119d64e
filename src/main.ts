/** The entry point: the only file that touches the process's environment, streams and signals. */
import { isAbsolute, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { OrbweaverClient } from "./api-client/client.ts";
import { systemClock } from "./base/clock.ts";
import { createLog } from "./base/log.ts";
import { ignoresHangUp } from "./base/machine.ts";
import { productVersion } from "./base/version.ts";
import { withoutForeignCommands } from "./base/visible-text.ts";
import { readFile, refuseUnwritable, writeAll } from "./cli/files.ts";
import type { Terminal } from "./cli/print/output.ts";
import { runCli } from "./cli/program.ts";
import { createPrompt } from "./cli/prompt.ts";
import { isAsciiOnly } from "./cli/print/signs.ts";
import type { CliClient, Wiring } from "./cli/wiring.ts";
import type { Client } from "./app/context.ts";
import type { WorkerHooks } from "./app/worker.ts";
import { loadConfig } from "./config/load.ts";
import type { Role } from "./domain/access/roles.ts";

const ownTerminal: Terminal = {
  out: (text) => void process.stdout.write(process.stdout.isTTY === true ? withoutForeignCommands(text) : text),
  err: (text) => void process.stderr.write(process.stderr.isTTY === true ? withoutForeignCommands(text) : text),
  live: process.stderr.isTTY === true && process.env["TERM"] !== "dumb",
  // Read each time: users resize their windows.
  get columns() {
    return process.stdout.isTTY === true ? process.stdout.columns : undefined;
  },
  colour: process.stderr.isTTY === true && process.env["NO_COLOR"] === undefined,
  ascii: isAsciiOnly(process.env),
};

// The reader of the output is gone (`| head`), or its disk is full: no reason to stop working.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

function forCli<T extends Client>(client: T): T & CliClient {
  return Object.defineProperties({} as T & CliClient, {
    ...Object.getOwnPropertyDescriptors(client),
    audit: {
      value: async (options: { deep: boolean }) => {
        const { auditAll } = await import("./orchestrator/audit.ts");
        return auditAll(client.store, client.artifacts, options);
      },
    },
  });
}

/** The environment of a command. */
export interface Surroundings {
  terminal: Terminal;
  env: Readonly<Record<string, string | undefined>>;
  cwd: () => string;
  /** Threads that several commands of one process share. */
  reader?: WorkerHooks["reader"];
}

export function wiringOf({ terminal, env, cwd, reader }: Surroundings): Wiring {
  const shared = reader === undefined ? {} : { reader };
  const load = () => loadConfig({ env, cwd: cwd() });
  return {
    terminal,
    program: programFrom(cwd()),
    loadConfig: load,
    createLog: (config) => createLog({ level: config.logLevel, pretty: terminal.live, write: terminal.err }),
    // The store is as large as everything that a command which only prints needs.
    openClient: async (config) => {
      const { openClient } = await import("./app/context.ts");
      return forCli(await openClient(config));
    },
    // The worker is loaded on demand: most commands only read or write a row.
    startWorker: async (config, log, hooks) => {
      const { startWorker } = await import("./app/worker.ts");
      return forCli(
        await startWorker(config, log, {
          ...shared,
          command: command(),
          standBy: hooks.standBy === true,
          onRole: hooks.onRole,
          onTask: (lane, what, settled) =>
            hooks.onTask(lane, what, settled === undefined ? undefined : (settled.attempt?.failure_reason ?? "ok")),
        }),
      );
    },
    startServer: async (config, log, options) => {
      const { startServer } = await import("./app/server.ts");
      return startServer(config, log, { ...options, version: productVersion() });
    },
    findBrowserPath: async (config) => (await import("./app/browser-path.ts")).findBrowserPath(config),
    startDemo: async (config, log, options) =>
      (await import("./app/one-off/demo-run.ts")).startDemo(config, log, options),
    showPage: async (url, { always }) => {
      const [{ displayOf }, { showPage }] = await Promise.all([
        import("./app/one-off/login.ts"),
        import("./app/one-off/demo-run.ts"),
      ]);
      const isSeen = (always || process.stdout.isTTY === true) && displayOf(env, process.platform) !== null;
      return isSeen && showPage(url, env);
    },
    takeUp: async (config, log) => {
      const { takeUp } = await import("./app/supervise.ts");
      return takeUp(config, log, { entry: orbEntry, env, cwd: cwd() });
    },
    upState: async (config) => (await import("./app/supervise.ts")).upState(config),
    stopUp: async (config, log) => (await import("./supervisor/processes/stop-up.ts")).stopUp(config, log),
    openApi: async (config, log) => {
      const { openLocalApi } = await import("./app/local-api.ts");
      return openLocalApi(config, log, productVersion(), { ...shared, command: command() });
    },
    serveMcp: async (api, log, signal) => {
      const { serveOverStdio } = await import("./mcp/stdio.ts");
      await serveOverStdio(
        { api, role: await roleAt(api), clock: systemClock, log, version: productVersion(), stopping: signal },
        { input: process.stdin, output: process.stdout, signal },
      );
    },
    startScratch: async (config, log, options) => {
      const { startScratch } = await import("./app/one-off/scrape.ts");
      return forCli(await startScratch(config, log, { ...shared, ...options }));
    },
    capture: async (config, log, url, options) => {
      const { capturePage } = await import("./app/one-off/capture.ts");
      return capturePage(config, log, url, options);
    },
    captureHar: async (text) => (await import("./app/one-off/capture.ts")).captureHar(text),
    login: async (config, log, url, done) => {
      const { displayOf, recordLogin } = await import("./app/one-off/login.ts");
      const display = displayOf(env, process.platform);
      return display === null ? null : recordLogin(config, log, url, { display, done });
    },
    migrate: async (config) => (await import("./app/one-off/migrate.ts")).migrateDatabase(config),
    copyTo: async (config, url, onProgress) =>
      (await import("./app/one-off/migrate.ts")).copyDatabaseTo(config, url, onProgress),
    doctor: async (fix) => {
      if (fix !== null) await (await import("./app/doctor/fix.ts")).mend(load, fix);
      return (await import("./app/doctor/doctor.ts")).examine(load);
    },
    openFile: readFile,
    refuseUnwritable,
    write: writeAll,
    prompt: createPrompt(process.stdin, process.stderr),
    now: () => systemClock.now(),
    onSignals: (handler) => {
      process.on("SIGINT", handler);
      process.on("SIGTERM", handler);
      return () => {
        process.off("SIGINT", handler);
        process.off("SIGTERM", handler);
      };
    },
    onHangUp: (handler) => {
      if (ignoresHangUp()) return () => {};
      process.on("SIGHUP", handler);
      return () => process.off("SIGHUP", handler);
    },
    exit: (code) => process.exit(code),
  };
}

/** Of a server that refuses us or does not answer nothing is known: then all tools are offered, and each says what is wrong. */
const roleAt = (api: OrbweaverClient): Promise<Role> =>
  api.keys.me().then(
    ({ role }) => role,
    () => "admin",
  );

/** The command, for the registry of workers. */
const command = () => process.argv.slice(2).find((word) => !word.startsWith("-")) ?? "orb";

/** In a clone it is not on the PATH. */
function programFrom(cwd: string): string {
  const path = relative(cwd, orbEntry);
  return /^\.\.|node_modules/.test(path) || isAbsolute(path) ? "orb" : `./${path}`;
}

const orbEntry = fileURLToPath(new URL("../bin/orb", import.meta.url));

export function main(argv: string[]): Promise<number> {
  return runCli(
    argv,
    wiringOf({ terminal: ownTerminal, env: process.env, cwd: () => process.cwd() }),
    productVersion(),
  );
}
