/** The operator's SearXNG, over its JSON API. */
import type { Clock } from "../base/clock.ts";
import { OrbError } from "../base/errors.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import { decodePercent } from "../domain/text/url.ts";
import { BufferSink } from "../net/buffer-sink.ts";
import type { HttpResult } from "../net/http.ts";
import { createHttpClient, type HttpClient } from "../net/http-client.ts";

interface SearxngOptions {
  /** May have a user name and a password. */
  url: string;
  timeoutMs: number;
  userAgent: string;
  clock: Clock;
}

interface Query {
  query: string;
  source: "web" | "news" | "images";
  language?: string;
  timeRange?: string;
  category?: string;
}

interface Found {
  url: string;
  title: string;
  description: string;
  published: string | null;
  image: string | null;
  resolution: string | null;
}

const MAX_BYTES = 8 * 1024 * 1024;
const MAX_TEXT = 2000;
const CATEGORIES = { web: "general", news: "news", images: "images" } as const;

export interface SearchEndpoint {
  page(query: Query, page: number, signal: AbortSignal): Promise<{ results: Found[]; warnings: string[] }>;
  close(): Promise<void>;
}

export function searxng(options: SearxngOptions): SearchEndpoint {
  const { url, timeoutMs, userAgent, clock } = options;
  const { address, authorization } = addressOf(url);
  let client: HttpClient | null = null;
  /** The operator configures the URL: it may be in a private network, unlike the pages that are found. */
  const http = () =>
    (client ??= createHttpClient({
      policy: { privateNetworks: true, listed: [] },
      clock,
      userAgent,
      limits: {
        connectMs: Math.min(10_000, timeoutMs),
        headersMs: timeoutMs,
        idleMs: timeoutMs,
        totalMs: timeoutMs,
        maxBodyBytes: MAX_BYTES,
      },
    }));
  return {
    async page(query, page, signal) {
      const sink = new BufferSink();
      let result: HttpResult;
      try {
        result = await http().fetch(
          {
            url: requestUrl(address, query, page),
            method: "GET",
            headers: { accept: "application/json", ...(authorization === null ? {} : { authorization }) },
            followRedirects: () => false,
            signal,
          },
          sink,
        );
      } catch (error) {
        signal.throwIfAborted();
        throw requestFailure(error, timeoutMs);
      }
      if (result.status !== 200) throw statusFailure(result);
      return readAnswer(sink.body().toString("utf8"));
    },
    close: async () => client?.close(),
  };
}

function requestUrl(address: string, { query, source, language, timeRange, category }: Query, page: number): string {
  const url = new URL(address);
  const values = {
    q: query,
    format: "json",
    categories: category ?? CATEGORIES[source],
    pageno: String(page),
    ...(language === undefined ? {} : { language }),
    ...(timeRange === undefined ? {} : { time_range: timeRange }),
  };
  for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value);
  return url.href;
}

function readAnswer(text: string): { results: Found[]; warnings: string[] } {
  let answer: { results?: unknown; unresponsive_engines?: unknown };
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch {
    throw unavailable("APP_SEARCH_URL did not answer with JSON: set it to the address of a SearXNG");
  }
  if (typeof answer !== "object" || answer === null || !Array.isArray(answer.results))
    throw unavailable("APP_SEARCH_URL answered JSON without results: set it to the address of a SearXNG");
  const silent = Array.isArray(answer.unresponsive_engines) ? answer.unresponsive_engines : [];
  const names = silent.slice(0, 10).map((engine) => (Array.isArray(engine) ? engine.join(": ") : String(engine)));
  return {
    results: answer.results.flatMap((one) => foundIn(one as Record<string, unknown> | null)),
    warnings: names.map((name) => `a search engine did not answer: ${name.slice(0, 200)}`),
  };
}

function foundIn(one: Record<string, unknown> | null): Found[] {
  const text = (name: string) => (typeof one?.[name] === "string" ? one[name].trim().slice(0, MAX_TEXT) : "");
  const url = URL.parse(typeof one?.["url"] === "string" ? one["url"] : "");
  if (url === null || !/^https?:$/.test(url.protocol)) return [];
  return [
    {
      url: url.href,
      title: text("title"),
      description: text("content"),
      published: text("publishedDate") || null,
      image: text("img_src") || text("thumbnail") || null,
      resolution: text("resolution").replaceAll(/\s*[x×]\s*/g, "x") || null,
    },
  ];
}

function requestFailure(error: unknown, timeoutMs: number): unknown {
  if (!(error instanceof FetchFailure)) return error;
  const { code, reason } = error.failure;
  if (code === "cancelled") return error;
  if (code === "timeout")
    return unavailable(`APP_SEARCH_URL did not answer within ${timeoutMs / 1000} s (APP_SEARCH_TIMEOUT_SECONDS)`);
  return unavailable(`APP_SEARCH_URL cannot be reached (${reason}): is the search server running?`);
}

function statusFailure({ status }: HttpResult): OrbError {
  if (status === 403)
    return unavailable(
      "the search server answered 403: allow JSON in its settings.yml (search: formats: [html, json]) and restart it",
    );
  if (status === 429)
    return unavailable("the search server answered 429: turn off its limiter for this address (server: limiter)");
  if (status === 401)
    return unavailable("the search server answered 401: put its user and password into APP_SEARCH_URL");
  if (status >= 300 && status < 400)
    return unavailable(`the search server answered ${status}: set APP_SEARCH_URL to the final address`);
  return unavailable(`the search server answered ${status}: check APP_SEARCH_URL`);
}

function unavailable(message: string): OrbError {
  return new OrbError("search_unavailable", message);
}

/** Adds `/search`, and moves a user name and password to the Authorization header. */
function addressOf(text: string): { address: string; authorization: string | null } {
  const url = new URL(text);
  const [user, password] = [decodePercent(url.username), decodePercent(url.password)];
  url.username = "";
  url.password = "";
  if (!/\/search\/?$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/$/, "")}/search`;
  const basic = user === "" && password === "" ? null : Buffer.from(`${user}:${password}`).toString("base64");
  return { address: url.href, authorization: basic === null ? null : `Basic ${basic}` };
}
