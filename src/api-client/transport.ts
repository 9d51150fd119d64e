/** Calls over HTTP: addresses, time limits, repeats, and what became of them. Knows nothing of what the API is about. */
import { type FetchAnswer, OpenAnswer } from "./answer.ts";
import { errorOf, OrbweaverError, unreachable } from "./error.ts";
import { REPEATABLE, TEXTS } from "./operations.ts";
import { pauseAfter, RETRY_RULES, retryAfterMs } from "./retry.ts";
import { Leash, sleep, uuid } from "./time.ts";
import type { CallOptions } from "./types.ts";

export interface FetchInit {
  method: string;
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
}

/** `fetch`, or whatever else gets a call to a server and its answer back. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

export interface ClientOptions {
  /** Where the server is: `http://127.0.0.1:8000`; in a page of its own, `location.origin`. */
  url: string;
  /** The value of the server's APP_API_TOKEN. */
  token?: string | null | undefined;
  fetch?: Fetch | undefined;
  /** For a call as a whole, all tries together; 130 s if nothing is said, which is more than any call takes. */
  timeoutMs?: number | undefined;
  /** How often GETs, and POSTs that are done once by their key, are tried again; 4 if nothing is said. */
  retries?: number | undefined;
  /** Sent with every call. */
  headers?: Readonly<Record<string, string>> | undefined;
}

export interface LooseInput {
  params?: Readonly<Record<string, unknown>> | undefined;
  query?: Readonly<Record<string, unknown>> | undefined;
  body?: unknown;
}

const WHETHER = [() => true, () => false] as const;
const TIMEOUT_MS = 130_000;
/** A server that streams says something every 15 s. */
const IDLE_MS = 60_000;

export class Transport {
  readonly base: string;
  readonly #options: ClientOptions;
  readonly #fetch: Fetch;

  constructor(options: ClientOptions) {
    this.base = baseOf(options.url);
    this.#options = options;
    // Browsers refuse a fetch that was taken off its window.
    this.#fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  }

  /** What a call answers: JSON as a value, anything else as text, nothing as null. */
  async request(
    route: string,
    input: LooseInput,
    options: CallOptions,
  ): Promise<{ data: unknown; answer: OpenAnswer }> {
    const mayBeText = TEXTS.has(route) || input.query?.["format"] !== undefined;
    return this.#send(route, input, options, async (answer) => ({ data: await dataOf(answer, mayBeText), answer }));
  }

  /** An answer whose content is read as it comes: a file, a stream. The time limit is for its beginning. */
  open(route: string, input: LooseInput, options: CallOptions): Promise<OpenAnswer> {
    return this.#send(route, input, options, async (answer) => answer);
  }

  async #send<T>(
    route: string,
    input: LooseInput,
    options: CallOptions,
    read: (answer: OpenAnswer) => Promise<T>,
  ): Promise<T> {
    const [method = "", path = ""] = route.split(" ");
    const url = this.base + addressOf(path, input);
    const rules = { ...RETRY_RULES, retries: options.retries ?? this.#options.retries ?? RETRY_RULES.retries };
    const init = this.#initOf(route, method, input, options, rules.retries);
    const isRepeatable = method === "get" || init.headers["idempotency-key"] !== undefined;
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? TIMEOUT_MS;
    const leash = new Leash(options.signal);
    leash.allow(timeoutMs, () => timedOut(this.base, timeoutMs));
    let isOver = false;
    const over = () => {
      if (isOver) leash.close();
    };
    for (let failures = 1; ; failures += 1) {
      try {
        leash.signal.throwIfAborted();
        const answer = await this.#try(url, init, leash, over);
        const done = await read(answer);
        isOver = true;
        // While the body is read, only silence ends the call.
        leash.allow(null, () => timedOut(this.base, timeoutMs));
        if (answer.isRead) leash.close();
        return done;
      } catch (error) {
        const pause = isRepeatable && !leash.signal.aborted ? pauseAfter(error, failures, rules) : null;
        // Aborted meanwhile: thrown below, with its reason.
        if (pause !== null && (await sleep(pause, leash.signal).then(...WHETHER))) continue;
        leash.close();
        throw leash.signal.aborted ? leash.signal.reason : error;
      }
    }
  }

  async #try(url: string, init: Omit<FetchInit, "signal">, leash: Leash, over: () => void): Promise<OpenAnswer> {
    let answer: FetchAnswer;
    try {
      answer = await this.#fetch(url, { ...init, signal: leash.signal });
    } catch (error) {
      throw leash.signal.aborted ? leash.signal.reason : unreachable(this.base, error);
    }
    const opened = new OpenAnswer(answer, leash, {
      idleMs: IDLE_MS,
      failed: (error) => unreachable(this.base, error),
      silent: () => timedOut(this.base, IDLE_MS),
      over,
    });
    if (answer.status < 400) return opened;
    throw errorOf(answer.status, await opened.text(), retryAfterMs(answer.headers));
  }

  #initOf(
    route: string,
    method: string,
    { body }: LooseInput,
    { idempotencyKey, headers }: CallOptions,
    retries: number,
  ): Omit<FetchInit, "signal"> {
    const { token, headers: always } = this.#options;
    // A call that is never repeated needs no key.
    const key = idempotencyKey ?? (REPEATABLE.has(route) && retries > 0 ? uuid() : undefined);
    // The one thing that is a text by itself is a definition in YAML.
    const isText = typeof body === "string";
    const sent = isText ? body : body === undefined ? undefined : JSON.stringify(body);
    return {
      method: method.toUpperCase(),
      headers: {
        ...(sent === undefined ? {} : { "content-type": isText ? "application/yaml" : "application/json" }),
        ...(token === undefined || token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(key === undefined ? {} : { "idempotency-key": key }),
        ...always,
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    };
  }
}

async function dataOf(answer: OpenAnswer, mayBeText: boolean): Promise<unknown> {
  const text = await answer.text();
  if (answer.status === 204) return null;
  const isJson = answer.headers.get("content-type")?.includes("json") === true;
  if (!isJson && mayBeText) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const { status } = answer;
    const detail = `the server answered ${status} with something that is not JSON`;
    const hint = "Check that the URL is that of orb serve, and that proxies in between pass on the calls.";
    throw new OrbweaverError({ code: "not_orbweaver", status, detail, hint, cause });
  }
}

function timedOut(base: string, ms: number): OrbweaverError {
  const detail = `no answer from ${base} within ${ms / 1000} s`;
  return new OrbweaverError({ code: "timed_out", status: 0, detail, hint: "Increase timeoutMs." });
}

function baseOf(address: string): string {
  let url: URL | null = null;
  try {
    url = new URL(address);
  } catch {
    // Thrown below.
  }
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "" && url.hash === "")
    return url.href.replace(/\/+$/, "");
  throw invalid("url", "expected the URL of a server, such as http://127.0.0.1:8000");
}

/** With the query; names in the path are encoded, so that none leads elsewhere. */
export function addressOf(path: string, { params = {}, query = {} }: LooseInput): string {
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    // Where `task_id` names a crawl, its clearer name does, too.
    const value = String(params[name] ?? (name === "task_id" ? params["crawl_id"] : undefined) ?? "");
    if (value === "" || value === "." || value === "..") throw invalid(`path.${name}`, "expected an id or a name");
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) search.append(name, String(one));
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}

function invalid(path: string, message: string): OrbweaverError {
  const detail = `${path}: ${message}`;
  return new OrbweaverError({ code: "input_invalid", status: 0, detail, errors: [{ path, message }] });
}
