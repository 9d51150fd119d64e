import type { Clock, Timer } from "../base/clock.ts";
import type { Span } from "./span.ts";

interface SpanQueueOptions {
  clock: Clock;
  send: (spans: readonly Span[]) => Promise<unknown>;
  delayMs: number;
}

/** Spans per call; more wait for the next one. */
const MOST_PER_BATCH = 512;
/** While the collector is away, memory stays bounded: newer spans are dropped. */
const MOST_QUEUED = 20_000;

/** Collects spans and sends them in batches, one call at a time. */
export class SpanQueue {
  readonly #options: SpanQueueOptions;
  #spans: Span[] = [];
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

  add(span: Span): void {
    if (this.#closed || this.#spans.length >= MOST_QUEUED) {
      this.#dropped += 1;
      return;
    }
    this.#spans.push(span);
    if (this.#spans.length >= MOST_PER_BATCH) this.#send();
    else this.#timer ??= this.#options.clock.after(this.#options.delayMs, () => this.#send());
  }

  #send(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#sending ??= this.#sendBatches().finally(() => {
      this.#sending = null;
      // What came meanwhile waits for others again: a call costs as much as hundreds of spans.
      if (this.#spans.length > 0) this.#timer ??= this.#options.clock.after(this.#options.delayMs, () => this.#send());
    });
  }

  async #sendBatches(): Promise<void> {
    do await this.#options.send(this.#spans.splice(0, MOST_PER_BATCH));
    while (this.#spans.length >= MOST_PER_BATCH);
  }

  /** Sends what is left. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#sending;
    this.#timer?.cancel();
    while (this.#spans.length > 0) await this.#options.send(this.#spans.splice(0, MOST_PER_BATCH));
  }
}
