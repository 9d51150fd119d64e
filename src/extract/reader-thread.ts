import { getCompileCacheDir } from "node:module";
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import type { Clock, Timer } from "../base/clock.ts";
import { messageOf, systemCode } from "../base/errors.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import type { KeptLinks } from "./follow.ts";
import type { FromReader, ReadOrder } from "./thread.ts";

export interface ReadJob {
  order: ReadOrder;
  /** The body is transferred instead of copied. */
  owned: boolean;
  timeoutMs: number;
}

interface ReaderThreadOptions<Job extends ReadJob> {
  clock: Clock;
  memoryMb: number;
  onAnswer(job: Job, answer: Exclude<FromReader, { kind: "ready" }>): void;
  /** The current job failed, and the thread ends; `unread` jobs wait behind it. Not called for an idle thread. */
  onFailure(job: Job, failure: FetchFailure, unread: readonly Job[]): void;
  /** The thread has exited. */
  onGone(): void;
}

/** Generous: loading the code on a busy machine. */
const START_TIMEOUT_MS = 120_000;
/** On a busy machine, the wall-clock limit of a page is this multiple of its CPU limit. */
const MAX_EXTENSIONS = 12;

/**
 * At its heap limit Node grants a thread some extra memory and terminates it at the next safepoint; exceeding the extra
 * memory aborts the whole process. So the young generation, which may be promoted at once, is small (even smaller costs
 * time), and the limit is never so low that a single part of a page could exceed it.
 */
const YOUNG_MB = 16;
/**
 * V8 lets the young generation of a thread shrink to a megabyte while the thread waits, less than the tree of a page:
 * 3,000 pages then took 4,400 collections, a third of the thread's time. It applies to threads that start later.
 */
const MIN_SEMI_SPACE_MB = 8;
const MIN_MB = 128;
/** Links per crawl, and crawls, that wait for the next order. */
const MAX_KEPT = 10_000;
const MAX_CRAWLS = 100;

/** Of pages in a thread: while the main thread takes an answer, the thread reads the next page. */
const MAX_JOBS = 2;

/** One worker thread: takes jobs, then answers, fails or dies. Unref'd while idle. */
export class ReaderThread<Job extends ReadJob> {
  readonly #options: ReaderThreadOptions<Job>;
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  #ready = false;
  #ending = false;
  /** In the thread: the first one is read, the others wait. */
  readonly #jobs: Job[] = [];
  #timer: Timer | null = null;
  /** CPU time before the current job. */
  #cpuMs = 0;
  #extensions = 0;
  /** Since it has jobs; null: it has none. */
  #busySince: number | null = null;
  #busyMs = 0;
  /** By crawl: link keys to send with the next order. */
  readonly #kept = new Map<string, string[]>();

  constructor(options: ReaderThreadOptions<Job>) {
    this.#options = options;
    setFlagsFromString(`--min-semi-space-size=${MIN_SEMI_SPACE_MB}`);
    const code = new URL("./thread-start.ts", import.meta.url);
    this.#worker = new Worker(code, {
      // No environment and no flags: code that reads untrusted pages must not see the configuration's secrets.
      env: {},
      execArgv: [],
      workerData: { compiledIn: getCompileCacheDir() },
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: this.#memoryMb, maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#worker.unref();
    this.#worker.on("message", (message: FromReader) => this.#onMessage(message));
    this.#worker.on("error", (error) => this.#fail("extraction_failed", this.#describe(error)));
    this.#worker.on("messageerror", (error) => this.#fail("extraction_failed", messageOf(error)));
    this.#exited = new Promise((resolve) => {
      this.#worker.on("exit", () => {
        this.#fail("extraction_failed", "the extraction thread exited");
        options.onGone();
        resolve();
      });
    });
  }

  get jobs(): readonly Job[] {
    return this.#jobs;
  }

  /** For how long it has had jobs. */
  get busyMs(): number {
    return this.#busyMs + (this.#busySince === null ? 0 : this.#options.clock.monotonic() - this.#busySince);
  }

  /** Whether a job may wait behind those in the thread. What fails with its thread is read again, so it must be kept. */
  takes(job: Job): boolean {
    const isShort = ({ order, owned }: Job) => order.kind === "page" && !owned;
    return this.#ready && this.#jobs.length < MAX_JOBS && [...this.#jobs, job].every(isShort);
  }

  assign(job: Job): void {
    this.#jobs.push(job);
    if (this.#jobs.length === 1) {
      this.#worker.ref();
      this.#busySince = this.#options.clock.monotonic();
      this.#begin();
    }
    const { order, owned } = job;
    const kept = [...this.#kept.entries()].map(([crawl, keys]) => ({ crawl, keys }) satisfies KeptLinks);
    this.#kept.clear();
    if (order.kind === "learn" || order.kind === "repair") return this.#worker.postMessage({ order, kept });
    const { body } = order.input;
    if (typeof body === "string") return this.#worker.postMessage({ order, kept });
    const moved = owned && body.byteLength === body.buffer.byteLength ? body : copyOf(body);
    const message = { order: { ...order, input: { ...order.input, body: moved } }, kept };
    this.#worker.postMessage(message, [moved.buffer as ArrayBuffer]);
  }

  /** Sent with the next order. */
  keep({ crawl, keys }: KeptLinks): void {
    const before = this.#kept.get(crawl);
    // Bounded: an idle thread would collect them for ever. Dropped links are only reported again.
    if (before === undefined) {
      if (this.#kept.size < MAX_CRAWLS) this.#kept.set(crawl, [...keys]);
    } else if (before.length < MAX_KEPT) before.push(...keys);
  }

  /** Resolves when the thread has exited. */
  end(): Promise<void> {
    this.#ending = true;
    this.#jobs.length = 0;
    this.#rest();
    void this.#worker.terminate();
    return this.#exited;
  }

  #onMessage(message: FromReader): void {
    this.#cpuMs = message.cpuMs;
    if (message.kind === "ready") {
      this.#ready = true;
      // Restarts the timer with the job's own limit.
      if (this.#jobs.length > 0) this.#startTimer();
      // Not one that ends: `end` waits for its exit, and the process must last until then.
      else if (!this.#ending) this.#worker.unref();
      return;
    }
    const job = this.#jobs.shift();
    if (job === undefined) return;
    if (this.#jobs.length === 0) this.#rest();
    else this.#begin();
    this.#options.onAnswer(job, message);
  }

  #begin(): void {
    this.#extensions = 0;
    this.#startTimer();
  }

  #startTimer(): void {
    const { clock } = this.#options;
    const { timeoutMs } = this.#jobs[0]!;
    this.#timer?.cancel();
    this.#timer = this.#ready
      ? clock.after(timeoutMs, () => void this.#onTimeout())
      : clock.after(START_TIMEOUT_MS, () => this.#fail("extraction_failed", "the extraction thread did not start"));
  }

  /** Fails the job only if the thread used that much CPU time: a busy machine is not the page's fault. */
  async #onTimeout(): Promise<void> {
    const before = this.#cpuMs;
    const { timeoutMs } = this.#jobs[0]!;
    const fail = () => this.#fail("extraction_timeout", `reading the page took longer than ${timeoutMs} ms`);
    this.#extensions += 1;
    if (this.#extensions >= MAX_EXTENSIONS) return fail();
    // Re-armed first: `cpuUsage` may never resolve.
    this.#startTimer();
    const usage = await this.#worker.cpuUsage().catch(() => null);
    // The thread answered meanwhile, and may be at the next page.
    if (usage === null || this.#cpuMs !== before) return;
    if ((usage.user + usage.system) / 1000 - before >= timeoutMs) fail();
  }

  #fail(reason: "extraction_timeout" | "extraction_failed", message: string): void {
    const [job, ...unread] = this.#jobs;
    if (job === undefined) return;
    void this.end();
    this.#options.onFailure(job, new FetchFailure(reason, message), unread);
  }

  #rest(): void {
    this.#busyMs = this.busyMs;
    this.#busySince = null;
    this.#timer?.cancel();
    this.#timer = null;
    this.#worker.unref();
  }

  get #memoryMb(): number {
    return Math.max(MIN_MB, this.#options.memoryMb);
  }

  #describe(error: unknown): string {
    if (systemCode(error) === "ERR_WORKER_OUT_OF_MEMORY")
      return `reading the page needs more than ${this.#memoryMb} MB of memory`;
    return `the extraction thread exited: ${messageOf(error)}`;
  }
}

/**
 * postMessage copies the whole underlying ArrayBuffer, which usually also holds other data of the connection: copying
 * the page alone and transferring the copy takes less than half the time.
 */
function copyOf(body: Uint8Array): Uint8Array {
  const copy = Buffer.allocUnsafeSlow(body.byteLength);
  copy.set(body);
  return copy;
}
