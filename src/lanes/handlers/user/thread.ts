/**
 * Runs in a thread of the handler's process: loads the user's module and executes one item at a time. Whatever the
 * module does (loops, allocates, exits) harms this process only.
 */
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import type { Handler, HandlerContext } from "./define.ts";
import {
  DEFAULT_TIMEOUT_SECONDS,
  type FromThread,
  type HandlerCalls,
  type HandlerItem,
  type Refusal,
  type ToThread,
} from "./protocol.ts";

interface Loaded {
  run: Handler;
  timeoutSeconds: number;
}

class Refused extends Error {
  readonly reason: Refusal["reason"];
  readonly httpStatus: Refusal["httpStatus"];
  readonly retryAfterMs: Refusal["retryAfterMs"];

  constructor({ message, reason, httpStatus, retryAfterMs }: Refusal) {
    super(message);
    this.reason = reason;
    this.httpStatus = httpStatus;
    this.retryAfterMs = retryAfterMs;
  }
}

const port = parentPort;
if (port === null) throw new Error("this file runs in a worker thread only");
const tell = (message: FromThread) => port.postMessage(message);
const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
let calls = 0;
let abort = new AbortController();

/** A handler that fills the log is cut short; its item goes on. */
const MOST_LOG_LINES = 200;
/** A handler that does not wait for its answers would otherwise fill the memory of the engine. */
const MOST_CALLS_AT_ONCE = 32;

function call<Name extends keyof HandlerCalls>(
  name: Name,
  ...args: Parameters<HandlerCalls[Name]>
): Promise<ReturnType<HandlerCalls[Name]>> {
  return new Promise((resolve, reject) => {
    if (waiting.size >= MOST_CALLS_AT_ONCE) {
      reject(new Error(`a handler may wait for at most ${MOST_CALLS_AT_ONCE} answers at the same time`));
      return;
    }
    const number = (calls += 1);
    waiting.set(number, { resolve: resolve as (value: unknown) => void, reject });
    tell({ kind: "call", call: number, name, args });
  });
}

function readHandlers(module: Record<string, unknown>): Map<string, Loaded> {
  const given = module["handlers"];
  if (typeof given !== "object" || given === null) {
    throw new Error('it must export "handlers", an object of functions by name');
  }
  const loaded = new Map<string, Loaded>();
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "function") {
      loaded.set(name, { run: value as Handler, timeoutSeconds: DEFAULT_TIMEOUT_SECONDS });
      continue;
    }
    const { run, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = (value ?? {}) as Partial<Loaded>;
    if (typeof run !== "function")
      throw new Error(`handlers.${name} is neither a function nor an object with a function "run"`);
    if (typeof timeoutSeconds !== "number" || !(timeoutSeconds > 0))
      throw new Error(`handlers.${name}.timeoutSeconds must be a number above 0`);
    loaded.set(name, { run, timeoutSeconds });
  }
  return loaded;
}

async function execute(loaded: Loaded, item: HandlerItem): Promise<void> {
  abort = new AbortController();
  let lines = 0;
  const log = (level: "debug" | "info" | "warn" | "error") => (message: unknown) => {
    if ((lines += 1) <= MOST_LOG_LINES) tell({ kind: "log", level, message: String(message) });
  };
  const context: HandlerContext = {
    signal: abort.signal,
    log: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    fetch: (url, options = {}) => call("fetch", url, options),
    download: (url = item.url, options = {}) => call("download", url, options),
    save: (bytes, options = {}) => call("save", bytes, options),
  };
  try {
    const value = (await loaded.run(item, context)) as { skip?: unknown } | undefined | null;
    if (typeof value === "object" && value !== null && typeof value.skip === "string")
      tell({ kind: "skip", why: value.skip.slice(0, MOST_WORDS) });
    else tell({ kind: "done", results: value === undefined || value === null ? [] : [toPlain(value)] });
  } catch (error) {
    const refused = error instanceof Refused ? error : null;
    tell({
      kind: "threw",
      message: (error instanceof Error ? error.message : String(error)).slice(0, MOST_WORDS),
      reason: refused?.reason ?? null,
      httpStatus: refused?.httpStatus ?? null,
      retryAfterMs: refused?.retryAfterMs ?? null,
      final: (error as { retry?: unknown } | null)?.retry === false,
    });
  }
}

/** What a handler says travels through the engine and into the database: files belong into `save`. */
const MOST_WORDS = 2000;
const MOST_RESULT = 1024 * 1024;

/** Results are records: what JSON cannot carry is not kept, and a cycle is the handler's own error. */
function toPlain(value: unknown): unknown {
  let text: string;
  try {
    text = JSON.stringify(value) ?? "null";
    if (text.length > MOST_RESULT) throw new Error(`it has ${text.length} characters, at most ${MOST_RESULT} are kept`);
    return JSON.parse(text);
  } catch (error) {
    throw new Refused({
      message: `the result cannot be stored as JSON: ${(error as Error).message}`,
      reason: "handler_bad_result",
      httpStatus: null,
      retryAfterMs: null,
    });
  }
}

try {
  const handlers = readHandlers(
    (await import(pathToFileURL(workerData.module as string).href)) as Record<string, unknown>,
  );
  port.on("message", (message: ToThread) => {
    if (message.kind === "abort") return abort.abort();
    if (message.kind === "run") return void execute(handlers.get(message.handler) as Loaded, message.item);
    const waiter = waiting.get(message.call);
    waiting.delete(message.call);
    if (message.kind === "answer") waiter?.resolve(message.value);
    else waiter?.reject(new Refused(message));
  });
  tell({ kind: "ready", handlers: [...handlers].map(([name, { timeoutSeconds }]) => ({ name, timeoutSeconds })) });
} catch (error) {
  tell({ kind: "broken", message: error instanceof Error ? error.message : String(error) });
}
