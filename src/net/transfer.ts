import type { Dispatcher } from "undici";
import type { IncomingHttpHeaders } from "undici/types/header.js";
import type { Clock } from "../base/clock.ts";
import type { Exchange, Header } from "../domain/page/exchange.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";
import type { AddressPolicy } from "./address.ts";
import type { Deadlines, Timed } from "./deadlines.ts";
import { checkUrl, takeCredentials } from "./guard.ts";
import { Hop, type HopOwner } from "./hop.ts";
import type { BodySink, HttpLimits, HttpRequest, HttpResult, Redirect, ResponseHead } from "./http.ts";
import { isRedirect, redirectMethod, redirectTarget, safeForOtherOrigin, withoutBodyHeaders } from "./redirect.ts";
import { isStaleConnection } from "./wire-failure.ts";

/** The client's state that its transfers share. */
export interface TransferContext {
  readonly policy: AddressPolicy;
  readonly clock: Clock;
  readonly limits: HttpLimits;
  readonly deadlines: Deadlines;
  readonly userAgent: string;
  /** Sent unchanged when the caller adds nothing: no merging on the hot path. */
  readonly plainHeaders: readonly string[];
  /** See `Dialer.opening`. */
  opening(): boolean;
  /** Kept-alive connections. */
  readonly pool: Dispatcher;
  /** One connection per request, for the retry after a kept-alive connection turned out dead. */
  fresh(): Dispatcher;
  /** The same two pools, through a proxy. */
  through(via: Upstream, fresh: boolean): Dispatcher;
}

export const ACCEPT_ENCODING = "gzip, deflate, br, zstd";

/** Set by undici, or not for a caller to choose. */
const NOT_FOR_CALLERS = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** One fetch: its limits, and the hops from the first URL to the last. */
export class Transfer implements Timed, HopOwner {
  readonly context: TransferContext;
  readonly limits: HttpLimits;
  readonly sink: BodySink;
  readonly via: Upstream | undefined;
  readonly #request: HttpRequest;
  readonly #resolve: (result: HttpResult) => void;
  readonly #reject: (error: unknown) => void;
  readonly #redirects: Redirect[] = [];
  /** `METHOD url` of the requests that were redirected, to detect loops. */
  readonly #redirected = new Set<string>();
  readonly #startedAt: number;
  #hopStartedAt = 0;
  #headMs = 0;
  readonly #started: number;
  #method: string;
  #body: Buffer | string | undefined;
  /** The caller's headers, lower-case; shrinks at redirects. Null: default headers only. */
  #headers: Map<string, string> | null = null;
  #url!: URL;
  readonly #exchanges: Exchange[] = [];
  #sent: { at: number; headers: readonly string[] } = { at: 0, headers: [] };
  #hop: Hop | null = null;
  #over = false;

  constructor(
    context: TransferContext,
    request: HttpRequest,
    sink: BodySink,
    resolve: (result: HttpResult) => void,
    reject: (error: unknown) => void,
  ) {
    this.context = context;
    this.limits = request.limits === undefined ? context.limits : { ...context.limits, ...request.limits };
    this.sink = sink;
    this.via = request.via;
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#method = request.method === undefined ? "GET" : request.method.toUpperCase();
    this.#body = request.body;
    this.#startedAt = context.clock.now();
    this.#started = context.clock.monotonic();
  }

  start(): void {
    const { signal, headers, url } = this.#request;
    if (signal?.aborted === true) return this.#reject(signal.reason);
    try {
      this.#url = checkUrl(url, this.context.policy);
    } catch (error) {
      return this.#reject(error);
    }
    if (this.#url.hash !== "") this.#url.hash = "";
    if (headers !== undefined) this.#headers = callerHeaders(headers);
    const authorization = takeCredentials(this.#url);
    if (authorization !== undefined) {
      this.#headers ??= new Map();
      if (!this.#headers.has("authorization")) this.#headers.set("authorization", authorization);
    }
    const { connectMs, headersMs, idleMs, totalMs } = this.limits;
    this.context.deadlines.add(this, Math.min(connectMs, headersMs, idleMs, totalMs));
    signal?.addEventListener("abort", this.#onAbort);
    this.#dispatch(false);
  }

  check(now: number, stalledMs: number): void {
    const { totalMs, minBytesPerSecond } = this.limits;
    const wireBytes = this.#hop?.wireBytes ?? 0;
    const bonus = minBytesPerSecond === undefined ? 0 : (wireBytes / minBytesPerSecond) * 1000;
    // The specific limit first: with equal limits, a site that never answers has passed both.
    this.#hop?.check(now, stalledMs);
    if (now - this.#started > totalMs + bonus) {
      this.fail(new FetchFailure("timeout_total", `the fetch took longer than ${Math.round(totalMs + bonus)} ms`));
    }
  }

  onRawHead(status: number, statusText: string, raw: readonly (Buffer | string)[]): void {
    if (this.#request.keepExchanges !== true) return;
    const text = (part: Buffer | string) => (typeof part === "string" ? part : part.toString("latin1"));
    const { at, headers } = this.#sent;
    const sent = pairs(["host", this.#url.host, "connection", "keep-alive", ...headers]);
    const { href: url } = this.#url;
    this.#exchanges.push({
      url,
      method: this.#method,
      sent,
      at,
      status,
      statusText,
      headers: pairs(raw.map(text)),
    });
  }

  onHead(hop: Hop, status: number, raw: IncomingHttpHeaders): "deliver" | "drain" {
    const location = raw["location"];
    hop.head = this.#makeHead(status, raw);
    this.#headMs = this.context.clock.monotonic() - this.#hopStartedAt;
    if (!isRedirect(status)) return this.sink.start(hop.head) === "discard" ? "drain" : "deliver";
    if (Array.isArray(location) && new Set(location).size > 1) {
      throw new FetchFailure("bad_redirect", "a redirect has several different Location headers");
    }
    const target = redirectTarget(Array.isArray(location) ? location[0] : location, this.#url);
    // Drops credentials that the server put into its redirect.
    takeCredentials(target);
    target.hash = "";
    checkUrl(target, this.context.policy);
    if (this.#redirects.length >= (this.#request.maxRedirects ?? this.limits.maxRedirects)) {
      throw new FetchFailure("too_many_redirects", `more than ${this.#redirects.length} redirects`);
    }
    // Cookies set on the way are not sent, so the same request gets the same response.
    this.#redirected.add(`${this.#method} ${this.#url.href}`);
    if (this.#redirected.has(`${redirectMethod(status, this.#method)} ${target.href}`)) {
      throw new FetchFailure("too_many_redirects", "the redirects form a loop");
    }
    if (this.#request.followRedirects?.(this.#url, target) === false) hop.notFollowed = target.href;
    else {
      this.#checkBodyOrigin(status, target);
      hop.target = target;
    }
    return "drain";
  }

  /** The body is bound to its origin, as the caller's headers are. */
  #checkBodyOrigin(status: number, target: URL): void {
    if (this.#body === undefined || target.origin === this.#url.origin) return;
    if (redirectMethod(status, this.#method) !== this.#method) return;
    throw new FetchFailure(
      "bad_redirect",
      `a redirect (${status}) leads to another origin, ${target.origin}; the request body is not sent there. If that redirect is right, send the request to the new URL directly`,
    );
  }

  onEnd(hop: Hop): void {
    if (this.#over || hop !== this.#hop) return;
    if (hop.target === null) return this.#finish(hop);
    const from = this.#url;
    const to = hop.target;
    const { status } = hop.head!;
    this.#redirects.push({ status, from: from.href, to: to.href });
    const method = redirectMethod(status, this.#method);
    if (method !== this.#method) {
      this.#method = method;
      this.#body = undefined;
      if (this.#headers !== null) this.#headers = withoutBodyHeaders(this.#headers);
    }
    if (to.origin !== from.origin && this.#headers !== null) this.#headers = safeForOtherOrigin(this.#headers);
    this.#url = to;
    const follow = () => afterRelease(() => this.#over || this.#dispatch(false));
    const { beforeRedirect } = this.#request;
    if (beforeRedirect === undefined) return follow();
    beforeRedirect(to).then(follow, (error: unknown) => this.fail(error));
  }

  onError(hop: Hop, error: Error, raw: Error): void {
    if (this.#over || hop !== this.#hop) return;
    const idempotent = this.#method === "GET" || this.#method === "HEAD";
    if (idempotent && hop.reused && hop.head === null && isStaleConnection(raw)) {
      // The server closed the idle connection before it saw the request: retry on a new one.
      return this.#dispatch(true);
    }
    this.fail(error);
  }

  fail(error: unknown): void {
    if (this.#over) return;
    this.#settle();
    this.#hop?.abandon();
    this.#reject(error);
  }

  #finish(hop: Hop): void {
    this.#settle();
    const result: HttpResult = {
      ...hop.head!,
      redirects: this.#redirects,
      bytes: hop.bytes,
      wireBytes: hop.wireBytes,
      timing: {
        startedAt: this.#startedAt,
        durationMs: this.context.clock.monotonic() - this.#started,
        headMs: this.#headMs,
      },
    };
    if (hop.notFollowed !== null) result.notFollowed = hop.notFollowed;
    if (this.#request.keepExchanges === true) result.exchanges = this.#exchanges;
    // A caller that continues with the next page then reuses this connection: 66 µs of CPU per request instead of 78
    // (at concurrency 32).
    afterRelease(() => this.#resolve(result));
  }

  #settle(): void {
    this.#over = true;
    this.context.deadlines.delete(this);
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = () => this.fail(this.#request.signal!.reason);

  #dispatch(fresh: boolean): void {
    const hop = new Hop(this);
    this.#hop = hop;
    this.#hopStartedAt = this.context.clock.monotonic();
    const options: Dispatcher.DispatchOptions = {
      origin: this.#url.origin,
      path: this.#url.pathname + this.#url.search,
      method: this.#method,
      headers: this.#headers === null ? (this.context.plainHeaders as string[]) : this.#merge(this.#headers),
    };
    if (this.#body !== undefined) options.body = this.#body;
    if (this.#request.keepExchanges === true)
      this.#sent = { at: this.context.clock.now(), headers: options.headers as string[] };
    this.#dispatcher(fresh).dispatch(options, hop);
  }

  #dispatcher(fresh: boolean): Dispatcher {
    if (this.via !== undefined) return this.context.through(this.via, fresh);
    return fresh ? this.context.fresh() : this.context.pool;
  }

  #merge(headers: Map<string, string>): string[] {
    const merged = [
      "user-agent",
      headers.get("user-agent") ?? this.context.userAgent,
      "accept",
      headers.get("accept") ?? "*/*",
      "accept-encoding",
      headers.get("accept-encoding") ?? ACCEPT_ENCODING,
    ];
    for (const [name, value] of headers) {
      if (name !== "user-agent" && name !== "accept" && name !== "accept-encoding") merged.push(name, value);
    }
    return merged;
  }

  #makeHead(status: number, raw: IncomingHttpHeaders): ResponseHead {
    const headers = raw as Record<string, string>;
    let setCookie: string[] = NO_COOKIES;
    for (const name in raw) {
      const value = raw[name];
      if (name === "set-cookie") {
        setCookie = Array.isArray(value) ? value : [value!];
        delete headers[name];
      } else if (Array.isArray(value)) headers[name] = value.join(", ");
    }
    const length = headers["content-length"];
    const encoding = headers["content-encoding"];
    return {
      status,
      headers,
      setCookie,
      url: this.#url.href,
      contentType: headers["content-type"] ?? null,
      contentLength: length === undefined || !/^\d{1,16}$/.test(length) ? null : Number(length),
      encoded: encoding !== undefined && encoding.toLowerCase() !== "identity",
    };
  }
}

/**
 * undici frees a connection in a setImmediate that it schedules right after the response ends. The microtask makes ours
 * run after it, so `next` finds the connection free.
 */
function afterRelease(next: () => void): void {
  queueMicrotask(() => setImmediate(next));
}

const NO_COOKIES: string[] = [];

function pairs(flat: readonly string[]): Header[] {
  return Array.from({ length: flat.length >> 1 }, (_, n) => [flat[2 * n]!, flat[2 * n + 1]!]);
}

function callerHeaders(input: Record<string, string>): Map<string, string> {
  const headers = new Map<string, string>();
  for (const name in input) {
    const lower = name.toLowerCase();
    if (!NOT_FOR_CALLERS.has(lower)) headers.set(lower, input[name]!);
  }
  return headers;
}
