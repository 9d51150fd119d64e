/** The browsers of APP_BROWSER_URL: which one takes the next page. */
import { type Clock, sleep } from "../../base/clock.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { BrowserInstance } from "./instance.ts";
import { type BrowserState, RemoteBrowser, type RemoteBrowserOptions } from "./remote.ts";

export interface RemoteOptions {
  urls: readonly string[];
  /** Per browser, of this process. */
  maxPages: number;
  /** They connect without the guarding proxy. */
  trusted: boolean;
}

/** A browser that is being restarted takes seconds; a page waits this long when all are down. */
const PATIENCE_MS = 10_000;

export class RemoteBrowsers {
  readonly all: readonly RemoteBrowser[];
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();

  constructor(
    { urls, maxPages, trusted }: RemoteOptions,
    shared: Omit<RemoteBrowserOptions, "url" | "maxPages" | "trusted" | "onChange">,
  ) {
    this.#clock = shared.clock;
    const onChange = () => this.changed();
    this.all = urls.map((url) => new RemoteBrowser({ ...shared, url, maxPages, trusted, onChange }));
  }

  get states(): BrowserState[] {
    return this.all.map(({ state }) => state);
  }

  get problem(): { message: string; since: number } | null {
    const down = this.states.find(({ problem }) => problem !== null);
    return down === undefined ? null : { ...down.problem!, message: `${down.name}: ${down.problem!.message}` };
  }

  /** Resolves when each has been tried once. */
  async connect(): Promise<void> {
    await Promise.all(this.all.map((one) => one.start()));
  }

  /** A browser became free, or came or went. */
  changed(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** The least loaded browser that works and has room. */
  choose(): { instance: BrowserInstance; maxPages: number; load: number } | null {
    let best: { instance: BrowserInstance; maxPages: number; load: number } | null = null;
    for (const { instance, maxPages } of this.all) {
      if (instance === null || instance.inUse >= maxPages) continue;
      const load = instance.inUse / maxPages;
      if (best === null || load < best.load) best = { instance, maxPages, load };
    }
    return best;
  }

  /** Waits for `find` to succeed. Rejects with `browser_failed` when no browser works for some time. */
  async wait<T>(find: () => T | null, signal: AbortSignal): Promise<T> {
    void this.connect();
    const until = this.#clock.monotonic() + PATIENCE_MS;
    for (;;) {
      signal.throwIfAborted();
      const found = find();
      if (found !== null) return found;
      const works = this.all.some(({ isDown }) => !isDown);
      const left = until - this.#clock.monotonic();
      if (!works && left <= 0) throw unusable(this.states);
      await this.#nextChange(works ? null : left, signal);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((one) => one.close()));
  }

  async #nextChange(mostMs: number | null, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const change = new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        over.abort();
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake, { once: true, signal: over.signal });
      if (mostMs !== null) void sleep(this.#clock, mostMs, over.signal).then(wake);
    });
    await change;
  }
}

function unusable(states: readonly BrowserState[]): FetchFailure {
  const each = states.map(({ name, problem }) => `${name}: ${problem?.message ?? "not connected"}`);
  return new FetchFailure("browser_failed", `no browser of APP_BROWSER_URL can be used. ${each.join(". ")}`);
}
