/** For work that nobody else can stop: libraries that run what users wrote on what strangers serve. */
import { createContext, Script } from "node:vm";

export class LimitExceeded extends Error {
  constructor(what: string) {
    super(what);
    this.name = "LimitExceeded";
  }
}

const TIME_LIMIT_MS = 1000;
let work: () => void = () => {};
const sandbox = createContext({ run: () => work() });
const call = new Script("run()");

/**
 * For libraries whose steps cannot be counted. Costs 0.2 ms (a thread that watches), so only what can run long goes
 * through it. Only the call is in the script; nothing of a user's becomes code.
 */
export function withTimeLimit<T>(fn: () => T): T {
  let result: T | undefined;
  work = () => {
    result = fn();
  };
  try {
    call.runInContext(sandbox, { timeout: TIME_LIMIT_MS });
    return result as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") {
      throw new LimitExceeded(`took longer than ${TIME_LIMIT_MS} ms`);
    }
    throw error;
  } finally {
    work = () => {};
  }
}
