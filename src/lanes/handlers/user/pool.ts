import type { Clock, Timer } from "../../../base/clock.ts";
import type { Handled } from "../../../domain/outcome.ts";
import type { ClaimedTask } from "../../../store/port.ts";
import type { HandlerContext, TaskHandler } from "../handler.ts";
import { HandlerProcess, type HandlerProcessOptions, type HandlerServices } from "./host.ts";

/** The handler of this name replaces the built-in download for items that name none. */
const DEFAULT_NAME = "default";
const MEMORY_MB = 512;
/** A process takes some 60 MB: one that has had nothing to do for so long is let go. */
const IDLE_MS = 30_000;

/**
 * The user's handlers, each item in a process of its own: as many processes as there are items at work, kept for the
 * next ones. One bad item can only take its own process along.
 */
export class UserHandlers implements AsyncDisposable {
  readonly #options: HandlerProcessOptions;
  readonly #idle: { process: HandlerProcess; timer: Timer }[] = [];
  readonly #all = new Set<HandlerProcess>();
  readonly #names: ReadonlySet<string>;

  private constructor(options: HandlerProcessOptions, first: HandlerProcess) {
    this.#options = options;
    this.#names = new Set(first.names.keys());
    this.#all.add(first);
    this.#keep(first);
  }

  static async load(module: string, deps: { clock: Clock; services: HandlerServices }): Promise<UserHandlers> {
    const options = { module, memoryMb: MEMORY_MB, ...deps };
    return new UserHandlers(options, await HandlerProcess.start(options));
  }

  get names(): string[] {
    return [...this.#names];
  }

  find(name: string | null): TaskHandler | undefined {
    const wanted = name ?? DEFAULT_NAME;
    if (!this.#names.has(wanted)) return undefined;
    return { strategy: `handler:${wanted}`, run: (task, context) => this.#run(wanted, task, context) };
  }

  async stop(): Promise<void> {
    for (const { timer } of this.#idle.splice(0)) timer.cancel();
    await Promise.all([...this.#all].map((process) => process.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #run(name: string, task: ClaimedTask, context: HandlerContext): Promise<Handled> {
    const process = this.#takeIdle() ?? (await HandlerProcess.start(this.#options));
    this.#all.add(process);
    try {
      return await process.run(name, task, context);
    } finally {
      if (process.dead) void this.#end(process);
      else this.#keep(process);
    }
  }

  async #end(process: HandlerProcess): Promise<void> {
    await process.stop();
    this.#all.delete(process);
  }

  /** The one that was used last, so that those that are not needed any more come to their end. */
  #takeIdle(): HandlerProcess | undefined {
    for (let entry = this.#idle.pop(); entry !== undefined; entry = this.#idle.pop()) {
      entry.timer.cancel();
      if (!entry.process.dead) return entry.process;
      void this.#end(entry.process);
    }
    return undefined;
  }

  #keep(process: HandlerProcess): void {
    const timer = this.#options.clock.after(IDLE_MS, () => {
      this.#idle.splice(
        this.#idle.findIndex((entry) => entry.process === process),
        1,
      );
      void this.#end(process);
    });
    this.#idle.push({ process, timer });
  }
}
