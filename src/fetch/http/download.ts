import { isOrbError } from "../../base/errors.ts";
import { type FailureReason, FetchFailure } from "../../domain/run/failure.ts";
import { withoutCredentials } from "../../domain/text/sealed-text.ts";
import type { BodySink, HttpRequest, HttpResult, ResponseHead } from "../../net/http.ts";
import type { HttpClient } from "../../net/http-client.ts";
import type { BodyStore, BodyWriter, PartOf } from "../body-store.ts";
import type { FetchAnswer, FetchRequest, Strategy } from "../strategy.ts";

export interface DownloadDeps {
  client: HttpClient;
  artifacts: BodyStore;
}

type Resumable = NonNullable<ReturnType<BodyStore["resumable"]>>;

/** Shorter parts are fetched again: resuming is not worth it. */
const MIN_RESUMABLE_BYTES = 64 * 1024;

export function createHttpStrategy(deps: DownloadDeps): Strategy {
  return { name: "http", fetch: (request) => download(deps, request) };
}

/**
 * Streams a body from the network into the store, never fully in memory. With a `partKey`, an interrupted transfer keeps
 * its part, and the next call requests the rest, provided that the file has not changed.
 */
export async function download(deps: DownloadDeps, request: FetchRequest): Promise<FetchAnswer> {
  const part = request.partKey === undefined ? null : deps.artifacts.resumable(request.partKey);
  if (part !== null && part.url === withoutCredentials(request.url) && validatorOf(part) !== null) {
    const answer = await attempt(deps, request, part);
    if (answer !== "start_over") return answer;
  }
  if (part !== null) deps.artifacts.dropPart(part.key);
  const answer = await attempt(deps, request, null);
  // Without a part, `attempt` never returns "start_over".
  return answer as FetchAnswer;
}

async function attempt(
  deps: DownloadDeps,
  request: FetchRequest,
  part: Resumable | null,
): Promise<FetchAnswer | "start_over"> {
  const receiver = new Receiver(deps.artifacts, request, part);
  let result: HttpResult;
  try {
    result = await deps.client.fetch(toHttp(request, part), receiver);
  } catch (error) {
    await receiver.writer?.abort(receiver.keepable && isWorthResuming(error, request.signal));
    if (error === MISMATCH) return "start_over";
    throw error;
  }
  if (part !== null && result.status === 416) return "start_over";
  const answer: FetchAnswer = {
    status: result.status,
    finalUrl: result.url,
    redirects: result.redirects,
    headers: result.headers,
    contentType: result.contentType,
    hash: null,
    size: 0,
    durationMs: result.timing.durationMs,
    headMs: result.timing.headMs,
  };
  if (result.notFollowed !== undefined) answer.notFollowed = result.notFollowed;
  if (result.status === 304) answer.notModified = true;
  if (receiver.writer !== null) {
    if (receiver.total !== null && receiver.writer.size !== receiver.total) {
      await receiver.writer.abort(false);
      throw new FetchFailure("truncated_body", "the parts do not add up to the announced size");
    }
    const stored = await receiver.writer.finish();
    answer.hash = stored.hash;
    answer.size = stored.size;
    if (receiver.resumed) answer.resumedFrom = part!.offset;
  }
  return answer;
}

/** Aborts a transfer: the server sent another range than requested. */
const MISMATCH = new Error("the server returned a range that was not requested");

class Receiver implements BodySink {
  writer: BodyWriter | null = null;
  /** The server sent the validators needed to resume. */
  isResumable = false;
  resumed = false;
  /** The full size, checked at the end of a resumed transfer. */
  total: number | null = null;
  readonly #artifacts: BodyStore;
  readonly #request: FetchRequest;
  readonly #part: Resumable | null;

  constructor(artifacts: BodyStore, request: FetchRequest, part: Resumable | null) {
    this.#artifacts = artifacts;
    this.#request = request;
    this.#part = part;
  }

  get keepable(): boolean {
    return this.isResumable && this.writer !== null && this.writer.size >= MIN_RESUMABLE_BYTES;
  }

  start(head: ResponseHead): void | "discard" {
    const { status } = head;
    if (status === 206) return this.#resume(head);
    if (status < 200 || status > 299 || status === 204 || status === 205) return "discard";
    const part = this.#partOf(head);
    this.isResumable = part !== null;
    this.writer = part === null ? this.#artifacts.writer() : this.#artifacts.writer({ part });
    return undefined;
  }

  write(chunk: Buffer): void | Promise<void> {
    const writer = this.writer!;
    const { maxBodyBytes } = this.#request;
    // The client counts only the resumed rest.
    if (this.resumed && maxBodyBytes !== undefined && writer.size + chunk.length > maxBodyBytes) {
      throw new FetchFailure("body_too_large", `the body is larger than ${maxBodyBytes} bytes`);
    }
    return writer.write(chunk);
  }

  #resume(head: ResponseHead): void {
    const part = this.#part;
    if (part === null)
      throw new FetchFailure("malformed_response", "the server sent a partial response that was not requested");
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/i.exec(head.headers["content-range"] ?? "");
    if (range === null || Number(range[1]) !== part.offset || head.encoded) throw MISMATCH;
    const total = range[2] === "*" ? null : Number(range[2]);
    if (total !== null && part.total !== null && total !== part.total) throw MISMATCH;
    this.total = total ?? part.total;
    // Without the total size a complete rest cannot be verified.
    if (this.total === null) throw MISMATCH;
    this.isResumable = true;
    this.resumed = true;
    this.writer = this.#artifacts.writer({ part, resume: true });
  }

  #partOf(head: ResponseHead): PartOf | null {
    const { partKey, url } = this.#request;
    if (partKey === undefined || head.encoded || head.headers["accept-ranges"]?.toLowerCase() === "none") return null;
    const etag = head.headers["etag"] ?? null;
    const lastModified = head.headers["last-modified"] ?? null;
    // Credentials must not be written next to the file.
    const part: PartOf = {
      key: partKey,
      url: withoutCredentials(url),
      etag,
      lastModified,
      total: head.contentLength,
    };
    return validatorOf(part) === null ? null : part;
  }
}

function toHttp(request: FetchRequest, part: Resumable | null): HttpRequest {
  // Identity by default: Content-Length and ranges then refer to the stored bytes.
  const headers: Record<string, string> = { "accept-encoding": "identity", ...request.headers };
  if (part !== null) {
    headers["range"] = `bytes=${part.offset}-`;
    headers["if-range"] = validatorOf(part)!;
  }
  const http: HttpRequest = { url: request.url, headers };
  if (request.signal !== undefined) http.signal = request.signal;
  if (request.via !== undefined) http.via = request.via;
  if (request.followRedirects !== undefined) http.followRedirects = request.followRedirects;
  if (request.limits !== undefined) http.limits = request.limits;
  if (request.maxBodyBytes !== undefined) http.limits = { ...request.limits, maxBodyBytes: request.maxBodyBytes };
  return http;
}

/** The value for If-Range: a strong ETag or the date. A weak ETag does not guarantee identical bytes. */
function validatorOf(part: { etag: string | null; lastModified: string | null }): string | null {
  if (part.etag !== null && part.etag.startsWith('"')) return part.etag;
  return part.lastModified;
}

const RESUMABLE_REASONS: ReadonlySet<FailureReason> = new Set<FailureReason>([
  "connection_failed",
  "connection_reset",
  "run_cancelled",
  "timeout_idle",
  "timeout_total",
  "truncated_body",
]);

/** Whether the received bytes are still valid after this error. */
function isWorthResuming(error: unknown, signal: AbortSignal | undefined): boolean {
  if (error instanceof FetchFailure) return RESUMABLE_REASONS.has(error.failure.reason);
  return isOrbError(error, "disk_full") || signal?.aborted === true;
}
