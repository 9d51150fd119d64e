/**
 * Reads pages in worker threads: parsing would block the main thread for milliseconds, and a page or rule that never
 * finishes can only be stopped from outside.
 */
import type { Clock } from "../base/clock.ts";
import { OrbError } from "../base/errors.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import type { Lesson, LessonInput } from "./learn/lesson.ts";
import type { RepairedRules, RepairOrder } from "./learn/repair.ts";
import type { PageInput } from "./page.ts";
import type { PlanSpec } from "./plan.ts";
import { type ReadJob, ReaderThread } from "./reader-thread.ts";
import type { FollowOrder, KeptLinks } from "./follow.ts";
import type { Judge, PageReading } from "./reading.ts";
import type { SitemapFile, SitemapReading } from "./sitemap-file.ts";
import type { FromReader, ReadOrder } from "./thread.ts";

interface ReadOptions {
  /** Rejects with the abort reason. A read that has started continues, and its result is dropped. */
  signal?: AbortSignal;
  /**
   * The caller gives up `input.body`: its buffer is transferred instead of copied, and is detached afterwards. A view
   * into a larger buffer is copied nevertheless.
   */
  owned?: boolean;
}

interface PageReadOptions extends ReadOptions {
  /** Also detect challenges and empty shells. */
  judge?: Judge;
  /** Also find the links for this crawl. */
  follow?: FollowOrder;
}

export interface PageReader {
  /**
   * FIFO. Throws a FetchFailure `extraction_timeout` or `extraction_failed` for this page only, and an OrbError
   * `input_invalid` for an invalid spec.
   */
  read(input: PageInput, spec: PlanSpec, options?: PageReadOptions): Promise<PageReading>;
  /** Same queue, longer timeout. Throws a FetchFailure for this file only. */
  readSitemap(file: SitemapFile, options?: ReadOptions): Promise<SitemapReading>;
  /** Finds rules that produce the examples. Same queue. */
  learn(lesson: LessonInput, options?: Pick<ReadOptions, "signal">): Promise<Lesson>;
  /** Finds rules in place of broken ones. Same queue. */
  repair(order: RepairOrder, options?: Pick<ReadOptions, "signal">): Promise<RepairedRules>;
  /** These pages are in the crawl's store: later pages do not report them. */
  keep(links: KeptLinks): void;
  /** Starts a thread ahead of the first page, which is read sooner then. */
  warm(): void;
  /** For how long threads have read, all together, and how many there may be. */
  busy(): { ms: number; threads: number };
  /** Fails reads in flight with `run_cancelled`; resolves when all threads have exited. */
  close(): Promise<void>;
}

export interface PageReaderOptions {
  /** Upper bound of concurrent reads. Threads start on demand. */
  threads: number;
  /** CPU time for a page of up to a megabyte. Larger pages get more: see `timeoutFor`. */
  timeoutMs: number;
  clock: Clock;
  /** Heap per thread, at least 128: pages of 20 MB fit in 256. */
  memoryMb?: number;
}

interface Job extends ReadJob {
  /** Nobody waits for it any more. */
  isAborted(): boolean;
  resolve(reading: unknown): void;
  reject(error: unknown): void;
}

const DEFAULT_MEMORY_MB = 512;

/** A 50 MiB sitemap took 2 s on a busy machine, more than any page. */
const SITEMAP_TIMEOUT_FACTOR = 6;

/** Learning evaluates each page many times. */
const LEARN_TIMEOUT_FACTOR = 4;

const MEGABYTE = 1_000_000;
/** Share of the timeout added per megabyte: 3.2 MB with 17,000 blocks took 2.7 s of CPU. */
const EXTRA_PER_MEGABYTE = 0.4;

function timeoutFor({ body }: PageInput, timeoutMs: number): number {
  return Math.round(timeoutMs * (1 + EXTRA_PER_MEGABYTE * Math.max(0, body.length / MEGABYTE - 1)));
}

export function createPageReader(options: PageReaderOptions): PageReader {
  return new Pool(options);
}

class Pool implements PageReader {
  readonly #options: PageReaderOptions;
  #queue = new Set<Job>();
  readonly #threads = new Set<ReaderThread<Job>>();
  /** LIFO: the plans and the JIT code of the last used thread are warm. */
  readonly #idle: ReaderThread<Job>[] = [];
  #closed: Promise<void> | null = null;
  /** Of threads that are gone. */
  #busyMs = 0;

  constructor(options: PageReaderOptions) {
    this.#options = options;
  }

  read(input: PageInput, spec: PlanSpec, options: PageReadOptions = {}): Promise<PageReading> {
    const { judge = null, follow = null } = options;
    const order = { kind: "page", input, spec: specText(spec), request: { judge, follow } } as const;
    return this.#read<PageReading>(order, timeoutFor(input, this.#options.timeoutMs), options);
  }

  readSitemap(input: SitemapFile, options: ReadOptions = {}): Promise<SitemapReading> {
    return this.#read<SitemapReading>(
      { kind: "sitemap", input },
      SITEMAP_TIMEOUT_FACTOR * this.#options.timeoutMs,
      options,
    );
  }

  learn(input: LessonInput, options: ReadOptions = {}): Promise<Lesson> {
    const timeoutMs = input.pages.reduce((sum, page) => sum + timeoutFor(page.input, this.#options.timeoutMs), 0);
    return this.#read<Lesson>({ kind: "learn", input }, LEARN_TIMEOUT_FACTOR * timeoutMs, options);
  }

  repair(input: RepairOrder, options: ReadOptions = {}): Promise<RepairedRules> {
    const pages = [...input.pairs.flatMap(({ before, now }) => [before, now]), ...input.others];
    const timeoutMs = pages.reduce((sum, page) => sum + timeoutFor(page, this.#options.timeoutMs), 0);
    // Each field is learned on its own.
    const factor = LEARN_TIMEOUT_FACTOR * Math.max(1, input.broken.length);
    return this.#read<RepairedRules>({ kind: "repair", input }, factor * timeoutMs, options);
  }

  #read<Reading>(order: ReadOrder, timeoutMs: number, { signal, owned = false }: ReadOptions): Promise<Reading> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== null) return reject(stopping());
      if (signal?.aborted === true) return reject(signal.reason);
      const onAbort = () => {
        this.#queue.delete(job);
        reject(signal?.reason);
      };
      const job: Job = {
        order,
        owned,
        timeoutMs,
        isAborted: () => signal?.aborted === true,
        resolve(reading) {
          signal?.removeEventListener("abort", onAbort);
          resolve(reading as Reading);
        },
        reject(error) {
          signal?.removeEventListener("abort", onAbort);
          reject(error);
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#queue.add(job);
      this.#dispatch();
    });
  }

  keep(links: KeptLinks): void {
    for (const thread of this.#threads) thread.keep(links);
  }

  warm(): void {
    if (this.#closed !== null || this.#threads.size > 0) return;
    const thread = this.#start();
    if (thread !== null) this.#idle.push(thread);
  }

  busy(): { ms: number; threads: number } {
    const ms = [...this.#threads].reduce((sum, thread) => sum + thread.busyMs, this.#busyMs);
    return { ms, threads: Math.max(1, this.#options.threads) };
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    const inThreads = [...this.#threads].flatMap((thread) => thread.jobs);
    for (const job of [...this.#queue, ...inThreads]) job.reject(stopping());
    this.#queue.clear();
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #dispatch(): void {
    for (const job of this.#queue) {
      const thread = this.#idle.pop() ?? this.#start() ?? this.#withRoom(job);
      if (thread === null) return;
      this.#queue.delete(job);
      thread.assign(job);
    }
  }

  /** A thread that reads another page: it begins with this one at once when it is done. */
  #withRoom(job: Job): ReaderThread<Job> | null {
    for (const thread of this.#threads) if (thread.takes(job)) return thread;
    return null;
  }

  #start(): ReaderThread<Job> | null {
    const { threads, clock, memoryMb = DEFAULT_MEMORY_MB } = this.#options;
    if (this.#threads.size >= Math.max(1, threads)) return null;
    const thread: ReaderThread<Job> = new ReaderThread<Job>({
      clock,
      memoryMb,
      onAnswer: (job, answer) => {
        if (thread.jobs.length === 0) this.#idle.push(thread);
        // The thread gets its next page before this result is processed.
        this.#dispatch();
        settle(job, answer);
      },
      onFailure: (job, failure, unread) => {
        this.#queue = new Set([...unread.filter((other) => !other.isAborted()), ...this.#queue]);
        job.reject(failure);
      },
      onGone: () => {
        this.#threads.delete(thread);
        this.#busyMs += thread.busyMs;
        const at = this.#idle.indexOf(thread);
        if (at >= 0) this.#idle.splice(at, 1);
        if (this.#closed === null) this.#dispatch();
      },
    });
    this.#threads.add(thread);
    return thread;
  }
}

const specTexts = new WeakMap<PlanSpec, string>();

/** Cached: all pages of a crawl have the same spec. */
function specText(spec: PlanSpec): string {
  let text = specTexts.get(spec);
  if (text === undefined) specTexts.set(spec, (text = JSON.stringify(spec)));
  return text;
}

function settle(job: Job, answer: Exclude<FromReader, { kind: "ready" }>): void {
  if (answer.kind === "read") return job.resolve(JSON.parse(answer.reading));
  if (answer.kind === "invalid")
    return job.reject(new OrbError("input_invalid", answer.message, { fields: answer.fields }));
  const { reason, message } = answer;
  if (reason !== null) return job.reject(new FetchFailure(reason, message));
  return job.reject(new FetchFailure("extraction_failed", `the page could not be read: ${message}`));
}

function stopping(): FetchFailure {
  return new FetchFailure("run_cancelled", "the program is stopping");
}
