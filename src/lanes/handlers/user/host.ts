import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../../base/clock.ts";
import { isDiskFull, messageOf, OrbError } from "../../../base/errors.ts";
import { FetchFailure } from "../../../domain/failure.ts";
import type { Handled, TaskArtifact } from "../../../domain/outcome.ts";
import type { ClaimedTask } from "../../../store/port.ts";
import type { HandlerContext } from "../handler.ts";
import type { FromProcess, HandlerItem, StoredFile, ToThread } from "./protocol.ts";

/** What this process does on behalf of a handler; every way out to the network goes through here. */
export interface HandlerServices {
  fetch(
    url: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<{ status: number; url: string; headers: Record<string, string>; body: Uint8Array }>;
  download(url: string, headers: Record<string, string>, task: ClaimedTask, signal: AbortSignal): Promise<TaskArtifact>;
  save(bytes: Uint8Array, contentType: string | null, url: string): Promise<TaskArtifact>;
}

export interface HandlerProcessOptions {
  module: string;
  clock: Clock;
  services: HandlerServices;
  memoryMb: number;
}

const MOST_LOG_LENGTH = 2000;
const START_TIMEOUT_MS = 30_000;
/** How V8 ends a process that it cannot give memory to, and how the system does. */
const MEMORY_SIGNALS: ReadonlySet<NodeJS.Signals | null> = new Set(["SIGABRT", "SIGTRAP", "SIGKILL"]);

/**
 * A process that runs one item at a time, and is replaced when it dies or does not come back. A thread would not do: V8
 * ends the whole process when a thread's heap is full and a single allocation is too large to wait for.
 */
export class HandlerProcess {
  readonly #options: HandlerProcessOptions;
  readonly #child: ChildProcess;
  readonly names: Map<string, number>;
  #dead = false;

  private constructor(options: HandlerProcessOptions, child: ChildProcess, names: Map<string, number>) {
    this.#options = options;
    this.#child = child;
    this.names = names;
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
    const names = await new Promise<Map<string, number>>((resolve, reject) => {
      const timer = options.clock.after(START_TIMEOUT_MS, () => fail("it did not finish loading"), { keepAlive: true });
      const fail = (message: string) => {
        timer.cancel();
        // The first complaint is the one that counts: ending the process would make another.
        child.removeAllListeners("exit");
        const error = new OrbError("handlers_invalid", `APP_HANDLERS: ${options.module}: ${message}`);
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
        return resolve(new Map(message.handlers.map(({ name, timeoutSeconds }) => [name, timeoutSeconds])));
      });
    });
    child.removeAllListeners("exit").removeAllListeners("error");
    child.on("error", () => {});
    return new HandlerProcess(options, child, names);
  }

  get dead(): boolean {
    return this.#dead;
  }

  /** Resolves when nothing of it is left. */
  stop(): Promise<void> {
    this.#dead = true;
    return ended(this.#child);
  }

  run(handler: string, task: ClaimedTask, context: HandlerContext): Promise<Handled> {
    const { clock } = this.#options;
    const child = this.#child;
    const artifacts: TaskArtifact[] = [];
    return new Promise<Handled>((resolve, reject) => {
      const timeout = (this.names.get(handler) ?? 0) * 1000;
      const timer = clock.after(
        timeout,
        () => end(() => this.#kill(reject, "handler_timeout", `the handler did not end within ${timeout / 1000} s`)),
        { keepAlive: true },
      );
      const end = (then: () => void) => {
        timer.cancel();
        child.off("message", onMessage);
        child.off("exit", onExit);
        context.signal.removeEventListener("abort", onAbort);
        then();
      };
      const onMessage = (message: FromProcess) => {
        switch (message.kind) {
          case "call":
            return void this.#serve(message, task, context.signal, artifacts, (error) =>
              end(() => {
                void this.stop();
                reject(error);
              }),
            );
          case "log":
            return context.log[message.level](message.message.slice(0, MOST_LOG_LENGTH), { handler, task: task.id });
          case "done":
            return end(() => resolve({ kind: "completed", artifacts, results: message.results }));
          case "skip":
            return end(() => resolve({ kind: "skipped", why: message.why }));
          case "threw":
            return end(() =>
              reject(
                new FetchFailure(
                  message.final ? "handler_refused" : (message.reason ?? "handler_threw"),
                  message.message,
                  {
                    ...(message.httpStatus === null ? {} : { httpStatus: message.httpStatus }),
                    ...(message.retryAfterMs === null ? {} : { retryAfterMs: message.retryAfterMs }),
                  },
                ),
              ),
            );
          case "died":
            return end(() => reject(new FetchFailure(message.reason, message.message)));
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
        this.#send({ kind: "abort" });
        end(() => this.#kill(reject, "run_cancelled", "stopped"));
      };
      child.on("message", onMessage);
      child.on("exit", onExit);
      // It may have been stopped while its process was starting.
      if (context.signal.aborted) return onAbort();
      context.signal.addEventListener("abort", onAbort, { once: true });
      this.#send({ kind: "run", handler, item: toItem(task) });
    });
  }

  #kill(reject: (error: Error) => void, reason: "handler_timeout" | "run_cancelled", message: string): void {
    void this.stop();
    reject(new FetchFailure(reason, message));
  }

  #send(message: ToThread): void {
    // When it cannot be sent the process is at its end, which is told by itself.
    this.#child.send(message, () => {});
  }

  async #serve(
    message: Extract<FromProcess, { kind: "call" }>,
    task: ClaimedTask,
    signal: AbortSignal,
    artifacts: TaskArtifact[],
    giveUp: (error: Error) => void,
  ): Promise<void> {
    const { services } = this.#options;
    try {
      const options = (message.args[1] ?? {}) as { headers?: Record<string, string>; content_type?: string };
      const keep = (file: TaskArtifact): StoredFile => {
        artifacts.push(file);
        return { hash: file.hash, size: file.size, content_type: file.contentType, url: file.url };
      };
      const value =
        message.name === "fetch"
          ? await services.fetch(String(message.args[0]), options.headers ?? {}, signal)
          : message.name === "download"
            ? keep(await services.download(String(message.args[0]), options.headers ?? {}, task, signal))
            : keep(await services.save(message.args[0] as Uint8Array, options.content_type ?? null, task.url ?? ""));
      this.#send({ kind: "answer", call: message.call, value });
      return undefined;
    } catch (error) {
      // A full disk is nothing that the handler could answer for: its item waits until there is room.
      if (isDiskFull(error)) return giveUp(error as Error);
      const failure = error instanceof FetchFailure ? error.failure : null;
      this.#send({
        kind: "refusal",
        call: message.call,
        message: messageOf(error),
        reason: failure?.reason ?? null,
        httpStatus: failure?.httpStatus ?? null,
        retryAfterMs: failure?.retryAfterMs ?? null,
      });
      return undefined;
    }
  }
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

function toItem(task: ClaimedTask): HandlerItem {
  return {
    artifact_id: task.key,
    url: task.nextUrl ?? task.url ?? "",
    resolver: task.resolver,
    priority: task.priority,
    payload: task.payload,
    attempt: task.tries + 1,
  };
}
