import { isOrbError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Config } from "../../config/options.ts";
import { restAfter } from "../../orchestrator/queue/drained.ts";
import { openItems, queueOverview, type QueueStats, queueStats } from "../../orchestrator/queue/stats.ts";
import type { Waiting } from "../../domain/run/waiting.ts";
import { waitingSites } from "../../orchestrator/sites/sites.ts";
import type { CliContext } from "../context.ts";
import { EXIT, plural, printJson } from "../print/output.ts";
import { waitingWords } from "../print/waiting-words.ts";
import { MOST_LANES_SHOWN, QueueProgress } from "../print/progress.ts";
import { onStopSignals, STOPPING, type StopSignal } from "../stop.ts";
import type { CliWorker, Wiring } from "../wiring.ts";

/** Runs until stopped, or with `--drain` until the queue is empty, whichever process works on it. */
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
  // Registered first: a stop during startup must work as well.
  const stop = new StopRequest(wiring, progress);
  let seen: QueueStats | null;
  try {
    const worker = await wiring.startWorker(config, progress.wrap(log), {
      standBy: true,
      onRole: (role) => {
        progress.role = role;
        if (role === "standby") log.info("another process works on this queue; standing by");
        if (role === "drained") log.info("drained: accepts no tasks until orb workers resume");
        if (role === "engine") log.info("working on the queue");
      },
      onTask: (lane, what, end) => progress.task(lane, what, end),
    });
    seen = await follow(worker, { progress, log: progress.wrap(log), stop, drain: options.drain === true });
  } finally {
    stop[Symbol.dispose]();
  }
  progress.done();
  const stats = (await remainingWork(wiring, config).catch(nullIfTemporary)) ?? seen;
  if (stats !== null) summarise(context, stats, stop.signal, options.drain === true);
}

/** The worker is closed by then, so this opens its own client. */
async function remainingWork(wiring: Wiring, config: Config): Promise<QueueStats> {
  const client = await wiring.openClient(config);
  try {
    return await queueStats(client);
  } finally {
    await client.close();
  }
}

/** The store is temporarily unusable (a full disk): workers wait for it, and so do readers. */
function nullIfTemporary(error: unknown): null {
  if (isOrbError(error) && (error.reaction === "wait" || error.reaction === "retry")) return null;
  throw error;
}

/** The first signal finishes what is in flight, the second exits at once. */
class StopRequest implements Disposable {
  signal: StopSignal | null = null;
  #wake: () => void = () => {};
  readonly #release: () => void;

  constructor(wiring: Wiring, progress: QueueProgress) {
    this.#release = onStopSignals(wiring, (signal) => {
      // Every state change is a transaction, so exiting at once is safe; the next start requeues what was in flight.
      if (this.signal !== null) wiring.exit(EXIT.failed);
      this.signal = signal;
      progress.note(STOPPING);
      this.#wake();
    });
  }

  /** Waits, at most until a stop is requested. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.signal !== null) return resolve();
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  [Symbol.dispose](): void {
    this.#release();
  }
}

/** Shows progress until the end, and always closes the worker. */
async function follow(
  worker: CliWorker,
  { progress, log, stop, drain }: { progress: QueueProgress; log: Log; stop: StopRequest; drain: boolean },
): Promise<QueueStats | null> {
  let seen: QueueStats | null = null;
  try {
    while (stop.signal === null) {
      const begun = performance.now();
      const stats = await queueOverview(worker, MOST_LANES_SHOWN).catch(nullIfTemporary);
      if (stats !== null) {
        seen = stats;
        const sites = stats.lanes.map((lane) => lane.lane);
        const waiting = (await waitingSites(worker, sites).catch(nullIfTemporary)) ?? new Map<string, Waiting>();
        progress.waiting(new Map([...waiting].map(([site, why]) => [site, waitingWords(why)])), log);
        progress.show(stats, worker.inFlight, worker.paused);
        if (drain && openItems(stats) === 0) break;
      }
      await stop.wait(restAfter(performance.now() - begun));
    }
  } finally {
    await worker.stop();
  }
  return seen;
}

function summarise(context: CliContext, stats: QueueStats, stopped: StopRequest["signal"], drain: boolean): void {
  const { terminal } = context;
  const left = openItems(stats);
  // A stop by SIGTERM is a success; an interrupted drain reports remaining work.
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
  if (left > 0) terminal.err("nothing is lost: run it again to continue\n");
  else if (stats.error > 0)
    terminal.err("orb queue list --status error shows failed items, orb queue retry-failed retries them\n");
}
