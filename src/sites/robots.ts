import type { Clock } from "../base/clock.ts";
import { FetchFailure } from "../domain/failure.ts";
import { isAllowed, parseRobots, type Robots } from "../domain/robots.ts";
import { BufferSink } from "../net/buffer-sink.ts";
import type { HttpClient } from "../net/http-client.ts";

export interface RobotsGateOptions {
  http: HttpClient;
  clock: Clock;
  productToken: string;
}

interface Copy {
  robots: Robots;
  until: number;
}

/** A question that is under way, and how many wait for its answer. */
interface Asking {
  answer: Promise<Robots>;
  waiting: number;
  stop: AbortController;
}

const KEPT_MS = 24 * 3_600_000;
const LARGEST = 4 * 1024 * 1024;
const MOST_ORIGINS = 10_000;

/**
 * What robots.txt says, by RFC 9309: asked once a day per origin; an answer 4xx allows everything; a server that cannot
 * be asked leaves the last good copy in force, and without one nothing is allowed until it can.
 */
export class RobotsGate {
  readonly #options: RobotsGateOptions;
  readonly #copies = new Map<string, Copy>();
  readonly #asking = new Map<string, Asking>();

  constructor(options: RobotsGateOptions) {
    this.#options = options;
  }

  /** Throws a FetchFailure when the page may not be asked for. */
  async check(url: string, signal: AbortSignal): Promise<void> {
    const robots = await this.#of(new URL(url).origin, signal);
    if (!isAllowed(robots, url))
      throw new FetchFailure("robots_disallowed", "the site's robots.txt asks us not to fetch it");
  }

  /** The sitemaps that the origin's robots.txt names. Throws a FetchFailure when it cannot be read. */
  async sitemaps(origin: string, signal: AbortSignal): Promise<readonly string[]> {
    return (await this.#of(new URL(origin).origin, signal)).sitemaps;
  }

  /** Whether a redirect to this address may be followed, as far as is known without asking. */
  mayFollow(url: URL): boolean {
    const copy = this.#copies.get(url.origin);
    return copy === undefined || isAllowed(copy.robots, url.href);
  }

  async #of(origin: string, signal: AbortSignal): Promise<Robots> {
    signal.throwIfAborted();
    const copy = this.#copies.get(origin);
    if (copy !== undefined && copy.until > this.#options.clock.monotonic()) return copy.robots;
    const asking = this.#asking.get(origin) ?? this.#begin(origin, copy ?? null);
    asking.waiting += 1;
    try {
      return await unlessAborted(asking.answer, signal);
    } finally {
      asking.waiting -= 1;
      // Who is called off leaves at once; the question itself is dropped when nobody wants to know any more.
      if (asking.waiting === 0) {
        if (this.#asking.get(origin) === asking) this.#asking.delete(origin);
        asking.stop.abort();
      }
    }
  }

  #begin(origin: string, old: Copy | null): Asking {
    const stop = new AbortController();
    const asking: Asking = { answer: this.#ask(origin, old, stop.signal), waiting: 0, stop };
    this.#asking.set(origin, asking);
    return asking;
  }

  async #ask(origin: string, old: Copy | null, signal: AbortSignal): Promise<Robots> {
    const { http, clock, productToken } = this.#options;
    const sink = new BufferSink();
    let status: number;
    try {
      const limits = { maxBodyBytes: LARGEST, maxRedirects: 10 };
      ({ status } = await http.fetch({ url: `${origin}/robots.txt`, limits, signal }, sink));
    } catch (error) {
      if (!(error instanceof FetchFailure)) throw error;
      if (old !== null) return old.robots;
      throw unreachable(error.failure.message);
    }
    if (status >= 500 || status === 429) {
      if (old !== null) return old.robots;
      throw unreachable(`the server answered ${status}`);
    }
    const robots = parseRobots(status >= 200 && status < 300 ? sink.body() : "", productToken);
    if (this.#copies.size >= MOST_ORIGINS) this.#copies.delete(this.#copies.keys().next().value!);
    this.#copies.delete(origin);
    this.#copies.set(origin, { robots, until: clock.monotonic() + KEPT_MS });
    return robots;
  }
}

function unreachable(why: string): FetchFailure {
  return new FetchFailure(
    "robots_unreachable",
    `the site's robots.txt could not be read (${why}), so nothing is allowed yet`,
  );
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
