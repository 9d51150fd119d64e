/** The operator's own model behind an OpenAI-compatible address: so many calls at once, each within its limits. */
import { type Clock, sleep } from "../../base/clock.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { parseRetryAfter } from "../../domain/lane/retry-after.ts";
import { BufferSink } from "../../net/buffer-sink.ts";
import { createHttpClient, type HttpClient } from "../../net/http-client.ts";
import type { HttpResult } from "../../net/http.ts";
import { type Completion, type EndpointError, readCompletion, readError } from "./completion.ts";
import { Semaphore } from "../../base/semaphore.ts";

interface LlmOptions {
  /** Up to `/v1`, or with `/chat/completions`. */
  url: string;
  key: string | null;
  model: string;
  timeoutMs: number;
  /** Calls at once. */
  concurrency: number;
  /** Characters of a page that it is given. */
  maxInputChars: number;
  /** Of an answer. */
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

/** Longer than any answer of so many tokens that is of use; and of what is wrong, the beginning does. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Whom it asked to wait for longer comes back for another attempt; a shorter time is waited out by all. */
const LONGEST_PATIENCE_MS = 60_000;
/** So many may stand in line without holding up anything else. */
const MOST_IN_LINE = 64;
const LONGEST_WORDS = 300;

/** The endpoint does not take the request as it is made: another form of it may do. */
export class BadRequest extends FetchFailure {
  readonly said: EndpointError;

  constructor(message: string, said: EndpointError) {
    super("llm_refused", message);
    this.said = said;
  }
}

export class LlmEndpoint {
  readonly #options: LlmOptions;
  readonly #address: string;
  readonly #headers: Record<string, string>;
  readonly #semaphore: Semaphore;
  #http: HttpClient | null = null;
  /** It asked for patience until then; all calls have it. */
  #quietUntil = Number.NEGATIVE_INFINITY;
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

  /** A page that waits for its turn may let go of all else meanwhile. */
  get hasRoomInLine(): boolean {
    return this.#semaphore.waiting < MOST_IN_LINE;
  }

  /**
   * One call. Throws a FetchFailure: `llm_rate_limited`, `llm_unavailable` and `llm_timeout` may pass, `llm_refused` does
   * not, and a BadRequest says what the endpoint did not like. The reason of an aborted signal is rethrown as it is.
   */
  async ask(body: Record<string, unknown>, signal: AbortSignal): Promise<Completion> {
    using _turn = await this.#semaphore.acquire({ signal });
    await this.#quiet(signal);
    try {
      const completion = await this.#ask(body, signal);
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

  async #quiet(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const waitMs = this.#quietUntil - clock.monotonic();
      if (waitMs <= 0) return;
      if (waitMs > LONGEST_PATIENCE_MS)
        throw new FetchFailure("llm_rate_limited", "the endpoint of APP_LLM_URL has asked for patience", {
          retryAfterMs: Math.ceil(waitMs),
        });
      await sleep(clock, waitMs, signal);
      signal.throwIfAborted();
    }
  }

  async #ask(body: Record<string, unknown>, signal: AbortSignal): Promise<Completion> {
    const sink = new BufferSink();
    let result: HttpResult;
    try {
      result = await this.#client().fetch(
        {
          url: this.#address,
          method: "POST",
          headers: this.#headers,
          body: JSON.stringify(body),
          // The key is for this address and no other.
          followRedirects: () => false,
          signal,
        },
        sink,
      );
    } catch (error) {
      signal.throwIfAborted();
      throw this.#unreached(error);
    }
    if (result.notFollowed !== undefined || (result.status >= 300 && result.status < 400))
      throw new FetchFailure(
        "llm_refused",
        `APP_LLM_URL answered ${result.status}: it redirects, which is not followed; set it to where the endpoint is`,
      );
    if (result.status < 200 || result.status >= 300) throw this.#refused(result, sink.text());
    return readCompletion(sink.text());
  }

  /** The address is the operator's own: it may be in their network, whatever targets may be. */
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
        maxBodyBytes: MOST_BYTES,
      },
    });
    return this.#http;
  }

  #unreached(error: unknown): unknown {
    if (!(error instanceof FetchFailure)) return error;
    const { code, reason } = error.failure;
    if (code === "cancelled") return error;
    if (reason === "body_too_large" || reason === "decompression_limit")
      return new FetchFailure("llm_bad_answer", `the model's answer is longer than ${MOST_BYTES} bytes`);
    if (code === "timeout") {
      const seconds = this.#options.timeoutMs / 1000;
      const message = `the endpoint of APP_LLM_URL did not answer within ${seconds} s (APP_LLM_TIMEOUT_SECONDS)`;
      return new FetchFailure("llm_timeout", message);
    }
    return new FetchFailure("llm_unavailable", `the endpoint of APP_LLM_URL cannot be reached (${reason})`);
  }

  #refused({ status, headers }: HttpResult, text: string): FetchFailure {
    const { clock } = this.#options;
    const error = readError(text);
    const words = this.#shown(error.message);
    const says = words === "" ? "" : `: ${words}`;
    const patience = parseRetryAfter(headers["retry-after"] ?? "", clock.now());
    const more = patience === null ? {} : { retryAfterMs: patience };
    if (status === 401 || status === 403) {
      const what = this.#options.key === null ? "asks for a key" : "does not take the key";
      return new FetchFailure("llm_refused", `the endpoint of APP_LLM_URL ${what} (${status}): set APP_LLM_KEY${says}`);
    }
    // What is not paid for does not pass by itself.
    if (status === 429 && error.code === "insufficient_quota")
      return new FetchFailure("llm_refused", `the account of APP_LLM_KEY has no quota left (429)${says}`);
    if (status === 429) {
      if (patience !== null) this.#quietUntil = Math.max(this.#quietUntil, clock.monotonic() + patience);
      return new FetchFailure("llm_rate_limited", `the endpoint of APP_LLM_URL asks for patience (429)${says}`, more);
    }
    if (status >= 500 || status === 408 || status === 409 || status === 425)
      return new FetchFailure("llm_unavailable", `the endpoint of APP_LLM_URL answered ${status}${says}`, more);
    if (status === 404)
      return new FetchFailure("llm_refused", `the endpoint answered 404: check APP_LLM_URL and APP_LLM_MODEL${says}`);
    const message = `the endpoint of APP_LLM_URL refused the request (${status})${says}`;
    return status === 400 || status === 422 ? new BadRequest(message, error) : new FetchFailure("llm_refused", message);
  }

  /** Some repeat the key that they do not like. */
  #shown(words: string): string {
    const { key } = this.#options;
    const masked = key === null || key === "" ? words : words.replaceAll(key, "********");
    return masked.replace(/\s+/g, " ").trim().slice(0, LONGEST_WORDS);
  }
}

/** A name and a password in the address are for its door, and not for its path. */
function addressOf(text: string): { address: string; basic: string | null } {
  const url = new URL(text);
  const user = decodeURIComponent(url.username);
  const password = decodeURIComponent(url.password);
  url.username = "";
  url.password = "";
  const path = url.pathname.replace(/\/+$/, "");
  if (!path.endsWith("/chat/completions")) url.pathname = `${path}/chat/completions`;
  const basic = user === "" && password === "" ? null : Buffer.from(`${user}:${password}`).toString("base64");
  return { address: url.href, basic: basic === null ? null : `Basic ${basic}` };
}
