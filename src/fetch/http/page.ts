import type { Clock } from "../../base/clock.ts";
import { conditionHeaders } from "../../domain/page/page-copy.ts";
import { siteOf } from "../../domain/text/url.ts";
import { BufferSink } from "../../net/buffer-sink.ts";
import type { HttpLimits, HttpRequest } from "../../net/http.ts";
import type { HttpClient } from "../../net/http-client.ts";
import type { Credentials } from "../../domain/text/credentials.ts";
import type { PageAnswer, PageRequest, PageStrategy } from "../page.ts";

/** A browser's Accept header: without it some servers send JSON or an error. */
const ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,application/json;q=0.9,*/*;q=0.8";

interface HttpPageDeps {
  client: HttpClient;
  clock: Clock;
  limits: Partial<HttpLimits>;
}

export function createHttpPageStrategy(deps: HttpPageDeps): PageStrategy {
  return {
    name: "http",
    async fetch(request) {
      const sink = new BufferSink(({ status, headers }) => request.onHead?.(status, headers));
      const result = await deps.client.fetch(toHttp(request, deps), sink);
      const answer: PageAnswer = {
        status: result.status,
        finalUrl: result.url,
        redirects: result.redirects,
        headers: result.headers,
        contentType: result.contentType,
        body: sink.body(),
        durationMs: result.timing.durationMs,
        headMs: result.timing.headMs,
        requests: 1 + result.redirects.filter(({ to }) => siteOf(to) === siteOf(request.url)).length,
      };
      if (result.notFollowed !== undefined) answer.notFollowed = result.notFollowed;
      if (result.exchanges !== undefined) answer.exchanges = result.exchanges;
      return answer;
    },
  };
}

function toHttp(request: PageRequest, { limits, clock }: HttpPageDeps): HttpRequest {
  const { timeoutMs, maxBodyBytes } = request;
  const http: HttpRequest = {
    url: request.url,
    headers: {
      accept: ACCEPT,
      ...credentialHeaders(request.credentials, new URL(request.url), clock.now()),
      ...(request.conditions === undefined ? {} : conditionHeaders(request.conditions)),
    },
    limits: { ...limits, totalMs: timeoutMs, headersMs: timeoutMs, idleMs: timeoutMs, maxBodyBytes },
  };
  if (request.signal !== undefined) http.signal = request.signal;
  if (request.via !== undefined) http.via = request.via;
  if (request.followRedirects !== undefined) http.followRedirects = request.followRedirects;
  if (request.beforeRedirect !== undefined) http.beforeRedirect = request.beforeRedirect;
  if (request.maxRedirects !== undefined) http.maxRedirects = request.maxRedirects;
  if (request.keepExchanges === true) http.keepExchanges = true;
  return http;
}

/** Credential headers for a URL of their origin; the client drops them on redirects to other origins. */
export function credentialHeaders(credentials: Credentials | null, url: URL, now: number): Record<string, string> {
  if (credentials === null || credentials.origin !== url.origin) return {};
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(credentials.headers)) headers[name.toLowerCase()] = value;
  const cookies = credentials.cookies.filter(
    ({ path, domain, expires = -1 }) => cookieFits(path, domain, url) && (expires <= 0 || expires * 1000 > now),
  );
  if (cookies.length > 0) {
    const cookieHeader = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
    headers["cookie"] = headers["cookie"] === undefined ? cookieHeader : `${headers["cookie"]}; ${cookieHeader}`;
  }
  if (credentials.basic !== null) {
    const { username, password } = credentials.basic;
    headers["authorization"] = `Basic ${Buffer.from(`${username}:${password}`, "utf8").toString("base64")}`;
  }
  return headers;
}

function cookieFits(path: string | undefined, domain: string | undefined, url: URL): boolean {
  const folder = path ?? "/";
  const inPath = url.pathname === folder || url.pathname.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
  if (!inPath || domain === undefined) return inPath;
  const bare = domain.replace(/^\./, "").toLowerCase();
  return url.hostname === bare || url.hostname.endsWith(`.${bare}`);
}
