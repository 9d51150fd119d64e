/** For work that cannot be interrupted otherwise: libraries that run users' expressions on foreign content. */
import { createContext, Script } from "node:vm";

export class LimitExceeded extends Error {
  constructor(what: string) {
    super(what);
    this.name = "LimitExceeded";
  }
}

const TIME_LIMIT_MS = 1000;
/** On a busy machine another second may be one in which this thread did not run: it gets more of them, so often. */
const MOST_TRIES = 4;
const LONGER = 4;
/** What really runs on has had this share of its time on the processor; a shared machine counts some of its neighbours' time in. */
const NEARLY_ALL = 0.8;
let work: () => void = () => {};
const sandbox = createContext({ run: () => work() });
const call = new Script("run()");

/**
 * For libraries whose steps cannot be counted. Costs 0.2 ms (a thread that watches), so only what can run long goes
 * through it. Only the call is in the script; nothing of a user's becomes code. What is stopped although it has hardly had
 * the processor is begun again: `fn` must allow that.
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
