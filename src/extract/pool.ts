/**
 * Pages are read in threads: parsing takes milliseconds that the main thread does not have, and a page or a rule that
 * never comes to an end can be stopped only from outside.
 */
import type { Clock } from "../base/clock.ts";
import { OrbError } from "../base/errors.ts";
import { FetchFailure } from "../domain/failure.ts";
import type { PageInput } from "./page.ts";
import type { PlanSpec } from "./plan.ts";
import { ReaderThread } from "./reader-thread.ts";
import type { FollowOrder } from "./follow.ts";
import type { Judge, PageReading } from "./reading.ts";
import type { FromReader, ReadOrder } from "./thread.ts";

export interface ReadOptions {
  /** Rejects with the signal's reason. A page that is being read already is read to its end, for nobody. */
  signal?: AbortSignal;
  /** Also say whether the page is a challenge or an empty shell. */
  judge?: Judge;
  /** Also find the links that this crawl follows. */
  follow?: FollowOrder;
  /**
   * Nobody else needs `input.body` any more: its memory moves into the thread instead of being copied. The array is
   * empty (detached) afterwards. Bytes that share their memory with others are copied all the same.
   */
  owned?: boolean;
}

export interface PageReader {
  /**
   * First come, first served. Throws a FetchFailure `extraction_timeout` or `extraction_failed` that concerns this page
   * only, and an OrbError `input_invalid` for a spec that is no plan.
   */
  read(input: PageInput, spec: PlanSpec, options?: ReadOptions): Promise<PageReading>;
  /** These links of a crawl were not followed: found on another page, they are told again. */
  forget(crawl: string, keys: readonly string[]): void;
  /** Ends what is in flight with `run_cancelled`; resolves when no thread is left. */
  close(): Promise<void>;
}

export interface PageReaderOptions {
  /** At most so many pages are read at once. Threads start when they are first needed. */
  threads: number;
  /** For one page, from the moment its thread begins with it. */
  timeoutMs: number;
  clock: Clock;
  /** Heap of one thread, at least 128: pages of 20 MB were read in 256. */
  memoryMb?: number;
}

interface Job {
  order: ReadOrder;
  owned: boolean;
  resolve(reading: PageReading): void;
  reject(error: unknown): void;
}

const DEFAULT_MEMORY_MB = 512;

export function createPageReader(options: PageReaderOptions): PageReader {
  return new Pool(options);
}

class Pool implements PageReader {
  readonly #options: PageReaderOptions;
  readonly #queue = new Set<Job>();
  readonly #threads = new Set<ReaderThread>();
  /** The one that was used last is taken first: its plans and its code are warm. */
  readonly #idle: ReaderThread[] = [];
  readonly #running = new Map<ReaderThread, Job>();
  #closed: Promise<void> | null = null;

  constructor(options: PageReaderOptions) {
    this.#options = options;
  }

  read(input: PageInput, spec: PlanSpec, options: ReadOptions = {}): Promise<PageReading> {
    const { signal, judge = null, follow = null, owned = false } = options;
    return new Promise((resolve, reject) => {
      if (this.#closed !== null) return reject(stopping());
      if (signal?.aborted === true) return reject(signal.reason);
      const onAbort = () => {
        this.#queue.delete(job);
        reject(signal?.reason);
      };
      const job: Job = {
        order: { input, spec: textOf(spec), wishes: { judge, follow } },
        owned,
        resolve(reading) {
          signal?.removeEventListener("abort", onAbort);
          resolve(reading);
        },
        reject(error) {
          signal?.removeEventListener("abort", onAbort);
          reject(error);
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#queue.add(job);
      this.#next();
    });
  }

  forget(crawl: string, keys: readonly string[]): void {
    for (const thread of this.#threads) thread.forget({ crawl, keys });
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    for (const job of [...this.#queue, ...this.#running.values()]) job.reject(stopping());
    this.#queue.clear();
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #next(): void {
    for (const job of this.#queue) {
      const thread = this.#idle.pop() ?? this.#start();
      if (thread === null) return;
      this.#queue.delete(job);
      this.#running.set(thread, job);
      thread.give(job.order, job.owned);
    }
  }

  #start(): ReaderThread | null {
    const { threads, timeoutMs, clock, memoryMb = DEFAULT_MEMORY_MB } = this.#options;
    if (this.#threads.size >= Math.max(1, threads)) return null;
    const thread = new ReaderThread({
      clock,
      timeoutMs,
      memoryMb,
      onAnswer: (answer) => {
        const job = this.#take(thread);
        this.#idle.push(thread);
        // The thread gets its next page before anybody looks at this one.
        this.#next();
        if (job !== undefined) settle(job, answer);
      },
      onFailure: (failure) => this.#take(thread)?.reject(failure),
      onGone: () => {
        this.#threads.delete(thread);
        const at = this.#idle.indexOf(thread);
        if (at >= 0) this.#idle.splice(at, 1);
        if (this.#closed === null) this.#next();
      },
    });
    this.#threads.add(thread);
    return thread;
  }

  #take(thread: ReaderThread): Job | undefined {
    const job = this.#running.get(thread);
    this.#running.delete(thread);
    return job;
  }
}

const texts = new WeakMap<PlanSpec, string>();

/** All pages of a crawl have the same spec. */
function textOf(spec: PlanSpec): string {
  let text = texts.get(spec);
  if (text === undefined) texts.set(spec, (text = JSON.stringify(spec)));
  return text;
}

function settle(job: Job, answer: Exclude<FromReader, { kind: "ready" }>): void {
  if (answer.kind === "read") return job.resolve(JSON.parse(answer.reading) as PageReading);
  if (answer.kind === "invalid")
    return job.reject(new OrbError("input_invalid", answer.message, { fields: answer.fields }));
  return job.reject(new FetchFailure("extraction_failed", `the page could not be read: ${answer.message}`));
}

function stopping(): FetchFailure {
  return new FetchFailure("run_cancelled", "the program is stopping");
}
