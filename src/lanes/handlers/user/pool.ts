import type { Clock } from "../../../base/clock.ts";
import type { Handled } from "../../../domain/outcome.ts";
import type { ClaimedTask } from "../../../store/port.ts";
import type { HandlerContext, TaskHandler } from "../handler.ts";
import { type HandlerServices, HandlerThread, type ThreadOptions } from "./host.ts";

/** The handler of this name replaces the built-in download for items that name none. */
const DEFAULT_NAME = "default";
const MEMORY_MB = 512;

/**
 * The user's handlers, each item in a thread of its own: as many threads as there are items at work, kept for the
 * next ones. One bad item can only take its own thread along.
 */
export class UserHandlers implements AsyncDisposable {
  readonly #options: ThreadOptions;
  #idle: HandlerThread[] = [];
  readonly #names: ReadonlySet<string>;

  private constructor(options: ThreadOptions, first: HandlerThread) {
    this.#options = options;
    this.#idle = [first];
    this.#names = new Set(first.names.keys());
  }

  static async load(module: string, deps: { clock: Clock; services: HandlerServices }): Promise<UserHandlers> {
    const options = { module, memoryMb: MEMORY_MB, ...deps };
    return new UserHandlers(options, await HandlerThread.start(options));
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
    await Promise.all(this.#idle.splice(0).map((thread) => thread.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #run(name: string, task: ClaimedTask, context: HandlerContext): Promise<Handled> {
    let thread = this.#idle.pop();
    while (thread?.dead === true) thread = this.#idle.pop();
    thread ??= await HandlerThread.start(this.#options);
    try {
      return await thread.run(name, task, context);
    } finally {
      if (!thread.dead) this.#idle.push(thread);
    }
  }
}
