/** For work that cannot be interrupted otherwise: libraries that run users' expressions on foreign content. */
import { createContext, Script } from "node:vm";

export class LimitExceeded extends Error {
  constructor(what: string) {
    super(what);
    this.name = "LimitExceeded";
  }
}

const TIME_LIMIT_MS = 1000;
/** On a busy machine this thread may not have run in that second: retry this often with more time. */
const MOST_TRIES = 4;
const LONGER = 4;
/**
 * Real runaway work used this share of its time on the CPU; a shared machine counts some of its neighbours' time in.
 */
const NEARLY_ALL = 0.8;
let work: () => void = () => {};
const sandbox = createContext({ run: () => work() });
const call = new Script("run()");

/**
 * For libraries whose steps cannot be counted. Costs 0.2 ms (a watchdog thread), so only potentially long work goes
 * through it. The script contains only the call; no user input becomes code. Work that was stopped although it hardly
 * had the CPU is restarted: `fn` must allow that.
 */
export function withTimeLimit<T>(fn: () => T): T {
  let limitMs = TIME_LIMIT_MS;
  for (let tries = 1; ; tries += 1) {
    const before = usedMs();
    const done = within(limitMs, fn);
    if (done !== null) return done.result;
    if (usedMs() - before >= TIME_LIMIT_MS * NEARLY_ALL || tries === MOST_TRIES)
      throw new LimitExceeded(`took longer than ${TIME_LIMIT_MS} ms`);
    limitMs *= LONGER;
  }
}

function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Null: it was stopped. */
function within<T>(limitMs: number, fn: () => T): { result: T } | null {
  let result: T | undefined;
  work = () => {
    result = fn();
  };
  try {
    call.runInContext(sandbox, { timeout: limitMs });
    return { result: result as T };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return null;
    throw error;
  } finally {
    work = () => {};
  }
}
