/** `api_replay`: fetches all pages of a list from a site's own API, and answers with all items. */
import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { classifyStatus } from "../../domain/run/classify.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { hasTooManyValues, MAX_JSON_VALUES } from "../../domain/text/json-size.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { parseRetryAfter } from "../../domain/lane/retry-after.ts";
import { siteOf } from "../../domain/text/url.ts";
import { BufferSink } from "../../net/buffer-sink.ts";
import type { HttpLimits, HttpRequest, HttpResult } from "../../net/http.ts";
import type { HttpClient } from "../../net/http-client.ts";
import { credentialHeaders } from "../http/page.ts";
import type { PageAnswer, PageRequest, PageStrategy } from "../page.ts";
import { readJson } from "./json-body.ts";
import { parseReplay, type Replay } from "./recipe.ts";
import { bodyText, type ReplayRequest } from "./request.ts";

export interface ReplayDeps {
  client: HttpClient;
  clock: Clock;
  limits: Partial<HttpLimits>;
  /** Waits between two requests to the site, as its politeness settings require. May end early on abort. */
  pause(signal: AbortSignal | undefined, url: string): Promise<void>;
}

/**
 * `timeoutMs` applies to each page of the API, `maxBodyBytes` to all of them together. The body is a JSON array of all
 * items; status and headers are those of the last page.
 */
export function createReplayStrategy(deps: ReplayDeps): PageStrategy {
  return { name: "api_replay", fetch: async (request) => new ReplayRun(deps, request).run() };
}

interface Page {
  result: HttpResult;
  body: Buffer;
}

/** Headers that describe the bytes of a single response; the body is merged from several. */
const BYTE_HEADERS: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-length",
  "content-md5",
  "digest",
  "etag",
  "transfer-encoding",
]);

class ReplayRun {
  readonly #deps: ReplayDeps;
  readonly #request: PageRequest;
  readonly #recipe: Replay;
  readonly #started: number;
  /** The items of each page, as JSON without the brackets. */
  readonly #pages: string[] = [];
  #bytes = 0;
  #count = 0;
  #requests = 0;

  constructor(deps: ReplayDeps, pageRequest: PageRequest) {
    this.#deps = deps;
    this.#request = pageRequest;
    this.#recipe = recipeOf(pageRequest.replay);
    this.#started = deps.clock.monotonic();
  }

  async run(): Promise<PageAnswer> {
    const { pagination } = this.#recipe;
    const sent = new Set<string>();
    let request = pagination?.steps.first(this.#recipe.request) ?? this.#recipe.request;
    for (;;) {
      sent.add(keyOf(request));
      const page = await this.#fetch(request);
      const early = this.#endsEarly(page);
      if (early !== null) return early;
      const json = this.#read(page);
      if (json === "html") return this.#answer(page, page.body, page.result.contentType);
      if (!this.#keep(json)) return this.#allItems(page);
      if (pagination === null || this.#count >= pagination.maxPages) return this.#allItems(page);
      const { headers, url } = page.result;
      const next = pagination.steps.next({ count: this.#count, request, json: json ?? null, headers, url });
      // A link to a page that was already read would loop.
      if (next === null || sent.has(keyOf(next))) return this.#allItems(page);
      request = next;
      const { signal } = this.#request;
      await this.#deps.pause(signal, request.url);
      if (signal?.aborted === true) throw signal.reason;
      this.#request.mayAsk?.();
    }
  }

  async #fetch(request: ReplayRequest): Promise<Page> {
    this.#count += 1;
    const sink = new BufferSink();
    try {
      const result = await this.#deps.client.fetch(this.#toHttp(request), sink);
      this.#bytes += result.bytes;
      const site = siteOf(request.url);
      this.#requests += 1 + result.redirects.filter(({ to }) => siteOf(to) === site).length;
      return { result, body: sink.body() };
    } catch (error) {
      if (!(error instanceof FetchFailure) || this.#count === 1) throw error;
      const { reason, message, httpStatus, retryAfterMs } = error.failure;
      const limit = this.#request.maxBodyBytes;
      const text = reason === "body_too_large" ? `all pages together are larger than ${limit} bytes` : message;
      throw this.#failure(reason, text, {
        cause: error,
        ...(httpStatus === undefined ? {} : { httpStatus }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      });
    }
  }

  #toHttp(request: ReplayRequest): HttpRequest {
    const { credentials, timeoutMs, maxBodyBytes, signal, via, followRedirects, beforeRedirect } = this.#request;
    const http: HttpRequest = {
      url: request.url,
      method: request.method,
      headers: {
        accept: "application/json, */*;q=0.5",
        ...request.headers,
        ...credentialHeaders(credentials, new URL(request.url), this.#deps.clock.now()),
      },
      limits: {
        ...this.#deps.limits,
        totalMs: timeoutMs,
        headersMs: timeoutMs,
        idleMs: timeoutMs,
        maxBodyBytes: Math.max(0, maxBodyBytes - this.#bytes),
      },
    };
    const body = bodyText(request);
    if (body !== undefined) http.body = body;
    if (signal !== undefined) http.signal = signal;
    if (via !== undefined) http.via = via;
    if (followRedirects !== undefined) http.followRedirects = followRedirects;
    if (beforeRedirect !== undefined) http.beforeRedirect = beforeRedirect;
    return http;
  }

  /** The caller judges the first page in any case; a later failure fails the fetch, since the list is incomplete. */
  #endsEarly({ result, body }: Page): PageAnswer | null {
    const retryAfter = parseRetryAfter(result.headers["retry-after"], this.#deps.clock.now());
    const bad = classifyStatus(result.status, retryAfter);
    if (bad === null && result.notFollowed === undefined) return null;
    if (this.#count === 1) return this.#answer({ result, body }, body, result.contentType);
    if (bad === null) throw this.#failure("bad_redirect", "it redirects to a URL that this job does not follow");
    const { reason, message, retryAfterMs } = bad;
    throw this.#failure(reason, message, {
      httpStatus: result.status,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }

  /** Undefined: an empty body. HTML instead of JSON is returned to the caller: it may be a challenge. */
  #read({ result, body }: Page): JsonValue | undefined | "html" {
    if (body.length === 0) return undefined;
    const text = body.toString("utf8");
    const json = readJson(text);
    if (json !== undefined) return json;
    if (/\bx?html\b/i.test(result.contentType ?? "") || /^\s*</.test(body.toString("latin1", 0, 100))) return "html";
    if (hasTooManyValues(text)) {
      throw this.#failure(
        "body_too_large",
        `the response has more than ${MAX_JSON_VALUES} values: request smaller pages`,
      );
    }
    throw this.#failure("malformed_response", `the response is not JSON (${result.contentType ?? "no content type"})`, {
      httpStatus: result.status,
    });
  }

  /** False: nothing new, so this page is the end. */
  #keep(json: JsonValue | undefined): boolean {
    if (json === undefined) return false;
    const { items } = this.#recipe;
    const found = items === null ? (Array.isArray(json) ? json : [json]) : items.all(json);
    let text: string;
    try {
      text = JSON.stringify(found).slice(1, -1);
    } catch {
      throw this.#failure("malformed_response", "the response is nested too deep to be stored");
    }
    if (found.length === 0 || text === this.#pages.at(-1)) return false;
    this.#pages.push(text);
    return true;
  }

  #allItems(page: Page): PageAnswer {
    const answer = this.#answer(page, `[${this.#pages.join(",")}]`, "application/json");
    const headers = Object.entries(answer.headers).filter(([name]) => !BYTE_HEADERS.has(name));
    return { ...answer, headers: { ...Object.fromEntries(headers), "content-type": "application/json" } };
  }

  #answer({ result }: Page, body: Buffer | string, contentType: string | null): PageAnswer {
    const answer: PageAnswer = {
      status: result.status,
      finalUrl: result.url,
      redirects: result.redirects,
      headers: result.headers,
      contentType,
      body,
      durationMs: this.#deps.clock.monotonic() - this.#started,
      requests: this.#requests,
      replayed: true,
    };
    if (result.notFollowed !== undefined) answer.notFollowed = result.notFollowed;
    return answer;
  }

  #failure(...[reason, message, more]: ConstructorParameters<typeof FetchFailure>): FetchFailure {
    return new FetchFailure(reason, `page ${this.#count} of the API: ${message}`, more);
  }
}

function recipeOf(replay: unknown): Replay {
  const { ok, errors } = parseReplay(replay, "replay");
  if (ok !== undefined) return ok;
  throw new FetchFailure("request_invalid", errors.map(({ path, message }) => `${path}: ${message}`).join("; "));
}

/** Hashed, since bodies may be large and pages many. */
function keyOf(request: ReplayRequest): string {
  const text = `${request.method} ${request.url}\n${bodyText(request) ?? ""}`;
  return createHash("sha256").update(text).digest("base64");
}
