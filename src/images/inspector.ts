/**
 * Image files are looked at in processes of their own: decoders are native code, and a file that a stranger made to break
 * one takes its process along and nothing else.
 */
import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Clock, Timer } from "../base/clock.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import { type DecodeLimits, type ImageFacts, type ImageProblem, withProblem } from "./facts.ts";
import { InspectorProcess } from "./inspector-process.ts";

export interface ImageInspector {
  /**
   * What is in these files, in their order. Those who ask at the same time take turns, file by file. What is wrong with a file is among its facts.
   * Rejects with the signal's reason, and with an OrbError `image_decoder_missing` when nothing can be decoded here.
   */
  inspect(paths: readonly string[], signal?: AbortSignal): Promise<ImageFacts[]>;
  /** Ends what is in flight; resolves when no process is left. */
  close(): Promise<void>;
}

export interface ImageInspectorOptions {
  clock: Clock;
  /** At most so many files are decoded at once. Processes start when they are first needed. */
  processes?: number;
  timeoutMs?: number;
  /** Of one process; the library alone takes some 80. */
  memoryMb?: number;
  limits?: Partial<DecodeLimits>;
}

interface Look {
  path: string;
  /** The call it belongs to. */
  caller: Set<Look>;
  deaths: number;
  done(facts: ImageFacts): void;
  fail(error: unknown): void;
}

const MOST_PROCESSES = 2;
/** The slowest of 96 megapixels took 10 s on a busy machine (AVIF), the others less than 6 s. */
const TIMEOUT_MS = 30_000;
/** 96 megapixels took 110 MB as JPEG and 560 MB as PNG with interlacing; only AVIF takes more, from some 40 megapixels on. */
const MEMORY_MB = 768;
const LIMITS: DecodeLimits = { maxPixels: 100_000_000, maxPages: 100 };
/** A process may be ended by others, too: only when a second one dies of the file it is to blame. */
const MOST_DEATHS = 2;
/** A process takes some 80 MB: those that have had nothing to do for so long are let go. */
const IDLE_MS = 30_000;

export function createImageInspector(options: ImageInspectorOptions): ImageInspector {
  return new Pool(options);
}

class Pool implements ImageInspector {
  readonly #options: ImageInspectorOptions;
  readonly #most: number;
  readonly #queue = new TurnQueue();
  readonly #processes = new Set<InspectorProcess>();
  readonly #idle: { process: InspectorProcess; timer: Timer }[] = [];
  readonly #running = new Map<InspectorProcess, Look>();
  #closed: Promise<void> | null = null;

  constructor(options: ImageInspectorOptions) {
    this.#options = options;
    // One core is for everything else.
    this.#most = options.processes ?? Math.max(1, Math.min(MOST_PROCESSES, availableParallelism() - 1));
  }

  async inspect(paths: readonly string[], signal?: AbortSignal): Promise<ImageFacts[]> {
    const looks = new Set<Look>();
    const drop = () => {
      for (const look of looks) look.fail(signal?.reason);
    };
    signal?.throwIfAborted();
    if (this.#closed !== null) throw stopping();
    signal?.addEventListener("abort", drop, { once: true });
    try {
      return await Promise.all(
        paths.map((path) => {
          const { promise, resolve, reject } = Promise.withResolvers<ImageFacts>();
          const look: Look = {
            path,
            caller: looks,
            deaths: 0,
            done: resolve,
            fail: (error) => {
              this.#drop(look);
              reject(error);
            },
          };
          looks.add(look);
          this.#queue.add(look);
          this.#next();
          return promise;
        }),
      );
    } catch (error) {
      // The rest is for nobody.
      for (const look of looks) this.#drop(look);
      throw error;
    } finally {
      signal?.removeEventListener("abort", drop);
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    for (const { timer } of this.#idle.splice(0)) timer.cancel();
    for (const look of [...this.#queue.all(), ...this.#running.values()]) look.fail(stopping());
    await Promise.all([...this.#processes].map((process) => process.end()));
  }

  /** A running decoder cannot be stopped. */
  #drop(look: Look): void {
    this.#queue.delete(look);
    for (const [process, running] of this.#running) {
      if (running !== look) continue;
      this.#running.delete(process);
      void process.end();
    }
  }

  #next(): void {
    while (!this.#queue.isEmpty) {
      const process = this.#takeIdle() ?? this.#start();
      if (process === null) return;
      const look = this.#queue.take()!;
      this.#running.set(process, look);
      process.give(look.path);
    }
  }

  #takeIdle(): InspectorProcess | null {
    const idle = this.#idle.pop();
    idle?.timer.cancel();
    return idle?.process ?? null;
  }

  #start(): InspectorProcess | null {
    if (this.#closed !== null || this.#processes.size >= this.#most) return null;
    const { clock, timeoutMs = TIMEOUT_MS, memoryMb = MEMORY_MB, limits } = this.#options;
    const process: InspectorProcess = new InspectorProcess({
      clock,
      timeoutMs,
      memoryMb,
      limits: { ...LIMITS, ...limits },
      onFacts: (facts) => {
        const look = this.#take(process);
        if (!process.ending) this.#rest(process);
        this.#next();
        look?.done(facts);
      },
      onProblem: (problem, detail, sure) => {
        const look = this.#take(process);
        if (look === undefined) return;
        look.deaths += 1;
        if (!sure && look.deaths < MOST_DEATHS) this.#queue.add(look);
        else look.done(problemOf(look.path, problem, detail));
      },
      onBroken: (error) => {
        // Another process would do no better.
        for (const look of [...this.#queue.all(), ...this.#running.values()]) look.fail(error);
      },
      onGone: () => {
        this.#processes.delete(process);
        this.#forget(process);
        this.#next();
      },
    });
    this.#processes.add(process);
    return process;
  }

  #take(process: InspectorProcess): Look | undefined {
    const look = this.#running.get(process);
    this.#running.delete(process);
    return look;
  }

  #rest(process: InspectorProcess): void {
    const timer = this.#options.clock.after(IDLE_MS, () => {
      this.#forget(process);
      void process.end();
    });
    this.#idle.push({ process, timer });
  }

  #forget(process: InspectorProcess): void {
    const at = this.#idle.findIndex((idle) => idle.process === process);
    if (at >= 0) this.#idle.splice(at, 1)[0]?.timer.cancel();
  }
}

/** Fair between callers: many files of one do not delay the few of another. */
class TurnQueue {
  /** In the order of their turns. */
  readonly #callers = new Map<Set<Look>, Set<Look>>();

  get isEmpty(): boolean {
    return this.#callers.size === 0;
  }

  all(): Look[] {
    return [...this.#callers.values()].flatMap((looks) => [...looks]);
  }

  add(look: Look): void {
    const looks = this.#callers.get(look.caller);
    if (looks === undefined) this.#callers.set(look.caller, new Set([look]));
    else looks.add(look);
  }

  delete(look: Look): void {
    const looks = this.#callers.get(look.caller);
    if (looks?.delete(look) === true && looks.size === 0) this.#callers.delete(look.caller);
  }

  take(): Look | null {
    for (const [caller, looks] of this.#callers) {
      // The next turn is another's.
      this.#callers.delete(caller);
      this.#callers.set(caller, looks);
      for (const look of looks) {
        this.delete(look);
        return look;
      }
    }
    return null;
  }
}

function problemOf(path: string, problem: ImageProblem, detail: string): ImageFacts {
  return withProblem(problem, { bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0, detail });
}

function stopping(): FetchFailure {
  return new FetchFailure("run_cancelled", "the program is stopping");
}
