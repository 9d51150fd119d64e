import type { Clock, Timer } from "../base/clock.ts";
import type { SpanBatch } from "./payload.ts";
import type { Span } from "./span.ts";

interface SpanQueueOptions {
  clock: Clock;
  batch: SpanBatch;
  send: (body: Buffer) => Promise<unknown>;
  delayMs: number;
}

/** Spans per call, some 400 kB; more wait for the next one. A call costs as much as hundreds of spans. */
const MOST_PER_BATCH = 2000;
/** While the collector is away, memory stays bounded: newer spans are dropped. */
const MOST_QUEUED = 20_000;

/** Collects spans and sends them in batches, one call at a time. */
export class SpanQueue {
  readonly #options: SpanQueueOptions;
  readonly #full: { body: Buffer; count: number }[] = [];
  #queued = 0;
  #timer: Timer | null = null;
  #sending: Promise<void> | null = null;
  #dropped = 0;
  #closed = false;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  get dropped(): number {
    return this.#dropped;
  }

  readonly add = (span: Span): void => {
    if (this.#closed || this.#queued >= MOST_QUEUED) {
      this.#dropped += 1;
      return;
    }
    const { batch, clock, delayMs } = this.#options;
    batch.add(span);
    this.#queued += 1;
    if (batch.count >= MOST_PER_BATCH) {
      this.#cut();
      this.#send();
    } else this.#timer ??= clock.after(delayMs, () => this.#send());
  };

  /** The open batch becomes one that can be sent. */
  #cut(): void {
    const { batch } = this.#options;
    const { count } = batch;
    if (count > 0) this.#full.push({ body: batch.take(), count });
  }

  #send(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#sending ??= this.#sendBatches().finally(() => {
      this.#sending = null;
      // What came meanwhile waits for others again.
      const { clock, delayMs } = this.#options;
      if (this.#queued > 0) this.#timer ??= clock.after(delayMs, () => this.#send());
    });
  }

  async #sendBatches(): Promise<void> {
    if (this.#full.length === 0) this.#cut();
    for (let next = this.#full.shift(); next !== undefined; next = this.#full.shift()) {
      this.#queued -= next.count;
      await this.#options.send(next.body);
    }
  }

  /** Sends what is left. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#sending;
    this.#timer?.cancel();
    this.#cut();
    await this.#sendBatches();
  }
}
