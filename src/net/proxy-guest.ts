import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Duplex } from "node:stream";
import { FetchFailure } from "../domain/run/failure.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";
import { type Bound, sharesCookies } from "./bound.ts";
import type { ProxyTarget } from "./proxy-target.ts";

export interface GuestOptions {
  /** Both directions together; past it all connections of the guest close, and new ones are refused. */
  maxBytes: number;
  /** Simultaneous outbound connections. */
  maxConnections: number;
  /** Enforced in plain requests; the proxy cannot read encrypted ones, see `allowTunnel`. */
  bound?: Bound;
  /** The upstream proxy of all its connections, plain ones included. */
  via?: Upstream;
  /** Called when the guard refuses a host. */
  onRefused?: (host: string) => void;
}

const MAX_REMEMBERED_FAILURES = 200;

/** A client of the proxy: one browser context. */
export class ProxyGuest {
  readonly id: string;
  readonly password = randomBytes(24).toString("base64url");
  readonly options: GuestOptions;
  bytes = 0;
  ended = false;
  readonly #connections = new Set<Duplex>();
  readonly #failures = new Map<string, FetchFailure>();
  readonly #strippedHosts = new Set<string>();
  readonly #onEnd: () => void;

  constructor(options: GuestOptions, onEnd: () => void) {
    // Not from `Random`, which tests can seed: a guessed id opens the proxy.
    this.id = randomBytes(12).toString("hex");
    this.options = options;
    this.#onEnd = onEnd;
  }

  authenticates(password: string): boolean {
    const actual = Buffer.from(password);
    const expected = Buffer.from(this.password);
    return actual.length === expected.length && timingSafeEqual(actual, expected);
  }

  /** Why another connection is refused now; null: it is not. */
  refusal(): FetchFailure | null {
    if (this.ended) return new FetchFailure("run_cancelled", "the page is closed");
    if (this.bytes > this.options.maxBytes) return this.#overBudget();
    if (this.#connections.size >= this.options.maxConnections)
      return new FetchFailure("connection_failed", "the page has too many connections open");
    return null;
  }

  /**
   * Declares that the caller strips the bound cookies from encrypted requests to this host. Any other tunnel to another
   * port of the bound host, such as a WebSocket's, would leak the cookies and is refused.
   */
  allowTunnel(host: string): void {
    this.#strippedHosts.add(host);
  }

  /** Why a tunnel to this target is refused; null: it is not. */
  tunnelRefusal({ host, hostname, port }: ProxyTarget): FetchFailure | null {
    const { bound } = this.options;
    if (bound === undefined || this.#strippedHosts.has(host)) return null;
    // WebSockets use tunnels even when plain, so only the port is compared.
    const { protocol, port: explicitPort } = new URL(bound.origin);
    const boundPort = explicitPort === "" ? (protocol === "https:" ? 443 : 80) : Number(explicitPort);
    if (port === boundPort || !sharesCookies(bound, { origin: `https://${host}`, hostname })) return null;
    return new FetchFailure("connection_failed", "the page's credentials are for another port of this host");
  }

  /** The connection counts as the guest's and closes with it, until `whenDone` returns it to the pool. */
  holdUntil(stream: Duplex, whenDone: (done: () => void) => void): void {
    if (this.ended) {
      stream.destroy();
      return;
    }
    this.#connections.add(stream);
    whenDone(() => this.#connections.delete(stream));
  }

  count(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.options.maxBytes) this.#closeConnections();
  }

  /** `host` as in a URL: without the default port of the scheme. */
  failed(host: string, failure: FetchFailure): void {
    if (this.#failures.size >= MAX_REMEMBERED_FAILURES) this.#failures.delete(this.#failures.keys().next().value!);
    this.#failures.set(host, failure);
    const { code, reason } = failure.failure;
    if (code === "forbidden_target" && reason !== "proxy_forbidden") this.options.onRefused?.(host);
  }

  /** Why the last connection to this host failed. */
  failureOf(host: string): FetchFailure | null {
    if (this.bytes > this.options.maxBytes) return this.#overBudget();
    return this.#failures.get(host) ?? null;
  }

  /** Resets counters and failures before the context loads another page. */
  renew(): void {
    this.bytes = 0;
    this.#failures.clear();
  }

  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.#closeConnections();
    this.#onEnd();
  }

  #closeConnections(): void {
    for (const stream of [...this.#connections]) stream.destroy();
  }

  #overBudget(): FetchFailure {
    return new FetchFailure("body_too_large", `the page transferred more than ${this.options.maxBytes} bytes`);
  }
}
