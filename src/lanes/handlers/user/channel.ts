/** The user code's side of the channel to the engine: requests, messages and the end of one execution. */
import type { MessagePort } from "node:worker_threads";
import { leavesSomethingRunning } from "./left-running.ts";
import type { Refusal, ExecutionMessage, ToThread } from "./protocol.ts";

/** Further log lines of an item are dropped; the item continues. */
const MAX_LOG_LINES = 200;
/** A handler that does not await its calls would fill the engine's memory. */
const MAX_CONCURRENT_CALLS = 32;
/** In characters: messages go through the engine into the database; files belong into `save`. */
const MAX_MESSAGE_LENGTH = 2000;
const MAX_JSON_LENGTH = 1024 * 1024;

/** An error that keeps its reason while it passes through user code. */
export class Refused extends Error {
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

type LogLines = Record<"debug" | "info" | "warn" | "error", (message: unknown) => void>;

export class Channel {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  readonly execution: number;
  #calls = 0;
  #over = false;

  constructor(port: MessagePort, execution: number) {
    this.#port = port;
    this.execution = execution;
  }

  send(message: ExecutionMessage): void {
    if (!this.#over) this.#port.postMessage({ ...message, execution: this.execution });
  }

  call(name: string, args: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      // An abandoned call gets no answer: an uncaught error would end the next execution of the process.
      if (this.#over) return;
      if (this.#waiting.size >= MAX_CONCURRENT_CALLS) {
        reject(new Error(`a handler can have at most ${MAX_CONCURRENT_CALLS} pending calls at the same time`));
        return;
      }
      const call = (this.#calls += 1);
      this.#waiting.set(call, { resolve, reject });
      this.send({ kind: "call", call, name, args });
    });
  }

  answered(message: Extract<ToThread, { kind: "answer" | "refusal" }>): void {
    if (message.execution !== this.execution) return;
    const waiter = this.#waiting.get(message.call);
    this.#waiting.delete(message.call);
    if (message.kind === "answer") waiter?.resolve(message.value);
    else waiter?.reject(new Refused(message));
  }

  log(): LogLines {
    let lines = 0;
    const line = (level: keyof LogLines) => (message: unknown) => {
      if ((lines += 1) <= MAX_LOG_LINES)
        this.send({ kind: "log", level, message: String(message).slice(0, MAX_MESSAGE_LENGTH) });
    };
    return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
  }

  /** Runs the work and reports how it ended. */
  async execute(work: () => Promise<{ value: unknown } | { skip: string }>): Promise<void> {
    await this.#work(work);
    this.#over = true;
    const running = this.#waiting.size > 0 || (await leavesSomethingRunning());
    this.#port.postMessage({ kind: "left", running, execution: this.execution });
  }

  async #work(work: () => Promise<{ value: unknown } | { skip: string }>): Promise<void> {
    try {
      const end = await work();
      if ("skip" in end) this.send({ kind: "skip", why: end.skip.slice(0, MAX_MESSAGE_LENGTH) });
      else this.send({ kind: "done", value: end.value });
    } catch (error) {
      const refused = error instanceof Refused ? error : null;
      this.send({
        kind: "threw",
        message: (error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE_LENGTH),
        reason: refused?.reason ?? null,
        httpStatus: refused?.httpStatus ?? null,
        retryAfterMs: refused?.retryAfterMs ?? null,
        final: (error as { retry?: unknown } | null)?.retry === false,
      });
    }
  }
}

export function badResult(message: string): Refused {
  return new Refused({ message, reason: "handler_bad_result", httpStatus: null, retryAfterMs: null });
}

/** Values are stored as JSON: what JSON cannot represent is dropped, and a cycle is an error of the handler. */
export function toJson(what: string, value: unknown, most = MAX_JSON_LENGTH): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? "null";
  } catch (error) {
    throw badResult(`${what} cannot be stored as JSON: ${(error as Error).message}`);
  }
  if (text.length > most)
    throw badResult(`${what} cannot be stored as JSON: it has ${text.length} characters, at most ${most} are kept`);
  return text;
}

/** A handler or a step skips itself by returning `{ skip: "why" }`. */
export function isSkip(value: unknown): value is { skip: string } {
  return typeof value === "object" && value !== null && typeof (value as { skip?: unknown }).skip === "string";
}
