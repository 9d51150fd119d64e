/** How a program ends that has orchestrators: on Ctrl-C, SIGTERM or a hang-up they stop in good order, at an exit at once. Part of the composition root. */
import { constants } from "node:os";
import { systemClock } from "../../base/clock.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
type Signal = (typeof SIGNALS)[number];

/** One Ctrl-C may arrive twice, as under `npm start`: only another one so much later hurries. */
const TWICE_MS = 1000;

export interface Ending {
  /** Stops in good order, however many use it. */
  stop(): Promise<void>;
  /** No time to wait: child processes are asked to end. */
  endNow(): void;
  /** Whether signals are left to the program. */
  handlesSignals: boolean;
}

const endings = new Set<Ending>();
let stoppingSince: number | null = null;

/** Until the returned function is called, the end of the program is the end of this, too. */
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

/** A program that has handlers of its own decides by itself; its handler is to call `stop`. */
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
  // End as without us: the parent process sees which signal it was.
  process.kill(process.pid, name);
}
