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

/** A shorter beginning is not worth a second request's conditions. */
const WORTH_KEEPING_BYTES = 64 * 1024;

export function createHttpStrategy(deps: DownloadDeps): Strategy {
  return { name: "http", fetch: (request) => download(deps, request) };
}

/**
 * A body from the network into the store, without ever being whole in memory. With a `partKey`, a transfer that breaks
 * off leaves what it got, and the next call asks the server for the rest, provided that it is still the same file.
 */
export async function download(deps: DownloadDeps, request: FetchRequest): Promise<FetchAnswer> {
  const part = request.partKey === undefined ? null : deps.artifacts.resumable(request.partKey);
  if (part !== null && part.url === withoutCredentials(request.url) && validatorOf(part) !== null) {
    const answer = await attempt(deps, request, part);
    if (answer !== "start_over") return answer;
  }
  if (part !== null) deps.artifacts.dropPart(part.key);
  const answer = await attempt(deps, request, null);
  // Without a Range there is nothing to start over from.
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
      throw new FetchFailure("truncated_body", "the parts do not add up to the size that was announced");
    }
    const stored = await receiver.writer.finish();
    answer.hash = stored.hash;
    answer.size = stored.size;
    if (receiver.resumed) answer.resumedFrom = part!.offset;
  }
  return answer;
}

/** Thrown inside a transfer to end it: the server answered a range that was not asked for. */
const MISMATCH = new Error("the range in the answer is another one");

class Receiver implements BodySink {
  writer: BodyWriter | null = null;
  /** The server gave what is needed to ask for the rest later. */
  described = false;
  resumed = false;
  /** The size of the whole, checked at the end of a resumed transfer. */
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
    return this.described && this.writer !== null && this.writer.size >= WORTH_KEEPING_BYTES;
  }

  start(head: ResponseHead): void | "discard" {
    const { status } = head;
    if (status === 206) return this.#resume(head);
    if (status < 200 || status > 299 || status === 204 || status === 205) return "discard";
    const described = this.#describe(head);
    this.described = described !== null;
    this.writer = described === null ? this.#artifacts.writer() : this.#artifacts.writer({ part: described });
    return undefined;
  }

  write(chunk: Buffer): void | Promise<void> {
    const writer = this.writer!;
    const { maxBodyBytes } = this.#request;
    // The client counts one answer; of a resumed body that is only the rest.
    if (this.resumed && maxBodyBytes !== undefined && writer.size + chunk.length > maxBodyBytes) {
      throw new FetchFailure("body_too_large", `the body is larger than ${maxBodyBytes} bytes`);
    }
    return writer.write(chunk);
  }

  #resume(head: ResponseHead): void {
    const part = this.#part;
    if (part === null)
      throw new FetchFailure("malformed_response", "the server sent a part of the body that was not asked for");
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/i.exec(head.headers["content-range"] ?? "");
    if (range === null || Number(range[1]) !== part.offset || head.encoded) throw MISMATCH;
    const total = range[2] === "*" ? null : Number(range[2]);
    if (total !== null && part.total !== null && total !== part.total) throw MISMATCH;
    this.total = total ?? part.total;
    // Without the total size a complete rest cannot be verified.
    if (this.total === null) throw MISMATCH;
    this.described = true;
    this.resumed = true;
    this.writer = this.#artifacts.writer({ part, resume: true });
  }

  #describe(head: ResponseHead): PartOf | null {
    const { partKey, url } = this.#request;
    if (partKey === undefined || head.encoded || head.headers["accept-ranges"]?.toLowerCase() === "none") return null;
    const etag = head.headers["etag"] ?? null;
    const lastModified = head.headers["last-modified"] ?? null;
    // What lets somebody in is not written beside the file.
    const described: PartOf = {
      key: partKey,
      url: withoutCredentials(url),
      etag,
      lastModified,
      total: head.contentLength,
    };
    return validatorOf(described) === null ? null : described;
  }
}

function toHttp(request: FetchRequest, part: Resumable | null): HttpRequest {
  // Identity by default: a file is stored as it is, its length is known, and a range means what it says.
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

/** What If-Range may carry: a strong ETag, or the date. A weak ETag promises meaning, not bytes. */
function validatorOf(part: { etag: string | null; lastModified: string | null }): string | null {
  if (part.etag !== null && part.etag.startsWith('"')) return part.etag;
  return part.lastModified;
}

const BROKEN_OFF: ReadonlySet<FailureReason> = new Set<FailureReason>([
  "connection_failed",
  "connection_reset",
  "run_cancelled",
  "timeout_idle",
  "timeout_total",
  "truncated_body",
]);

/** The transfer ended for a reason that says nothing against the bytes so far. */
function isWorthResuming(error: unknown, signal: AbortSignal | undefined): boolean {
  if (error instanceof FetchFailure) return BROKEN_OFF.has(error.failure.reason);
  return isOrbError(error, "disk_full") || signal?.aborted === true;
}
