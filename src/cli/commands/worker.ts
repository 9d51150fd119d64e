import type { Command } from "commander";
import type { CliContext } from "../context.ts";
import { printJson } from "../print/output.ts";
import { storageOf } from "../storage.ts";
import { stopRequest } from "../stop.ts";
import { positiveInteger } from "../values.ts";

/** `orb worker`: a worker without the API. */
export function addWorkerCommand(program: Command, context: CliContext): void {
  program
    .command("worker")
    .description(
      "execute runs and queue items, without the API; with SQLite one worker is active and the others stand by",
    )
    .option("--workers <number>", "maximum concurrent tasks (default: APP_MAX_WORKERS)", positiveInteger)
    .option("--max-per-host <number>", "maximum concurrent tasks per site (default: APP_MAX_PER_HOST)", positiveInteger)
    .action((options: { workers?: number; maxPerHost?: number }) => work(context, options));
}

async function work(context: CliContext, options: { workers?: number; maxPerHost?: number }): Promise<void> {
  const { wiring, terminal } = context;
  const loaded = wiring.loadConfig();
  const config = {
    ...loaded.config,
    ...(options.workers === undefined ? {} : { maxWorkers: options.workers }),
    ...(options.maxPerHost === undefined ? {} : { maxPerHost: options.maxPerHost }),
  };
  const log = wiring.createLog(config);
  for (const warning of loaded.warnings) log.warn(warning);
  using stop = stopRequest(wiring, terminal, log);
  const worker = await wiring.startWorker(config, log, {
    onRole: (role) => {
      if (role === "standby") log.info("another process works on this database; standing by");
      if (role === "drained") log.info("drained: accepts no tasks until orb workers resume");
      if (role === "engine")
        log.info("working on runs and the queue", { pid: process.pid, slots: config.maxWorkers, ...storageOf(config) });
    },
    onTask: (name, what, end) => {
      if (what === "ended") log.debug("a task ended", { site: name, end });
    },
  });
  try {
    if (context.json) printJson(terminal, { role: worker.role });
    await stop.asked;
  } finally {
    await worker.stop();
  }
  log.info("stopped");
}
