import { FetchFailure } from "../domain/run/failure.ts";

const MAX_LOCATION = 8192;

/** The status codes that browsers follow. */
export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** Resolves a Location header. Throws `bad_redirect`. */
export function redirectTarget(location: string | undefined, from: URL): URL {
  if (location === undefined || location === "")
    throw new FetchFailure("bad_redirect", "a redirect has no Location header");
  // The limit for target URLs: every hop is stored with its task.
  if (location.length > MAX_LOCATION)
    throw new FetchFailure(
      "bad_redirect",
      `the Location header of a redirect is longer than ${MAX_LOCATION} characters`,
    );
  const target = URL.parse(asUtf8(location), from.href);
  if (target === null) throw new FetchFailure("bad_redirect", "the Location header of a redirect is not a URL");
  return target;
}

/** Node decodes headers as Latin-1; servers send Location in UTF-8, and browsers decode it as such. */
function asUtf8(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  const bytes = Buffer.from(text, "latin1");
  const decoded = bytes.toString("utf8");
  return decoded.includes("\ufffd") ? text : decoded;
}

/** 303, and 301/302 after a POST, continue as GET without the body. */
export function redirectMethod(status: number, method: string): string {
  if (status === 303 && method !== "HEAD") return "GET";
  return (status === 301 || status === 302) && method === "POST" ? "GET" : method;
}

const BODY_HEADERS = new Set(["content-type", "content-language", "content-encoding", "content-location"]);

export function withoutBodyHeaders(headers: Map<string, string>): Map<string, string> {
  return new Map([...headers].filter(([name]) => !BODY_HEADERS.has(name)));
}

const SAFE_CROSS_ORIGIN = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "content-type",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "range",
  "user-agent",
]);

/**
 * Headers that may cross origins. An allow-list, not a deny-list: Node's fetch drops Authorization and Cookie but sends
 * X-Api-Key to any origin that a server redirects to.
 */
export function safeForOtherOrigin(headers: Map<string, string>): Map<string, string> {
  return new Map([...headers].filter(([name]) => SAFE_CROSS_ORIGIN.has(name)));
}
