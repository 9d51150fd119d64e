import { asked, type FollowDeps, type FollowedEvent, followPages, newestEvent } from "./follow.ts";

/** Events that were read together, each as it is sent. */
interface Batch {
  ids: string[];
  texts: string[];
  all: string;
  last: string;
}

/** Number of events kept for readers that reconnect or are slow. */
const KEPT = 5000;
const PAGE = 200;

/**
 * The events of all runs for many readers: read and serialised once for all of them, and not at all without readers. A
 * reader that reconnects far behind reads from the store until it has caught up.
 */
export class SharedFeed {
  readonly #deps: FollowDeps;
  readonly #toText: (event: FollowedEvent) => string;
  #readers = 0;
  #stop = new AbortController();
  #begun: Promise<void> | null = null;
  #failure: unknown = null;
  /** The newest of them, the first being number `#first`; `#last` is where they end. */
  #batches: Batch[] = [];
  #first = 0;
  #kept = 0;
  #last = "";
  #waiting: (() => void)[] = [];

  constructor(deps: FollowDeps, toText: (event: FollowedEvent) => string) {
    this.#deps = deps;
    this.#toText = toText;
  }

  /** Behind `after`, or from now on; first of all says where that is. */
  async *follow(after: string | null, signal: AbortSignal): AsyncGenerator<{ text: string; last: string }> {
    this.#enter();
    const wake = () => this.#wakeAll();
    signal.addEventListener("abort", wake, { once: true });
    try {
      if ((await asked(this.#deps.clock, signal, () => this.#begin())) === null) return;
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
      this.#leave();
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
    const page = await asked(clock, signal, () => store.feed({ after, limit: PAGE }));
    if (page === null) return null;
    return { text: page.events.map(this.#toText).join(""), last: page.last, isFull: page.events.length === PAGE };
  }

  #enter(): void {
    this.#readers += 1;
    if (this.#readers > 1) return;
    this.#stop = new AbortController();
    [this.#batches, this.#kept, this.#begun, this.#failure] = [[], 0, null, null];
  }

  #leave(): void {
    this.#readers -= 1;
    if (this.#readers === 0) this.#stop.abort();
  }

  /** One read for all; after a failure, the next caller tries again. */
  async #begin(): Promise<true> {
    const { signal } = this.#stop;
    this.#begun ??= newestEvent(this.#deps).then((last) => {
      // The callers have left; a new one reads again.
      if (signal.aborted) return;
      this.#last = last;
      void this.#run(last, signal).catch((error: unknown) => {
        if (signal.aborted) return;
        this.#failure = error;
        this.#wakeAll();
      });
    });
    const begun = this.#begun;
    try {
      await begun;
    } catch (error) {
      if (this.#begun === begun) this.#begun = null;
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
      while (this.#kept > KEPT && this.#batches.length > 1) {
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
