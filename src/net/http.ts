/** The words of the HTTP client: what is asked, what comes back, and within which limits. */
import type { Exchange } from "../domain/page/exchange.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";

export interface HttpLimits {
  /** From the moment a connection is wanted until it stands, DNS and TLS included. */
  connectMs: number;
  /** From the request until the head of the answer is complete, however many 1xx answers come before it. */
  headersMs: number;
  /** The longest silence in the middle of a body. */
  idleMs: number;
  /** The whole fetch, redirects included. */
  totalMs: number;
  /** When set, every byte on the wire extends `totalMs`, so that a large honest download ends and a drip does not. */
  minBytesPerSecond?: number;
  /** After decompression. */
  maxBodyBytes: number;
  maxHeaderBytes: number;
  maxRedirects: number;
}

export const DEFAULT_LIMITS: HttpLimits = {
  connectMs: 10_000,
  headersMs: 30_000,
  idleMs: 30_000,
  totalMs: 120_000,
  maxBodyBytes: 64 * 1024 * 1024,
  maxHeaderBytes: 64 * 1024,
  maxRedirects: 20,
};

export interface HttpRequest {
  url: string;
  method?: string;
  /** Bound to the origin of `url`: after a redirect elsewhere only harmless ones are sent on. */
  headers?: Record<string, string>;
  /** Bound in the same way: a redirect that would carry it elsewhere fails with `bad_redirect`. */
  body?: Buffer | string;
  limits?: Partial<HttpLimits>;
  signal?: AbortSignal;
  /** Asked at each hop that the guard allows; false ends the fetch with `notFollowed`. Default: always. */
  followRedirects?: (from: URL, to: URL) => boolean;
  /** Waited for before a redirect is followed; what it throws ends the fetch. */
  beforeRedirect?: (to: URL) => Promise<void>;
  maxRedirects?: number;
  /** The proxy that all of it goes through, redirects included. Default: none. */
  via?: Upstream;
  /** The result then has every request with the head of its answer, as they went over the wire. */
  keepExchanges?: boolean;
}

export interface ResponseHead {
  status: number;
  /** Lower-case names; repeated headers are joined with ", ". Without Set-Cookie. */
  headers: Record<string, string>;
  setCookie: string[];
  /** The URL that answered, after redirects. */
  url: string;
  contentType: string | null;
  contentLength: number | null;
  /** The body was compressed on the wire: what the sink receives is not what Content-Length counts. */
  encoded: boolean;
}

/** Where a body goes. Called only for the last answer of a redirect chain. */
export interface BodySink {
  start(head: ResponseHead): void | "discard";
  /** Decoded bytes, never altered later. A promise is back-pressure: the socket waits until it resolves. */
  write(chunk: Buffer): void | Promise<void>;
}

export interface Redirect {
  status: number;
  from: string;
  to: string;
}

export interface HttpResult extends ResponseHead {
  redirects: Redirect[];
  /** Decoded bytes given to the sink. */
  bytes: number;
  wireBytes: number;
  /** `headMs`: from the last request until the head of its answer. */
  timing: { startedAt: number; durationMs: number; headMs: number };
  /** The target of a redirect that `followRedirects` declined; `status` is then the redirect's. */
  notFollowed?: string;
  exchanges?: readonly Exchange[];
}
