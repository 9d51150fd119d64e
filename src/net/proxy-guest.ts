import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Duplex } from "node:stream";
import { FetchFailure } from "../domain/run/failure.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";
import { type Bound, sharesCookies } from "./bound.ts";
import type { ProxyTarget } from "./proxy-target.ts";

export interface GuestOptions {
  /** Both directions together; past it every connection of the guest is cut, and it gets no new one. */
  maxBytes: number;
  /** Simultaneous connections out. */
  maxConnections: number;
  /** Kept to its origin in plain requests. What is encrypted passes by unseen, see `vouchFor`. */
  bound?: Bound;
  /** All of its connections go through this proxy, plain ones included. */
  via?: Upstream;
  /** The guard refused a host that the guest asked for. */
  onRefused?: (host: string) => void;
}

const MAX_REMEMBERED_FAILURES = 200;

/** Somebody whom the proxy serves: one context of a browser. */
export class ProxyGuest {
  readonly id: string;
  readonly password = randomBytes(24).toString("base64url");
  readonly options: GuestOptions;
  bytes = 0;
  ended = false;
  readonly #open = new Set<Duplex>();
  readonly #failures = new Map<string, FetchFailure>();
  readonly #vouched = new Set<string>();
  readonly #leave: () => void;

  constructor(options: GuestOptions, leave: () => void) {
    // Not from `Random`, whose numbers a test may foresee: whoever guesses these may use the proxy.
    this.id = randomBytes(12).toString("hex");
    this.options = options;
    this.#leave = leave;
  }

  knows(password: string): boolean {
    const actual = Buffer.from(password);
    const expected = Buffer.from(this.password);
    return actual.length === expected.length && timingSafeEqual(actual, expected);
  }

  /** Why the guest cannot have another connection now, if so. */
  refusal(): FetchFailure | null {
    if (this.ended) return new FetchFailure("run_cancelled", "the page is closed");
    if (this.bytes > this.options.maxBytes) return this.#tooMuch();
    if (this.#open.size >= this.options.maxConnections)
      return new FetchFailure("connection_failed", "the page has too many connections open");
    return null;
  }

  /**
   * Whoever reads the encrypted requests before they are made takes the bound cookies out of them, and says so here.
   * Any other tunnel to another port of the host, such as a web socket's, would carry the cookies along.
   */
  vouchFor(host: string): void {
    this.#vouched.add(host);
  }

  /** Why the guest may have no tunnel to this place, if so. */
  tunnelRefusal({ host, hostname, port }: ProxyTarget): FetchFailure | null {
    const { bound } = this.options;
    if (bound === undefined || this.#vouched.has(host)) return null;
    // Web sockets use tunnels even where they are plain: it is the port that tells.
    const { protocol, port: written } = new URL(bound.origin);
    const ownPort = written === "" ? (protocol === "https:" ? 443 : 80) : Number(written);
    if (port === ownPort || !sharesCookies(bound, { origin: `https://${host}`, hostname })) return null;
    return new FetchFailure("connection_failed", "the page's credentials are for another port of this host");
  }

  /** The connection counts as the guest's and ends with it, until `whenDone` says that it serves others. */
  holdUntil(stream: Duplex, whenDone: (done: () => void) => void): void {
    if (this.ended) {
      stream.destroy();
      return;
    }
    this.#open.add(stream);
    whenDone(() => this.#open.delete(stream));
  }

  count(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.options.maxBytes) this.#cut();
  }

  /** `host` as in the URL, with its port unless that is the scheme's own. */
  failed(host: string, failure: FetchFailure): void {
    if (this.#failures.size >= MAX_REMEMBERED_FAILURES) this.#failures.delete(this.#failures.keys().next().value!);
    this.#failures.set(host, failure);
    const { code, reason } = failure.failure;
    if (code === "forbidden_target" && reason !== "proxy_forbidden") this.options.onRefused?.(host);
  }

  /** Why the last connection to this host did not come about. */
  failureOf(host: string): FetchFailure | null {
    if (this.bytes > this.options.maxBytes) return this.#tooMuch();
    return this.#failures.get(host) ?? null;
  }

  /** The context goes on with another page: what was counted and what failed belongs to the one before. */
  renew(): void {
    this.bytes = 0;
    this.#failures.clear();
  }

  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.#cut();
    this.#leave();
  }

  #cut(): void {
    for (const stream of [...this.#open]) stream.destroy();
  }

  #tooMuch(): FetchFailure {
    return new FetchFailure("body_too_large", `the page moved more than ${this.options.maxBytes} bytes`);
  }
}
