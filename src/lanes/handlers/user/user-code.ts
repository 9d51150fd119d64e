import type { Clock, Timer } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { FetchFailure } from "../../../domain/run/failure.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { ExtractorPage } from "../../../extract/define-extractor.ts";
import type { KnownExtractor } from "../../../extract/extract-request.ts";
import type { KnownKind, StepContext, StepEnd, StepKind } from "../../../workflows/step-kind.ts";
import type { TaskHandler } from "../handler.ts";
import { executeItem } from "./item-work.ts";
import { executeExtractor } from "./extractor-work.ts";
import { checkExtractors, checkSteps } from "./kinds.ts";
import { HandlerProcess, type HandlerProcessOptions } from "./process.ts";
import type { ExtractorDescription, StepDescription } from "./protocol.ts";
import type { HandlerServices } from "./services.ts";
import { executeStep, type UserStep } from "./step-work.ts";

/** The handler of this name replaces the built-in download for items that name none. */
const DEFAULT_NAME = "default";
const MEMORY_MB = 512;
/** A process takes about 60 MB: it is ended after this idle time. */
const IDLE_MS = 30_000;

/** Sorted by name. */
export interface UserCodeDescription {
  handlers: readonly string[];
  steps: readonly KnownKind[];
  extractors: readonly KnownExtractor[];
}

interface UserCodeDeps {
  clock: Clock;
  services: HandlerServices;
}

/**
 * The handlers, step kinds and extractors of a user's module. Each item, step or page runs in a process of its own, from
 * a pool as large as the current concurrency: a bad one can only take down its own process.
 */
export class UserCode implements AsyncDisposable {
  readonly #options: HandlerProcessOptions;
  readonly #services: HandlerServices;
  readonly #idle: { process: HandlerProcess; timer: Timer }[] = [];
  readonly #all = new Set<HandlerProcess>();
  readonly #timeouts: ReadonlyMap<string, number>;
  /** Sorted by name. */
  readonly steps: readonly StepKind[];
  readonly #extractors: ReadonlyMap<string, ExtractorDescription>;

  private constructor(
    options: HandlerProcessOptions,
    services: HandlerServices,
    first: HandlerProcess,
    steps: readonly UserStep[],
  ) {
    this.#options = options;
    this.#services = services;
    this.#timeouts = new Map(first.contents.handlers.map(({ name, timeoutSeconds }) => [name, timeoutSeconds]));
    this.steps = steps.map((step) => this.#kindOf(step));
    this.#extractors = new Map(
      checkExtractors(options.module, first.contents).map((extractor) => [extractor.name, extractor]),
    );
    this.#all.add(first);
    this.#keep(first);
  }

  /** Loads the module in a process; throws when the module or a schema of its steps is invalid. */
  static async load(module: string, { clock, services }: UserCodeDeps): Promise<UserCode> {
    const options = { module, memoryMb: MEMORY_MB, clock };
    const first = await HandlerProcess.start(options);
    try {
      return new UserCode(options, services, first, checkSteps(module, first.contents));
    } catch (error) {
      await first.stop();
      throw error;
    }
  }

  /** What a module registers, for a process that executes nothing of it. */
  static async describe(module: string, clock: Clock): Promise<UserCodeDescription> {
    const process = await HandlerProcess.start({ module, memoryMb: MEMORY_MB, clock });
    await process.stop();
    return {
      handlers: process.contents.handlers.map(({ name }) => name),
      steps: checkSteps(module, process.contents).map(({ description }) => aboutOf(description)),
      extractors: checkExtractors(module, process.contents),
    };
  }

  handler(requestedName: string | null): TaskHandler | undefined {
    const name = requestedName ?? DEFAULT_NAME;
    const timeoutSeconds = this.#timeouts.get(name);
    if (timeoutSeconds === undefined) return undefined;
    return {
      strategy: `handler:${name}`,
      run: async (task, context) => {
        const process = await this.#acquire();
        try {
          return await executeItem(process, this.#services, { name, timeoutSeconds }, task, context);
        } finally {
          this.#release(process);
        }
      },
    };
  }

  /** Throws a FetchFailure, as handlers do. */
  async extract(
    name: string,
    page: ExtractorPage,
    options: { signal: AbortSignal; log: Log },
  ): Promise<Record<string, JsonValue>[]> {
    const extractor = this.#extractors.get(name);
    if (extractor === undefined)
      throw new FetchFailure("handler_missing", `the module of APP_HANDLERS has no extractor named ${name}`);
    const process = await this.#acquire();
    try {
      return await executeExtractor(process, extractor, page, options);
    } finally {
      this.#release(process);
    }
  }

  async stop(): Promise<void> {
    for (const { timer } of this.#idle.splice(0)) timer.cancel();
    await Promise.all([...this.#all].map((process) => process.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #kindOf(step: UserStep): StepKind {
    return { ...aboutOf(step.description), run: (context, params) => this.#runStep(step, context, params) };
  }

  async #runStep(step: UserStep, context: StepContext, params: Record<string, JsonValue>): Promise<StepEnd> {
    const process = await this.#acquire();
    const { end, over } = executeStep(process, this.#services, step, context, params);
    void over.then(() => this.#release(process));
    return end;
  }

  async #acquire(): Promise<HandlerProcess> {
    const process = this.#takeIdle() ?? (await HandlerProcess.start(this.#options));
    this.#all.add(process);
    return process;
  }

  #release(process: HandlerProcess): void {
    if (process.dead) void this.#end(process);
    else this.#keep(process);
  }

  async #end(process: HandlerProcess): Promise<void> {
    await process.stop();
    this.#all.delete(process);
  }

  /** Reuses the process that was used last, so that surplus ones become idle and end. */
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

function aboutOf({ kind, about, params, output }: StepDescription): KnownKind {
  return { kind, about: about ?? "a step of your own", params, ...(output === null ? {} : { output }) };
}
