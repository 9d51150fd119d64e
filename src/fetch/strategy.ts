import type { Upstream } from "../domain/proxy/upstream.ts";
import type { HttpLimits, Redirect } from "../net/http.ts";

/** The request to any download strategy. */
export interface FetchRequest {
  url: string;
  headers?: Record<string, string>;
  /** Key under which an interrupted transfer is kept for the next attempt to resume, such as the task's id. */
  partKey?: string;
  maxBodyBytes?: number;
  limits?: Partial<HttpLimits>;
  signal?: AbortSignal;
  /** The proxy for the transfer. Default: none. */
  via?: Upstream;
  followRedirects?: (from: URL, to: URL) => boolean;
}

/** Any status is an answer; the caller judges it. */
export interface FetchAnswer {
  status: number;
  finalUrl: string;
  redirects: Redirect[];
  headers: Record<string, string>;
  contentType: string | null;
  /** The stored body; null: no success status, or no body. */
  hash: string | null;
  size: number;
  durationMs: number;
  /** From the last request until its response head. */
  headMs: number;
  /** The target of a redirect that `followRedirects` declined. */
  notFollowed?: string;
  /** The condition in the request's headers held: the caller's copy is current. */
  notModified?: boolean;
  /** The transfer was resumed at this byte. */
  resumedFrom?: number;
}

/** Throws a FetchFailure when there was no usable answer. */
export interface Strategy {
  readonly name: string;
  fetch(request: FetchRequest): Promise<FetchAnswer>;
}
