import { retryWhileUnavailable, type FollowDeps, type FollowedEvent, followPages, newestEvent } from "./follow.ts";

/** Events of one read, serialised. */
interface Batch {
  ids: string[];
  texts: string[];
  all: string;
  last: string;
}

/** Events kept for readers that reconnect or are slow. */
const MAX_KEPT = 5000;
const PAGE_SIZE = 200;

/**
 * The events of all runs for many readers: read and serialised once for all of them, and not at all without readers. A
 * reader that reconnects far behind reads from the store until it has caught up.
 */
export class SharedFeed {
  readonly #deps: FollowDeps;
  readonly #toText: (event: FollowedEvent) => string;
  #readers = 0;
  #stop = new AbortController();
  #started: Promise<void> | null = null;
  #failure: unknown = null;
  /** The newest batches, numbered from `#first`; `#last` is the position behind them. */
  #batches: Batch[] = [];
  #first = 0;
  #kept = 0;
  #last = "";
  #waiting: (() => void)[] = [];

  constructor(deps: FollowDeps, toText: (event: FollowedEvent) => string) {
    this.#deps = deps;
    this.#toText = toText;
  }

  /** Events after `after`, or from now on; the first value only carries the starting position. */
  async *follow(after: string | null, signal: AbortSignal): AsyncGenerator<{ text: string; last: string }> {
    this.#addReader();
    const wake = () => this.#wakeAll();
    signal.addEventListener("abort", wake, { once: true });
    try {
      if ((await retryWhileUnavailable(this.#deps.clock, signal, () => this.#start())) === null) return;
      let last = after ?? this.#last;
      yield { text: "", last };
      /** The number of the next batch; null: older than the kept ones. */
      let next: number | null = null;
      while (!signal.aborted) {
        if (next !== null && next < this.#first) next = null;
        if (next === null) {
          const found = this.#find(last);
          const text = found?.text ?? "";
          if (found !== null) {
            [next, last] = [found.next, found.last];
            if (text !== "") yield { text, last };
            continue;
          }
          const page = await this.#read(last, signal);
          if (page === null) return;
          last = page.last;
          if (page.text !== "") yield page;
          if (page.isFull || this.#find(last) !== null) continue;
        } else {
          const batch: Batch | undefined = this.#batches[next - this.#first];
          if (batch !== undefined) {
            [next, last] = [next + 1, batch.last];
            yield { text: batch.all, last };
            continue;
          }
        }
        if (this.#failure !== null) throw this.#failure;
        if (!signal.aborted) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
    } finally {
      signal.removeEventListener("abort", wake);
      this.#removeReader();
    }
  }

  /** The kept events after an event, and the number of the next batch; null: the event is not kept. */
  #find(id: string): { text: string; next: number; last: string } | null {
    const end = this.#first + this.#batches.length;
    if (id === this.#last) return { text: "", next: end, last: id };
    for (let index = this.#batches.length - 1; index >= 0; index -= 1) {
      const batch = this.#batches[index]!;
      const position = batch.ids.indexOf(id);
      if (position >= 0)
        return { text: batch.texts.slice(position + 1).join(""), next: this.#first + index + 1, last: batch.last };
    }
    return null;
  }

  async #read(after: string, signal: AbortSignal): Promise<{ text: string; last: string; isFull: boolean } | null> {
    const { store, clock } = this.#deps;
    const page = await retryWhileUnavailable(clock, signal, () => store.feed({ after, limit: PAGE_SIZE }));
    if (page === null) return null;
    return { text: page.events.map(this.#toText).join(""), last: page.last, isFull: page.events.length === PAGE_SIZE };
  }

  #addReader(): void {
    this.#readers += 1;
    if (this.#readers > 1) return;
    this.#stop = new AbortController();
    [this.#batches, this.#kept, this.#started, this.#failure] = [[], 0, null, null];
  }

  #removeReader(): void {
    this.#readers -= 1;
    if (this.#readers === 0) this.#stop.abort();
  }

  /** One read for all readers; after a failure, the next caller retries. */
  async #start(): Promise<true> {
    const { signal } = this.#stop;
    this.#started ??= newestEvent(this.#deps).then((last) => {
      // All readers have left; a new one starts over.
      if (signal.aborted) return;
      this.#last = last;
      void this.#run(last, signal).catch((error: unknown) => {
        if (signal.aborted) return;
        this.#failure = error;
        this.#wakeAll();
      });
    });
    const started = this.#started;
    try {
      await started;
    } catch (error) {
      if (this.#started === started) this.#started = null;
      throw error;
    }
    return true;
  }

  async #run(from: string, signal: AbortSignal): Promise<void> {
    for await (const { events, last } of followPages(this.#deps, from, signal)) {
      if (signal.aborted) return;
      const texts = events.map(this.#toText);
      this.#batches.push({ ids: events.map(({ id }) => id), texts, all: texts.join(""), last });
      this.#last = last;
      this.#kept += texts.length;
      while (this.#kept > MAX_KEPT && this.#batches.length > 1) {
        this.#kept -= this.#batches.shift()!.ids.length;
        this.#first += 1;
      }
      this.#wakeAll();
    }
  }

  #wakeAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
