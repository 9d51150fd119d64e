/**
 * Pages are read in threads: parsing takes milliseconds that the main thread does not have, and a page or a rule that
 * never comes to an end can be stopped only from outside.
 */
import type { Clock } from "../base/clock.ts";
import { OrbError } from "../base/errors.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import type { Lesson, LessonInput } from "./learn/lesson.ts";
import type { PageInput } from "./page.ts";
import type { PlanSpec } from "./plan.ts";
import { ReaderThread } from "./reader-thread.ts";
import type { FollowOrder, KeptLinks } from "./follow.ts";
import type { Judge, PageReading } from "./reading.ts";
import type { SitemapFile, SitemapReading } from "./sitemap-file.ts";
import type { FromReader, ReadOrder } from "./thread.ts";

interface ReadOptions {
  /** Rejects with the signal's reason. What is being read already is read to its end, for nobody. */
  signal?: AbortSignal;
  /**
   * Nobody else needs `input.body` any more: its memory moves into the thread instead of being copied. The array is
   * empty (detached) afterwards. Bytes that share their memory with others are copied all the same.
   */
  owned?: boolean;
}

interface PageReadOptions extends ReadOptions {
  /** Also say whether the page is a challenge or an empty shell. */
  judge?: Judge;
  /** Also find the links that this crawl follows. */
  follow?: FollowOrder;
}

export interface PageReader {
  /**
   * First come, first served. Throws a FetchFailure `extraction_timeout` or `extraction_failed` that concerns this page
   * only, and an OrbError `input_invalid` for a spec that is no plan.
   */
  read(input: PageInput, spec: PlanSpec, options?: PageReadOptions): Promise<PageReading>;
  /** In the same line, with more time. Throws a FetchFailure that concerns this file only. */
  readSitemap(file: SitemapFile, options?: ReadOptions): Promise<SitemapReading>;
  /** Finds rules that give the examples. Also in the same line. */
  learn(lesson: LessonInput, options?: Pick<ReadOptions, "signal">): Promise<Lesson>;
  /** A crawl has these pages in its store: the next pages need not report them. */
  keep(links: KeptLinks): void;
  /** Ends what is in flight with `run_cancelled`; resolves when no thread is left. */
  close(): Promise<void>;
}

export interface PageReaderOptions {
  /** At most so many pages are read at once. Threads start when they are first needed. */
  threads: number;
  /** CPU time for a page of up to a megabyte. Larger pages have more: see `timeFor`. */
  timeoutMs: number;
  clock: Clock;
  /** Heap of one thread, at least 128: pages of 20 MB were read in 256. */
  memoryMb?: number;
}

interface Job {
  order: ReadOrder;
  owned: boolean;
  timeoutMs: number;
  resolve(reading: unknown): void;
  reject(error: unknown): void;
}

const DEFAULT_MEMORY_MB = 512;

/** 50 MiB of sitemap took 2 s on a busy machine: more than any page, and it may take as much longer as a page may. */
const SITEMAP_TIMES = 6;

/** Each page is asked many questions. */
const LEARN_TIMES = 4;

const MEGABYTE = 1_000_000;
/** Of the time for a page, for each megabyte of it: 3.2 MB with 17,000 blocks took 2.7 s of CPU. */
const MORE_PER_MEGABYTE = 0.4;

function timeFor({ body }: PageInput, timeoutMs: number): number {
  return Math.round(timeoutMs * (1 + MORE_PER_MEGABYTE * Math.max(0, body.length / MEGABYTE - 1)));
}

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

  read(input: PageInput, spec: PlanSpec, options: PageReadOptions = {}): Promise<PageReading> {
    const { judge = null, follow = null } = options;
    const order = { kind: "page", input, spec: textOf(spec), request: { judge, follow } } as const;
    return this.#read<PageReading>(order, timeFor(input, this.#options.timeoutMs), options);
  }

  readSitemap(input: SitemapFile, options: ReadOptions = {}): Promise<SitemapReading> {
    return this.#read<SitemapReading>({ kind: "sitemap", input }, SITEMAP_TIMES * this.#options.timeoutMs, options);
  }

  learn(input: LessonInput, options: ReadOptions = {}): Promise<Lesson> {
    const timeoutMs = input.pages.reduce((sum, page) => sum + timeFor(page.input, this.#options.timeoutMs), 0);
    return this.#read<Lesson>({ kind: "learn", input }, LEARN_TIMES * timeoutMs, options);
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
      this.#next();
    });
  }

  keep(links: KeptLinks): void {
    for (const thread of this.#threads) thread.keep(links);
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
      thread.give(job);
    }
  }

  #start(): ReaderThread | null {
    const { threads, clock, memoryMb = DEFAULT_MEMORY_MB } = this.#options;
    if (this.#threads.size >= Math.max(1, threads)) return null;
    const thread = new ReaderThread({
      clock,
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
