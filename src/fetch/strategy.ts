import type { Upstream } from "../domain/proxy/upstream.ts";
import type { HttpLimits, Redirect } from "../net/http.ts";

/** What every way of fetching is asked, whatever it does to get the bytes. */
export interface FetchRequest {
  url: string;
  headers?: Record<string, string>;
  /** A name under which a broken transfer may be kept and gone on with by the next attempt, such as the task's id. */
  partKey?: string;
  maxBodyBytes?: number;
  limits?: Partial<HttpLimits>;
  signal?: AbortSignal;
  /** The proxy that the transfer goes through. Default: none. */
  via?: Upstream;
  followRedirects?: (from: URL, to: URL) => boolean;
}

/** Any status is an answer; whether it is a good one is judged by the caller. */
export interface FetchAnswer {
  status: number;
  finalUrl: string;
  redirects: Redirect[];
  headers: Record<string, string>;
  contentType: string | null;
  /** The stored body; null when the status was not a success, or there was no body to store. */
  hash: string | null;
  size: number;
  durationMs: number;
  /** From the last request until the head of its answer. */
  headMs: number;
  /** Where a redirect pointed that `followRedirects` declined. */
  notFollowed?: string;
  /** The condition in the request's headers held: the caller's copy is current. */
  notModified?: boolean;
  /** The body was completed from this byte on. */
  resumedFrom?: number;
}

/** One way of getting a page. Throws a FetchFailure when there was no usable answer. */
export interface Strategy {
  readonly name: string;
  fetch(request: FetchRequest): Promise<FetchAnswer>;
}
