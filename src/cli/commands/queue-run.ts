import { openItems, type QueueStats, queueStats } from "../../orchestrator/queue/stats.ts";
import type { CliContext } from "../context.ts";
import { EXIT, plural, printJson } from "../output.ts";
import { QueueProgress } from "../progress.ts";
import type { CliWorker } from "../wiring.ts";

const LOOK_MS = 100;

/** Runs until stopped, or with `--drain` until nothing is left, whichever process does the work. */
export async function runQueue(
  context: CliContext,
  options: { drain?: boolean; workers?: number; maxPerHost?: number },
): Promise<void> {
  const { wiring, terminal } = context;
  const loaded = wiring.loadConfig();
  const config = {
    ...loaded.config,
    ...(options.workers === undefined ? {} : { maxWorkers: options.workers }),
    ...(options.maxPerHost === undefined ? {} : { maxPerHost: options.maxPerHost }),
  };
  const log = wiring.createLog(config);
  for (const warning of loaded.warnings) log.warn(warning);
  const progress = new QueueProgress(terminal, wiring.now, { live: terminal.live && !context.json });
  const worker = await wiring.startWorker(config, progress.wrap(log), {
    onRole: (role) => {
      progress.role = role;
      if (role === "standby") log.info("another process works on this queue; standing by");
      if (role === "engine") log.info("working on the queue");
    },
    onTask: (lane, what, end) => progress.task(lane, what, end),
  });
  const end = await follow(context, worker, progress, options.drain === true);
  progress.done();
  summarise(context, end.stats, end.stopped, options.drain === true);
}

interface End {
  stats: QueueStats;
  stopped: "SIGINT" | "SIGTERM" | null;
}

async function follow(context: CliContext, worker: CliWorker, progress: QueueProgress, drain: boolean): Promise<End> {
  const { wiring } = context;
  let stopped: End["stopped"] = null;
  let wake: () => void = () => {};
  const release = wiring.onSignals((signal) => {
    if (stopped !== null) {
      // The second one means now. Every state change is a transaction, so leaving at once is safe; what was in
      // flight is taken back by the next start.
      worker.hurry();
      wiring.exit(EXIT.failed);
    }
    stopped = signal;
    progress.note("stopping: what is in flight is finished first; once more stops at once");
    wake();
  });
  try {
    for (;;) {
      const stats = await queueStats(worker);
      progress.show(stats, worker.inFlight, worker.paused);
      if (stopped !== null || (drain && openItems(stats) === 0)) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LOOK_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    await worker.stop();
  } finally {
    release();
  }
  // The worker is closed: what is left is read with a client of its own.
  const client = await wiring.openClient(wiring.loadConfig().config);
  try {
    return { stats: await queueStats(client), stopped };
  } finally {
    await client.close();
  }
}

function summarise(context: CliContext, stats: QueueStats, stopped: End["stopped"], drain: boolean): void {
  const { terminal } = context;
  const left = openItems(stats);
  // A stop that was asked for by SIGTERM is a success; an interrupted drain says that something is left.
  context.exitCode =
    stopped === "SIGTERM" || (!drain && stopped !== null)
      ? EXIT.done
      : left > 0 || stats.error > 0
        ? EXIT.partial
        : EXIT.done;
  if (context.json) return printJson(terminal, { ...stats, left, stopped: stopped !== null });
  terminal.out(
    `${plural(stats.done, "item")} done, ${stats.skipped} skipped, ${plural(stats.error, "error")}, ${left} left\n`,
  );
  if (left > 0) terminal.err("nothing is lost: run it again to go on\n");
  else if (stats.error > 0)
    terminal.err("orb queue list --status error shows what failed, orb queue retry-failed tries it again\n");
}
