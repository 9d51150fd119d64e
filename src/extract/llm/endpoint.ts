/** The operator's OpenAI-compatible endpoint, with bounded concurrency and limits per call. */
import { type Clock, sleep } from "../../base/clock.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { parseRetryAfter } from "../../domain/lane/retry-after.ts";
import { BufferSink } from "../../net/buffer-sink.ts";
import { createHttpClient, type HttpClient } from "../../net/http-client.ts";
import type { HttpResult } from "../../net/http.ts";
import { type Completion, type EndpointError, readCompletion, readError } from "./completion.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { decodePercent } from "../../domain/text/url.ts";

interface LlmOptions {
  /** Up to `/v1`, or with `/chat/completions`. */
  url: string;
  key: string | null;
  model: string;
  timeoutMs: number;
  /** Concurrent calls. */
  concurrency: number;
  /** Characters of a page in the prompt. */
  maxInputChars: number;
  /** Per answer. */
  maxTokens: number;
  userAgent: string;
  clock: Clock;
}

/** Since the process started. */
interface LlmUsage {
  calls: { ok: number; failed: number };
  promptTokens: number;
  completionTokens: number;
}

/** Longer than any useful answer within the token limit. */
const MAX_BYTES = 4 * 1024 * 1024;
/** A longer Retry-After fails the attempt; shorter ones are awaited by all calls. */
const MAX_WAIT_MS = 60_000;
/** Up to this many queued calls, pages release their other resources while they wait. */
const MAX_QUEUED = 64;
const MAX_MESSAGE = 300;

/** The endpoint rejects the form of the request: another form may work. */
export class BadRequest extends FetchFailure {
  readonly details: EndpointError;

  constructor(message: string, details: EndpointError) {
    super("llm_refused", message);
    this.details = details;
  }
}

export class LlmEndpoint {
  readonly #options: LlmOptions;
  readonly #address: string;
  readonly #headers: Record<string, string>;
  readonly #semaphore: Semaphore;
  #http: HttpClient | null = null;
  /** Monotonic time until which the endpoint asked all calls to wait. */
  #rateLimitedUntil = Number.NEGATIVE_INFINITY;
  readonly #usage: LlmUsage = { calls: { ok: 0, failed: 0 }, promptTokens: 0, completionTokens: 0 };

  constructor(options: LlmOptions) {
    this.#options = options;
    const { address, basic } = addressOf(options.url);
    this.#address = address;
    const authorization = options.key === null ? basic : `Bearer ${options.key}`;
    this.#headers = {
      accept: "application/json",
      "content-type": "application/json",
      ...(authorization === null ? {} : { authorization }),
    };
    this.#semaphore = new Semaphore(options.concurrency);
  }

  get model(): string {
    return this.#options.model;
  }

  get maxTokens(): number {
    return this.#options.maxTokens;
  }

  get maxInputChars(): number {
    return this.#options.maxInputChars;
  }

  get usage(): LlmUsage {
    return this.#usage;
  }

  /** Whether a page may release its other resources while it waits. */
  get hasRoomInLine(): boolean {
    return this.#semaphore.waiting < MAX_QUEUED;
  }

  /**
   * One call. Throws a FetchFailure: `llm_rate_limited`, `llm_unavailable` and `llm_timeout` are transient, `llm_refused`
   * is permanent, and a BadRequest carries the endpoint's error. Rethrows the abort reason of the signal.
   */
  async ask(body: Record<string, unknown>, signal: AbortSignal): Promise<Completion> {
    using _turn = await this.#semaphore.acquire({ signal });
    await this.#waitForRateLimit(signal);
    try {
      const completion = await this.#send(body, signal);
      this.#usage.calls.ok += 1;
      this.#usage.promptTokens += completion.promptTokens;
      this.#usage.completionTokens += completion.completionTokens;
      return completion;
    } catch (error) {
      if (!signal.aborted) this.#usage.calls.failed += 1;
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#http?.close();
  }

  async #waitForRateLimit(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const waitMs = this.#rateLimitedUntil - clock.monotonic();
      if (waitMs <= 0) return;
      if (waitMs > MAX_WAIT_MS)
        throw new FetchFailure("llm_rate_limited", "the endpoint of APP_LLM_URL rate limited the request", {
          retryAfterMs: Math.ceil(waitMs),
        });
      await sleep(clock, waitMs, signal);
      signal.throwIfAborted();
    }
  }

  async #send(body: Record<string, unknown>, signal: AbortSignal): Promise<Completion> {
    const sink = new BufferSink();
    let result: HttpResult;
    try {
      result = await this.#client().fetch(
        {
          url: this.#address,
          method: "POST",
          headers: this.#headers,
          body: JSON.stringify(body),
          // The key must not leave this URL.
          followRedirects: () => false,
          signal,
        },
        sink,
      );
    } catch (error) {
      signal.throwIfAborted();
      throw this.#requestFailure(error);
    }
    if (result.notFollowed !== undefined || (result.status >= 300 && result.status < 400))
      throw new FetchFailure(
        "llm_refused",
        `APP_LLM_URL answered ${result.status}: redirects are not followed; set it to the final URL`,
      );
    if (result.status < 200 || result.status >= 300) throw this.#statusFailure(result, sink.text());
    return readCompletion(sink.text());
  }

  /** The operator configures the URL: it may be in a private network, unlike targets. */
  #client(): HttpClient {
    const { clock, userAgent, timeoutMs, concurrency } = this.#options;
    this.#http ??= createHttpClient({
      policy: { privateNetworks: true, listed: [] },
      clock,
      userAgent,
      maxConnectionsPerOrigin: concurrency,
      limits: {
        connectMs: Math.min(10_000, timeoutMs),
        headersMs: timeoutMs,
        idleMs: timeoutMs,
        totalMs: timeoutMs,
        maxBodyBytes: MAX_BYTES,
      },
    });
    return this.#http;
  }

  #requestFailure(error: unknown): unknown {
    if (!(error instanceof FetchFailure)) return error;
    const { code, reason } = error.failure;
    if (code === "cancelled") return error;
    if (reason === "body_too_large" || reason === "decompression_limit")
      return new FetchFailure("llm_bad_answer", `the model's answer is longer than ${MAX_BYTES} bytes`);
    if (code === "timeout") {
      const seconds = this.#options.timeoutMs / 1000;
      const message = `the endpoint of APP_LLM_URL did not answer within ${seconds} s (APP_LLM_TIMEOUT_SECONDS)`;
      return new FetchFailure("llm_timeout", message);
    }
    return new FetchFailure("llm_unavailable", `the endpoint of APP_LLM_URL cannot be reached (${reason})`);
  }

  #statusFailure({ status, headers }: HttpResult, text: string): FetchFailure {
    const { clock } = this.#options;
    const error = readError(text);
    const detail = this.#sanitize(error.message);
    const suffix = detail === "" ? "" : `: ${detail}`;
    const retryAfterMs = parseRetryAfter(headers["retry-after"] ?? "", clock.now());
    const more = retryAfterMs === null ? {} : { retryAfterMs };
    if (status === 401 || status === 403) {
      const what = this.#options.key === null ? "requires a key" : "rejected the key";
      return new FetchFailure(
        "llm_refused",
        `the endpoint of APP_LLM_URL ${what} (${status}): set APP_LLM_KEY${suffix}`,
      );
    }
    // An exhausted quota is not transient.
    if (status === 429 && error.code === "insufficient_quota")
      return new FetchFailure("llm_refused", `the account of APP_LLM_KEY has no quota left (429)${suffix}`);
    if (status === 429) {
      if (retryAfterMs !== null)
        this.#rateLimitedUntil = Math.max(this.#rateLimitedUntil, clock.monotonic() + retryAfterMs);
      return new FetchFailure(
        "llm_rate_limited",
        `the endpoint of APP_LLM_URL rate limited the request (429)${suffix}`,
        more,
      );
    }
    if (status >= 500 || status === 408 || status === 409 || status === 425)
      return new FetchFailure("llm_unavailable", `the endpoint of APP_LLM_URL answered ${status}${suffix}`, more);
    if (status === 404)
      return new FetchFailure("llm_refused", `the endpoint answered 404: check APP_LLM_URL and APP_LLM_MODEL${suffix}`);
    const message = `the endpoint of APP_LLM_URL rejected the request (${status})${suffix}`;
    return status === 400 || status === 422 ? new BadRequest(message, error) : new FetchFailure("llm_refused", message);
  }

  /** Some endpoints repeat the rejected key. */
  #sanitize(message: string): string {
    const { key } = this.#options;
    const masked = key === null || key === "" ? message : message.replaceAll(key, "********");
    return masked.replace(/\s+/g, " ").trim().slice(0, MAX_MESSAGE);
  }
}

/** Moves a user name and password from the URL to the Authorization header. */
function addressOf(text: string): { address: string; basic: string | null } {
  const url = new URL(text);
  const user = decodePercent(url.username);
  const password = decodePercent(url.password);
  url.username = "";
  url.password = "";
  const path = url.pathname.replace(/\/+$/, "");
  if (!path.endsWith("/chat/completions")) url.pathname = `${path}/chat/completions`;
  const basic = user === "" && password === "" ? null : Buffer.from(`${user}:${password}`).toString("base64");
  return { address: url.href, basic: basic === null ? null : `Basic ${basic}` };
}
