import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import type { Clock, Timer } from "../base/clock.ts";
import { messageOf, systemCode } from "../base/errors.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import type { KeptLinks } from "./follow.ts";
import type { FromReader, ReadOrder } from "./thread.ts";

interface ReaderThreadOptions {
  clock: Clock;
  memoryMb: number;
  onAnswer(answer: Exclude<FromReader, { kind: "ready" }>): void;
  /** The page that it was reading failed, and the thread ends. Not called for a thread that was idle. */
  onFailure(failure: FetchFailure): void;
  /** Nothing is left of it. */
  onGone(): void;
}

/** Loading the code, on a machine that is busy with something else. */
const START_TIMEOUT_MS = 120_000;
/** A machine that is busy with something else gives a page up to so many times its time. */
const MOST_TIMES = 12;

/**
 * At the limit of its heap Node grants a thread some more and ends it at its next step; what does not fit in that ends
 * the whole process. So the part for new objects, which may have to move at once, is small (smaller still costs time),
 * and the limit is never so low that a single piece of a page could pass it.
 */
const YOUNG_MB = 16;
const LEAST_MB = 128;
const MOST_KEPT = 10_000;

/** One thread as its pool sees it: it gets a page, and answers, fails or dies. Idle, it does not keep the process alive. */
export class ReaderThread {
  readonly #options: ReaderThreadOptions;
  readonly #worker: Worker;
  readonly #gone: Promise<void>;
  #ready = false;
  #busy = false;
  #timer: Timer | null = null;
  /** For what it is reading. */
  #timeoutMs = 0;
  /** What it had used of the processor before, and how often its time has passed since. */
  #cpuMs = 0;
  #times = 0;
  /** By crawl. */
  readonly #kept = new Map<string, string[]>();

  constructor(options: ReaderThreadOptions) {
    this.#options = options;
    const code = new URL("./thread-start.ts", import.meta.url);
    this.#worker = new Worker(code, {
      // No environment and no flags: secrets of the configuration are not the business of strangers' pages.
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
    this.#gone = new Promise((resolve) => {
      this.#worker.on("exit", () => {
        this.#fail("extraction_failed", "the thread that read the page ended");
        options.onGone();
        resolve();
      });
    });
  }

  give({ order, owned, timeoutMs }: { order: ReadOrder; owned: boolean; timeoutMs: number }): void {
    this.#busy = true;
    this.#timeoutMs = timeoutMs;
    this.#times = 0;
    this.#worker.ref();
    this.#watch();
    const kept = [...this.#kept.entries()].map(([crawl, keys]) => ({ crawl, keys }) satisfies KeptLinks);
    this.#kept.clear();
    if (order.kind === "learn") return this.#worker.postMessage({ order, kept });
    const { body } = order.input;
    if (typeof body === "string") return this.#worker.postMessage({ order, kept });
    const moved = owned && body.byteLength === body.buffer.byteLength ? body : copyOf(body);
    const message = { order: { ...order, input: { ...order.input, body: moved } }, kept };
    this.#worker.postMessage(message, [moved.buffer as ArrayBuffer]);
  }

  /** Sent with the next order: it is of use only then. */
  keep({ crawl, keys }: KeptLinks): void {
    const before = this.#kept.get(crawl);
    if (before === undefined) this.#kept.set(crawl, [...keys]);
    // An idle thread would collect them for ever; links it does not know are reported again.
    else if (before.length < MOST_KEPT) before.push(...keys);
  }

  /** Resolves when nothing of it is left. */
  end(): Promise<void> {
    this.#rest();
    void this.#worker.terminate();
    return this.#gone;
  }

  #onMessage(message: FromReader): void {
    this.#cpuMs = message.cpuMs;
    if (message.kind === "ready") {
      this.#ready = true;
      // The page's own time begins now.
      if (this.#busy) this.#watch();
      return;
    }
    if (!this.#busy) return;
    this.#rest();
    this.#options.onAnswer(message);
  }

  #watch(): void {
    const { clock } = this.#options;
    const timeoutMs = this.#timeoutMs;
    this.#timer?.cancel();
    this.#timer = this.#ready
      ? clock.after(timeoutMs, () => void this.#late())
      : clock.after(START_TIMEOUT_MS, () => this.#fail("extraction_failed", "the thread for the page did not start"));
  }

  /** Its time is over, unless the machine has not let it have that: a page is to blame for what it takes itself. */
  async #late(): Promise<void> {
    const [timeoutMs, before] = [this.#timeoutMs, this.#cpuMs];
    const fail = () => this.#fail("extraction_timeout", `reading the page took longer than ${timeoutMs} ms`);
    this.#times += 1;
    if (this.#times >= MOST_TIMES) return fail();
    // Whether the thread says so or not, it is looked again.
    this.#watch();
    const usage = await this.#worker.cpuUsage().catch(() => null);
    // It has answered meanwhile, and may be at the next page.
    if (usage === null || this.#cpuMs !== before) return;
    if ((usage.user + usage.system) / 1000 - before >= timeoutMs) fail();
  }

  #fail(reason: "extraction_timeout" | "extraction_failed", message: string): void {
    if (!this.#busy) return;
    void this.end();
    this.#options.onFailure(new FetchFailure(reason, message));
  }

  #rest(): void {
    this.#busy = false;
    this.#timer?.cancel();
    this.#timer = null;
    this.#worker.unref();
  }

  get #memoryMb(): number {
    return Math.max(LEAST_MB, this.#options.memoryMb);
  }

  #describe(error: unknown): string {
    if (systemCode(error) === "ERR_WORKER_OUT_OF_MEMORY")
      return `reading the page needs more than ${this.#memoryMb} MB of memory`;
    return `the thread that read the page ended: ${messageOf(error)}`;
  }
}

/**
 * A message copies the whole memory that a buffer lies in, and a page mostly lies in one with the rest of what its
 * connection sent: copying the page alone and moving the copy takes less than half of that.
 */
function copyOf(body: Uint8Array): Uint8Array {
  const copy = Buffer.allocUnsafeSlow(body.byteLength);
  copy.set(body);
  return copy;
}
