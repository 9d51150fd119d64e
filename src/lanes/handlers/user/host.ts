import { Worker } from "node:worker_threads";
import type { Clock } from "../../../base/clock.ts";
import { messageOf, OrbError } from "../../../base/errors.ts";
import { FetchFailure } from "../../../domain/failure.ts";
import type { Handled, TaskArtifact } from "../../../domain/outcome.ts";
import type { ClaimedTask } from "../../../store/port.ts";
import type { HandlerContext } from "../handler.ts";
import type { FromThread, HandlerItem, StoredFile, ToThread } from "./protocol.ts";

/** What the main thread does on behalf of a handler; every way out to the network goes through here. */
export interface HandlerServices {
  fetch(
    url: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<{ status: number; url: string; headers: Record<string, string>; body: Uint8Array }>;
  download(url: string, headers: Record<string, string>, task: ClaimedTask, signal: AbortSignal): Promise<TaskArtifact>;
  save(bytes: Uint8Array, contentType: string | null, url: string): Promise<TaskArtifact>;
}

export interface ThreadOptions {
  module: string;
  clock: Clock;
  services: HandlerServices;
  memoryMb: number;
}

/** A handler that fills the log is cut short; its task goes on. */
const MOST_LOG_LINES = 200;
const MOST_LOG_LENGTH = 2000;
const START_TIMEOUT_MS = 30_000;

/** One worker thread: runs one item at a time, and is replaced when it dies or does not come back. */
export class HandlerThread {
  readonly #options: ThreadOptions;
  readonly #worker: Worker;
  readonly names: Map<string, number>;
  #dead = false;

  private constructor(options: ThreadOptions, worker: Worker, names: Map<string, number>) {
    this.#options = options;
    this.#worker = worker;
    this.names = names;
    worker.on("exit", () => (this.#dead = true));
    worker.on("error", () => (this.#dead = true));
  }

  /** Loads the module; what is wrong with it is said at once, not when the first item fails. */
  static async start(options: ThreadOptions): Promise<HandlerThread> {
    const worker = new Worker(
      new URL(import.meta.url.endsWith(".ts") ? "./thread.ts" : "./thread.js", import.meta.url),
      {
        workerData: { module: options.module },
        // The thread gets no environment: secrets of the configuration are not the module's business.
        env: {},
        stdout: true,
        stderr: true,
        resourceLimits: { maxOldGenerationSizeMb: options.memoryMb },
      },
    );
    worker.stdout.resume();
    worker.stderr.resume();
    worker.unref();
    const invalid = (message: string) =>
      new OrbError("handlers_invalid", `APP_HANDLERS: ${options.module}: ${message}`);
    const names = await new Promise<Map<string, number>>((resolve, reject) => {
      const timer = options.clock.after(START_TIMEOUT_MS, () => reject(invalid("it did not finish loading")), {
        keepAlive: true,
      });
      const fail = (message: string) => {
        timer.cancel();
        reject(invalid(message));
      };
      worker.once("error", (error) => fail(messageOf(error)));
      worker.once("exit", () => fail("it ended its thread while loading"));
      worker.once("message", (message: FromThread) => {
        if (message.kind !== "ready") return fail(message.kind === "broken" ? message.message : "it spoke out of turn");
        timer.cancel();
        resolve(new Map(message.handlers.map(({ name, timeoutSeconds }) => [name, timeoutSeconds])));
      });
    }).catch(async (error: unknown) => {
      await worker.terminate();
      throw error;
    });
    worker.removeAllListeners("error").removeAllListeners("exit");
    return new HandlerThread(options, worker, names);
  }

  get dead(): boolean {
    return this.#dead;
  }

  async stop(): Promise<void> {
    this.#dead = true;
    await this.#worker.terminate();
  }

  run(handler: string, task: ClaimedTask, context: HandlerContext): Promise<Handled> {
    const { clock } = this.#options;
    const worker = this.#worker;
    const artifacts: TaskArtifact[] = [];
    let lines = 0;
    return new Promise<Handled>((resolve, reject) => {
      const timeout = (this.names.get(handler) ?? 0) * 1000;
      const timer = clock.after(
        timeout,
        () => end(() => this.#kill(reject, "handler_timeout", `the handler did not end within ${timeout / 1000} s`)),
        { keepAlive: true },
      );
      const end = (then: () => void) => {
        timer.cancel();
        worker.off("message", onMessage);
        worker.off("error", onError);
        worker.off("exit", onExit);
        context.signal.removeEventListener("abort", onAbort);
        then();
      };
      const onMessage = (message: FromThread) => {
        switch (message.kind) {
          case "call":
            return void this.#serve(message, task, context.signal, artifacts);
          case "log":
            if ((lines += 1) <= MOST_LOG_LINES)
              context.log[message.level](message.message.slice(0, MOST_LOG_LENGTH), { handler, task: task.id });
            return undefined;
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
                  message.httpStatus === null ? {} : { httpStatus: message.httpStatus },
                ),
              ),
            );
        }
      };
      const onError = (error: Error & { code?: string }) => {
        this.#dead = true;
        const memory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
        end(() =>
          reject(
            new FetchFailure(
              memory ? "handler_out_of_memory" : "handler_threw",
              memory ? "the handler used too much memory" : messageOf(error),
            ),
          ),
        );
      };
      const onExit = () => end(() => reject(new FetchFailure("handler_exited", "the handler ended its thread")));
      const onAbort = () => {
        this.#send({ kind: "abort" });
        end(() => this.#kill(reject, "run_cancelled", "stopped"));
      };
      worker.on("message", onMessage);
      worker.on("error", onError);
      worker.on("exit", onExit);
      context.signal.addEventListener("abort", onAbort, { once: true });
      this.#send({ kind: "run", handler, item: toItem(task) });
    });
  }

  #kill(reject: (error: Error) => void, reason: "handler_timeout" | "run_cancelled", message: string): void {
    void this.stop();
    reject(new FetchFailure(reason, message));
  }

  #send(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  async #serve(
    message: Extract<FromThread, { kind: "call" }>,
    task: ClaimedTask,
    signal: AbortSignal,
    artifacts: TaskArtifact[],
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
    } catch (error) {
      const failure = error instanceof FetchFailure ? error.failure : null;
      this.#send({
        kind: "refusal",
        call: message.call,
        message: messageOf(error),
        reason: failure?.reason ?? null,
        httpStatus: failure?.httpStatus ?? null,
      });
    }
  }
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
