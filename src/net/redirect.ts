import { FetchFailure } from "../domain/run/failure.ts";

const LONGEST_LOCATION = 8192;

/** The rules of following a redirect, as browsers do it. */
export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** Where a Location header points to, seen from the page that sent it. */
export function redirectTarget(location: string | undefined, from: URL): URL {
  if (location === undefined || location === "")
    throw new FetchFailure("bad_redirect", "a redirect came without a Location");
  // As long as the longest address that may be asked for: every hop is stored with its task.
  if (location.length > LONGEST_LOCATION)
    throw new FetchFailure("bad_redirect", `the Location of a redirect is longer than ${LONGEST_LOCATION} characters`);
  const target = URL.parse(asUtf8(location), from.href);
  if (target === null) throw new FetchFailure("bad_redirect", "the Location of a redirect is not a URL");
  return target;
}

/** Headers arrive as Latin-1, but servers that put letters into Location mean UTF-8, and browsers read it so. */
function asUtf8(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  const bytes = Buffer.from(text, "latin1");
  const decoded = bytes.toString("utf8");
  return decoded.includes("\ufffd") ? text : decoded;
}

/** 303 always, and 301/302 after a POST, go on as GET without the body. */
export function redirectMethod(status: number, method: string): string {
  if (status === 303 && method !== "HEAD") return "GET";
  return (status === 301 || status === 302) && method === "POST" ? "GET" : method;
}

const ABOUT_THE_BODY = new Set(["content-type", "content-language", "content-encoding", "content-location"]);

export function withoutBodyHeaders(headers: Map<string, string>): Map<string, string> {
  return new Map([...headers].filter(([name]) => !ABOUT_THE_BODY.has(name)));
}

const SAFE_ELSEWHERE = new Set([
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
 * What may go on to another origin. A list of what is safe rather than of what is secret: Node's own fetch drops
 * Authorization and Cookie, and hands X-Api-Key to whoever the first server names.
 */
export function safeForOtherOrigin(headers: Map<string, string>): Map<string, string> {
  return new Map([...headers].filter(([name]) => SAFE_ELSEWHERE.has(name)));
}
