/**
 * Decodes image files in separate processes: decoders are native code, and a malicious file crashes only its own
 * process.
 */
import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Clock, Timer } from "../base/clock.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import { type DecodeLimits, type ImageFacts, type ImageProblem, withProblem } from "./facts.ts";
import { InspectorProcess } from "./inspector-process.ts";

export interface ImageInspector {
  /**
   * Facts of these files, in order; problems of a file are among its facts. Concurrent callers are served round-robin,
   * file by file. Rejects with the abort reason, or with `image_decoder_missing` when nothing can be decoded here.
   */
  inspect(paths: readonly string[], signal?: AbortSignal): Promise<ImageFacts[]>;
  /** Fails inspections in flight; resolves when all processes have exited. */
  close(): Promise<void>;
}

export interface ImageInspectorOptions {
  clock: Clock;
  /** Upper bound of concurrent decodes. Processes start on demand. */
  processes?: number;
  timeoutMs?: number;
  /** Per process; the library alone takes some 80. */
  memoryMb?: number;
  limits?: Partial<DecodeLimits>;
}

interface Job {
  path: string;
  /** All jobs of the same `inspect` call. */
  caller: Set<Job>;
  crashes: number;
  done(facts: ImageFacts): void;
  fail(error: unknown): void;
}

const MAX_PROCESSES = 2;
/** At 96 megapixels, AVIF took 10 s on a busy machine, the others less than 6 s. */
const TIMEOUT_MS = 30_000;
/** 96 megapixels took 110 MB as JPEG and 560 MB as PNG with interlacing; only AVIF takes more, from some 40 megapixels on. */
const MEMORY_MB = 768;
const LIMITS: DecodeLimits = { maxPixels: 100_000_000, maxPages: 100 };
/** A process may die for other reasons: the file is to blame only after a second crash. */
const MAX_CRASHES = 2;
/** An idle process holds some 80 MB and ends after this time. */
const IDLE_MS = 30_000;

export function createImageInspector(options: ImageInspectorOptions): ImageInspector {
  return new Pool(options);
}

class Pool implements ImageInspector {
  readonly #options: ImageInspectorOptions;
  readonly #maxProcesses: number;
  readonly #queue = new FairQueue();
  readonly #processes = new Set<InspectorProcess>();
  readonly #idle: { process: InspectorProcess; timer: Timer }[] = [];
  readonly #running = new Map<InspectorProcess, Job>();
  #closed: Promise<void> | null = null;

  constructor(options: ImageInspectorOptions) {
    this.#options = options;
    // Leaves one core for everything else.
    this.#maxProcesses = options.processes ?? Math.max(1, Math.min(MAX_PROCESSES, availableParallelism() - 1));
  }

  async inspect(paths: readonly string[], signal?: AbortSignal): Promise<ImageFacts[]> {
    const jobs = new Set<Job>();
    const drop = () => {
      for (const job of jobs) job.fail(signal?.reason);
    };
    signal?.throwIfAborted();
    if (this.#closed !== null) throw stopping();
    signal?.addEventListener("abort", drop, { once: true });
    try {
      return await Promise.all(
        paths.map((path) => {
          const { promise, resolve, reject } = Promise.withResolvers<ImageFacts>();
          const job: Job = {
            path,
            caller: jobs,
            crashes: 0,
            done: resolve,
            fail: (error) => {
              this.#drop(job);
              reject(error);
            },
          };
          jobs.add(job);
          this.#queue.add(job);
          this.#dispatch();
          return promise;
        }),
      );
    } catch (error) {
      // Nobody awaits the remaining jobs.
      for (const job of jobs) this.#drop(job);
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
    for (const job of [...this.#queue.all(), ...this.#running.values()]) job.fail(stopping());
    await Promise.all([...this.#processes].map((process) => process.end()));
  }

  /** A running decoder cannot be cancelled, so its process ends. */
  #drop(job: Job): void {
    this.#queue.delete(job);
    for (const [process, running] of this.#running) {
      if (running !== job) continue;
      this.#running.delete(process);
      void process.end();
    }
  }

  #dispatch(): void {
    while (!this.#queue.isEmpty) {
      const process = this.#takeIdle() ?? this.#start();
      if (process === null) return;
      const job = this.#queue.take()!;
      this.#running.set(process, job);
      process.assign(job.path);
    }
  }

  #takeIdle(): InspectorProcess | null {
    const idle = this.#idle.pop();
    idle?.timer.cancel();
    return idle?.process ?? null;
  }

  #start(): InspectorProcess | null {
    if (this.#closed !== null || this.#processes.size >= this.#maxProcesses) return null;
    const { clock, timeoutMs = TIMEOUT_MS, memoryMb = MEMORY_MB, limits } = this.#options;
    const process: InspectorProcess = new InspectorProcess({
      clock,
      timeoutMs,
      memoryMb,
      limits: { ...LIMITS, ...limits },
      onFacts: (facts) => {
        const job = this.#takeJob(process);
        if (!process.ending) this.#park(process);
        this.#dispatch();
        job?.done(facts);
      },
      onProblem: (problem, detail, sure) => {
        const job = this.#takeJob(process);
        if (job === undefined) return;
        job.crashes += 1;
        if (!sure && job.crashes < MAX_CRASHES) this.#queue.add(job);
        else job.done(problemOf(job.path, problem, detail));
      },
      onBroken: (error) => {
        // Another process would fail the same way.
        for (const job of [...this.#queue.all(), ...this.#running.values()]) job.fail(error);
      },
      onGone: () => {
        this.#processes.delete(process);
        this.#unpark(process);
        this.#dispatch();
      },
    });
    this.#processes.add(process);
    return process;
  }

  #takeJob(process: InspectorProcess): Job | undefined {
    const job = this.#running.get(process);
    this.#running.delete(process);
    return job;
  }

  #park(process: InspectorProcess): void {
    const timer = this.#options.clock.after(IDLE_MS, () => {
      this.#unpark(process);
      void process.end();
    });
    this.#idle.push({ process, timer });
  }

  #unpark(process: InspectorProcess): void {
    const at = this.#idle.findIndex((idle) => idle.process === process);
    if (at >= 0) this.#idle.splice(at, 1)[0]?.timer.cancel();
  }
}

/** Round-robin between callers: many files of one do not delay the few of another. */
class FairQueue {
  /** In turn order. */
  readonly #callers = new Map<Set<Job>, Set<Job>>();

  get isEmpty(): boolean {
    return this.#callers.size === 0;
  }

  all(): Job[] {
    return [...this.#callers.values()].flatMap((jobs) => [...jobs]);
  }

  add(job: Job): void {
    const jobs = this.#callers.get(job.caller);
    if (jobs === undefined) this.#callers.set(job.caller, new Set([job]));
    else jobs.add(job);
  }

  delete(job: Job): void {
    const jobs = this.#callers.get(job.caller);
    if (jobs?.delete(job) === true && jobs.size === 0) this.#callers.delete(job.caller);
  }

  take(): Job | null {
    for (const [caller, jobs] of this.#callers) {
      // Moves the caller to the end.
      this.#callers.delete(caller);
      this.#callers.set(caller, jobs);
      for (const job of jobs) {
        this.delete(job);
        return job;
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
