/**
 * Ends orchestrators with their program: gracefully on Ctrl-C, SIGTERM or SIGHUP, at once on exit. Part of the
 * composition root.
 */
import { constants } from "node:os";
import { systemClock } from "../../base/clock.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
type Signal = (typeof SIGNALS)[number];

/** One Ctrl-C may arrive twice, as under `npm start`: only one that comes this much later hurries. */
const TWICE_MS = 1000;

export interface Ending {
  /** Stops gracefully, however many use it. */
  stop(): Promise<void>;
  /** No time to wait: signals child processes to end. */
  endNow(): void;
  /** Whether it stops on signals. */
  handlesSignals: boolean;
}

const endings = new Set<Ending>();
let stoppingSince: number | null = null;

/** Ends it with the program, until the returned function is called. */
export function endWithProgram(ending: Ending): () => void {
  endings.add(ending);
  if (endings.size === 1) process.on("exit", endAll);
  if (ending.handlesSignals) for (const name of SIGNALS) if (!isOurs(name)) process.on(name, onSignal);
  return () => {
    endings.delete(ending);
    if (![...endings].some(({ handlesSignals }) => handlesSignals)) letGo();
    if (endings.size === 0) process.off("exit", endAll);
  };
}

function isOurs(name: Signal): boolean {
  return process.listeners(name).includes(onSignal);
}

function letGo(): void {
  for (const name of SIGNALS) process.off(name, onSignal);
}

function endAll(): void {
  for (const ending of endings) ending.endNow();
}

/** A program with its own handlers decides itself; its handler should call `stop`. */
function onSignal(name: NodeJS.Signals): void {
  if (process.listeners(name).some((listener) => listener !== onSignal)) return;
  const now = systemClock.monotonic();
  if (stoppingSince === null) {
    stoppingSince = now;
    void stopAll(name);
  } else if (now - stoppingSince >= TWICE_MS) process.exit(128 + constants.signals[name]);
}

async function stopAll(name: NodeJS.Signals): Promise<void> {
  const handled = [...endings].filter(({ handlesSignals }) => handlesSignals);
  await Promise.allSettled(handled.map((ending) => ending.stop()));
  stoppingSince = null;
  letGo();
  // Exit as without us: the parent process sees which signal it was.
  process.kill(process.pid, name);
}
