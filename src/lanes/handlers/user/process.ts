import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Clock, Timer } from "../../../base/clock.ts";
import { isDiskFull, isOrbError, messageOf, OrbError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { FetchFailure } from "../../../domain/run/failure.ts";
import type { Begin, FromProcess, ModuleContents, Order } from "./protocol.ts";

export interface HandlerProcessOptions {
  module: string;
  clock: Clock;
  memoryMb: number;
}

/** One item, step or page to execute. */
export interface Work {
  begin: Begin;
  timeoutSeconds: number;
  signal: AbortSignal;
  log: Log;
  /**
   * Answers calls of user code; the signal aborts when the execution was stopped or ended before the answer.
   */
  serve(name: string, args: unknown[], signal: AbortSignal): Promise<unknown>;
  /** Receives its messages while it runs. */
  onMessage?(message: Extract<FromProcess, { kind: "progress" | "flows" | "items" }>): void;
}

export type WorkEnd = Extract<FromProcess, { kind: "done" | "skip" }>;

const MAX_LOG_LENGTH = 2000;
/** For loading the module on a busy machine. */
const START_TIMEOUT_MS = 120_000;
/**
 * How long aborted user code may take to end by itself; a stopping engine waits twice as long before it requeues the task.
 */
const STOP_GRACE_MS = 1000;
/** After an execution, a process reports whether anything was left running; one that does not is busy with it. */
const LEFT_TIMEOUT_MS = 1000;
/** How V8 and the OOM killer end a process. */
const MEMORY_SIGNALS: ReadonlySet<NodeJS.Signals | null> = new Set(["SIGABRT", "SIGTRAP", "SIGKILL"]);

/**
 * A process that executes one thing at a time, and is replaced when it dies or hangs. A thread is not enough: V8 ends the
 * whole process when a thread's heap is full and a single allocation is too large.
 */
export class HandlerProcess {
  readonly #clock: Clock;
  readonly #child: ChildProcess;
  readonly contents: ModuleContents;
  #dead = false;
  #executions = 0;

  private constructor(clock: Clock, child: ChildProcess, contents: ModuleContents) {
    this.#clock = clock;
    this.#child = child;
    this.contents = contents;
    child.on("exit", () => (this.#dead = true));
    child.on("message", (message: FromProcess) => (this.#dead ||= message.kind === "died"));
  }

  /** Loads the module and reports its errors now, not when the first item fails. */
  static async start(options: HandlerProcessOptions): Promise<HandlerProcess> {
    const guard = new URL("./guard.ts", import.meta.url);
    const child = spawn(process.execPath, [fileURLToPath(guard), options.module, String(options.memoryMb)], {
      // No environment: the module must not see secrets of the configuration.
      env: {},
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
    });
    child.unref();
    child.channel?.unref();
    const contents = await new Promise<ModuleContents>((resolve, reject) => {
      const timer = options.clock.after(START_TIMEOUT_MS, () => fail("it did not finish loading"), { keepAlive: true });
      const fail = (message: string) => {
        timer.cancel();
        // The first error counts: ending the process would cause another.
        child.removeAllListeners("exit");
        const error = moduleError(options.module, message);
        void killed(child).then(() => reject(error));
      };
      child.on("error", (error) => fail(messageOf(error)));
      child.once("exit", () => fail("it ended its process while loading"));
      child.once("message", (message: FromProcess) => {
        if (message.kind === "died" && message.reason === "handler_exited")
          return fail("it ended its process while loading");
        if (message.kind === "broken" || message.kind === "died") return fail(message.message);
        if (message.kind !== "ready") return fail("it sent an unexpected message");
        timer.cancel();
        return resolve({ handlers: message.handlers, steps: message.steps, extractors: message.extractors });
      });
    });
    child.removeAllListeners("exit").removeAllListeners("error");
    child.on("error", () => {});
    return new HandlerProcess(options.clock, child, contents);
  }

  get dead(): boolean {
    return this.#dead;
  }

  /** Resolves when the process has exited. */
  stop(): Promise<void> {
    this.#dead = true;
    return killed(this.#child);
  }

  /** Returns the result; throws a FetchFailure, or the error of a full disk. */
  execute(work: Work): Promise<WorkEnd> {
    const child = this.#child;
    const execution = (this.#executions += 1);
    const wanted = new AbortController();
    const stopped = new FetchFailure("run_cancelled", "stopped");
    return new Promise<WorkEnd>((resolve, reject) => {
      /** Why it was stopped, and how it ended: the first of the two counts. */
      let stopReason: Error | null = null;
      let ending: (() => void) | null = null;
      const endWith = (error: Error) => over(ending ?? (() => reject(stopReason ?? error)));
      let timer = this.#after(work.timeoutSeconds * 1000, () =>
        stop(new FetchFailure("handler_timeout", `the handler did not end within ${work.timeoutSeconds} s`)),
      );
      let isOver = false;
      const over = (then: () => void) => {
        isOver = true;
        timer.cancel();
        wanted.abort(stopped);
        child.off("message", onMessage);
        child.off("exit", onExit);
        work.signal.removeEventListener("abort", onAbort);
        then();
      };
      const kill = () => {
        void this.stop();
        endWith(stopped);
      };
      const stop = (error: Error) => {
        if (stopReason !== null || ending !== null) return;
        stopReason = error;
        wanted.abort(error);
        this.#send(execution, { kind: "abort" });
        timer.cancel();
        timer = this.#after(STOP_GRACE_MS, kill);
      };
      const giveUp = (error: Error) => {
        if (isOver) return;
        stopReason ??= error;
        kill();
      };
      const ended = (then: () => void) => {
        ending = stopReason === null ? then : () => reject(stopReason as Error);
        timer.cancel();
        timer = this.#after(LEFT_TIMEOUT_MS, kill);
      };
      const onMessage = (message: FromProcess) => {
        if (message.kind === "died") return endWith(new FetchFailure(message.reason, message.message));
        if (!("execution" in message) || message.execution !== execution) return;
        if (message.kind === "left") return message.running ? kill() : endWith(stopped);
        if (ending !== null) return;
        switch (message.kind) {
          case "call":
            return void this.#answer(execution, message, work, wanted.signal, giveUp);
          case "log":
            return work.log[message.level](message.message.slice(0, MAX_LOG_LENGTH));
          case "done":
          case "skip":
            return ended(() => resolve(message));
          case "threw":
            return ended(() => reject(failureOf(message)));
          case "progress":
          case "flows":
          case "items":
            return work.onMessage?.(message);
        }
      };
      const onExit = (_code: number | null, signal: NodeJS.Signals | null) =>
        endWith(
          MEMORY_SIGNALS.has(signal)
            ? new FetchFailure("handler_out_of_memory", "the handler used too much memory")
            : new FetchFailure("handler_exited", "the handler ended its process"),
        );
      const onAbort = () => stop(stopped);
      // The task may have been stopped while the process was starting.
      if (work.signal.aborted) return endWith(stopped);
      child.on("message", onMessage);
      child.on("exit", onExit);
      work.signal.addEventListener("abort", onAbort, { once: true });
      this.#send(execution, work.begin);
    });
  }

  /** Asks the running execution for its next items. */
  pull(): void {
    this.#send(this.#executions, { kind: "pull" });
  }

  #send(execution: number, message: Order): void {
    // If it cannot be sent, the process has ended, and its exit event reports that.
    this.#child.send({ ...message, execution }, () => {});
  }

  #after(ms: number, then: () => void): Timer {
    return this.#clock.after(ms, then, { keepAlive: true });
  }

  async #answer(
    execution: number,
    { call, name, args }: Extract<FromProcess, { kind: "call" }>,
    work: Work,
    signal: AbortSignal,
    giveUp: (error: Error) => void,
  ): Promise<void> {
    try {
      this.#send(execution, { kind: "answer", call, value: await work.serve(name, args, signal) });
      return undefined;
    } catch (error) {
      // A full disk or unreachable storage is not the handler's fault: its item waits.
      if (isDiskFull(error) || (isOrbError(error) && error.reaction === "wait")) return giveUp(error as Error);
      const failure = error instanceof FetchFailure ? error.failure : null;
      this.#send(execution, {
        kind: "refusal",
        call,
        message: messageOf(error),
        reason: failure?.reason ?? null,
        httpStatus: failure?.httpStatus ?? null,
        retryAfterMs: failure?.retryAfterMs ?? null,
      });
      return undefined;
    }
  }
}

export function moduleError(module: string, message: string): OrbError {
  return new OrbError("handlers_invalid", `APP_HANDLERS: ${module}: ${message}`);
}

function failureOf(message: Extract<FromProcess, { kind: "threw" }>): FetchFailure {
  const { final, reason, httpStatus, retryAfterMs } = message;
  return new FetchFailure(final ? "handler_refused" : (reason ?? "handler_threw"), message.message, {
    ...(httpStatus === null ? {} : { httpStatus }),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  });
}

/** Kills the process unless it never started or has exited. */
function killed(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.ref();
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
}
