import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../../base/clock.ts";
import { isDiskFull, messageOf, OrbError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { FetchFailure } from "../../../domain/failure.ts";
import type { FromProcess, ModuleContents, ToThread } from "./protocol.ts";

export interface HandlerProcessOptions {
  module: string;
  clock: Clock;
  memoryMb: number;
}

/** One item or step that a process is to execute. */
export interface Work {
  begin: ToThread;
  timeoutSeconds: number;
  signal: AbortSignal;
  log: Log;
  /** Answers what the user's code asks for. */
  serve(name: string, args: unknown[]): Promise<unknown>;
  /** What it says on the way. */
  heard?(message: Extract<FromProcess, { kind: "progress" | "flows" | "items" }>): void;
}

export type WorkEnd = Extract<FromProcess, { kind: "done" | "skip" }>;

const MOST_LOG_LENGTH = 2000;
const START_TIMEOUT_MS = 30_000;
/** How V8 ends a process that it cannot give memory to, and how the system does. */
const MEMORY_SIGNALS: ReadonlySet<NodeJS.Signals | null> = new Set(["SIGABRT", "SIGTRAP", "SIGKILL"]);

/**
 * A process that executes one thing at a time, and is replaced when it dies or does not come back. A thread would not do: V8
 * ends the whole process when a thread's heap is full and a single allocation is too large to wait for.
 */
export class HandlerProcess {
  readonly #clock: Clock;
  readonly #child: ChildProcess;
  readonly contents: ModuleContents;
  #dead = false;

  private constructor(clock: Clock, child: ChildProcess, contents: ModuleContents) {
    this.#clock = clock;
    this.#child = child;
    this.contents = contents;
    child.on("exit", () => (this.#dead = true));
    child.on("message", (message: FromProcess) => (this.#dead ||= message.kind === "died"));
  }

  /** Loads the module; what is wrong with it is said at once, not when the first item fails. */
  static async start(options: HandlerProcessOptions): Promise<HandlerProcess> {
    const guard = new URL(import.meta.url.endsWith(".ts") ? "./guard.ts" : "./guard.js", import.meta.url);
    const child = spawn(process.execPath, [fileURLToPath(guard), options.module, String(options.memoryMb)], {
      // No environment: secrets of the configuration are not the module's business.
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
        // The first complaint is the one that counts: ending the process would make another.
        child.removeAllListeners("exit");
        const error = moduleError(options.module, message);
        void ended(child).then(() => reject(error));
      };
      child.on("error", (error) => fail(messageOf(error)));
      child.once("exit", () => fail("it ended its process while loading"));
      child.once("message", (message: FromProcess) => {
        if (message.kind === "died" && message.reason === "handler_exited")
          return fail("it ended its process while loading");
        if (message.kind === "broken" || message.kind === "died") return fail(message.message);
        if (message.kind !== "ready") return fail("it spoke out of turn");
        timer.cancel();
        return resolve({ handlers: message.handlers, steps: message.steps });
      });
    });
    child.removeAllListeners("exit").removeAllListeners("error");
    child.on("error", () => {});
    return new HandlerProcess(options.clock, child, contents);
  }

  get dead(): boolean {
    return this.#dead;
  }

  /** Resolves when nothing of it is left. */
  stop(): Promise<void> {
    this.#dead = true;
    return ended(this.#child);
  }

  /** Says what came of it; everything else is thrown as a FetchFailure, or as what the disk said. */
  execute(work: Work): Promise<WorkEnd> {
    const child = this.#child;
    return new Promise<WorkEnd>((resolve, reject) => {
      const timer = this.#clock.after(
        work.timeoutSeconds * 1000,
        () => stopped(new FetchFailure("handler_timeout", `the handler did not end within ${work.timeoutSeconds} s`)),
        { keepAlive: true },
      );
      const end = (then: () => void) => {
        timer.cancel();
        child.off("message", onMessage);
        child.off("exit", onExit);
        work.signal.removeEventListener("abort", onAbort);
        then();
      };
      const stopped = (error: Error) =>
        end(() => {
          void this.stop();
          reject(error);
        });
      const onMessage = (message: FromProcess) => {
        switch (message.kind) {
          case "call":
            return void this.#answer(message, work, stopped);
          case "log":
            return work.log[message.level](message.message.slice(0, MOST_LOG_LENGTH));
          case "done":
          case "skip":
            return end(() => resolve(message));
          case "threw":
            return end(() => reject(failureOf(message)));
          case "died":
            return end(() => reject(new FetchFailure(message.reason, message.message)));
          case "progress":
          case "flows":
          case "items":
            return work.heard?.(message);
        }
      };
      const onExit = (_code: number | null, signal: NodeJS.Signals | null) =>
        end(() =>
          reject(
            MEMORY_SIGNALS.has(signal)
              ? new FetchFailure("handler_out_of_memory", "the handler used too much memory")
              : new FetchFailure("handler_exited", "the handler ended its process"),
          ),
        );
      const onAbort = () => {
        this.send({ kind: "abort" });
        stopped(new FetchFailure("run_cancelled", "stopped"));
      };
      child.on("message", onMessage);
      child.on("exit", onExit);
      // It may have been stopped while its process was starting.
      if (work.signal.aborted) return onAbort();
      work.signal.addEventListener("abort", onAbort, { once: true });
      this.send(work.begin);
    });
  }

  send(message: ToThread): void {
    // When it cannot be sent the process is at its end, which is told by itself.
    this.#child.send(message, () => {});
  }

  async #answer(
    { call, name, args }: Extract<FromProcess, { kind: "call" }>,
    work: Work,
    giveUp: (error: Error) => void,
  ): Promise<void> {
    try {
      this.send({ kind: "answer", call, value: await work.serve(name, args) });
      return undefined;
    } catch (error) {
      // A full disk is nothing that the handler could answer for: its item waits until there is room.
      if (isDiskFull(error)) return giveUp(error as Error);
      const failure = error instanceof FetchFailure ? error.failure : null;
      this.send({
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

/** Ends it, unless it never began or is at its end already. */
function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.ref();
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
}
