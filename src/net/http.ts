/** Types of the HTTP client: requests, results and limits. */
import type { Exchange } from "../domain/page/exchange.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";

export interface HttpLimits {
  /** To establish a connection, DNS and TLS included. */
  connectMs: number;
  /** From the request until the response head is complete, regardless of 1xx responses before it. */
  headersMs: number;
  /** The longest pause within a body. */
  idleMs: number;
  /** The whole fetch, redirects included. */
  totalMs: number;
  /** When set, every byte on the wire extends `totalMs`: a large download completes, a slow drip does not. */
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
  /** Bound to the origin of `url`: a redirect to another origin keeps only an allow-list of harmless ones. */
  headers?: Record<string, string>;
  /** Bound likewise: a redirect that would carry it to another origin fails with `bad_redirect`. */
  body?: Buffer | string;
  limits?: Partial<HttpLimits>;
  signal?: AbortSignal;
  /** Called for each redirect that the guard allows; false ends the fetch with `notFollowed`. Default: always. */
  followRedirects?: (from: URL, to: URL) => boolean;
  /** Awaited before a redirect is followed; an error ends the fetch. */
  beforeRedirect?: (to: URL) => Promise<void>;
  maxRedirects?: number;
  /** The proxy for all hops. Default: none. */
  via?: Upstream;
  /** The result then includes every request with its response head, in wire form. */
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
  /** The body was compressed on the wire: Content-Length does not count the bytes that the sink receives. */
  encoded: boolean;
}

/** Receives a body. Called only for the last response of a redirect chain. */
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
  /** Decoded bytes written to the sink. */
  bytes: number;
  wireBytes: number;
  /** `headMs`: from the last request until its response head. */
  timing: { startedAt: number; durationMs: number; headMs: number };
  /** The target of a redirect that `followRedirects` declined; `status` is that of the redirect. */
  notFollowed?: string;
  exchanges?: readonly Exchange[];
}
