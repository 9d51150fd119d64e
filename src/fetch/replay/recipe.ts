/** What `api_replay` sends and how it reads the answers, as a job says it. */
import type { FieldError } from "../../base/errors.ts";
import type { JsonValue, Parsed } from "../../domain/lane/queue-item.ts";
import { fetchUrl } from "../../domain/text/url.ts";
import { Given } from "./given.ts";
import { PAGINATION_KINDS, type Steps } from "./pagination.ts";
import { compilePath, type Path } from "./path.ts";
import type { ReplayRequest } from "./request.ts";

export interface Replay {
  request: ReplayRequest;
  /** Null: the whole answer, or its elements when it is an array. */
  items: Path | null;
  /** Null: one page is all. */
  pagination: { kind: string; maxPages: number; steps: Steps } | null;
}

const LIMITS = { urlLength: 8192, headers: 100, headerLength: 8192, bodyLength: 1024 * 1024, bodyDepth: 50 } as const;
const MAX_PAGES = 1000;
const DEFAULT_MAX_PAGES = 10;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Set by the program itself, or about the connection rather than the request. */
const NOT_YOURS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The recipe, or every mistake in it with its path (`replay.pagination.param`). */
export function parseReplay(value: unknown, path: string): Parsed<Replay> {
  const errors: FieldError[] = [];
  const given = Given.open(value, path, errors, 'an object like {"request": {"url": "https://…"}}');
  if (given === null) return { errors };
  given.onlyKeys(["request", "items", "pagination"]);
  const request = parseRequest(given);
  const items = given.parsed("items", compilePath) ?? null;
  const pagination = given.has("pagination") ? parsePagination(given, request) : null;
  return request === null || errors.length > 0 ? { errors } : { ok: { request, items, pagination } };
}

function parseRequest(recipe: Given): ReplayRequest | null {
  const given = Given.open(recipe.value("request"), recipe.at("request"), recipe.errors, "an object with a url");
  if (given === null) return null;
  given.onlyKeys(["method", "url", "headers", "body"]);
  const method = given.oneOf("method", ["GET", "POST"]) ?? "GET";
  const url = given.parsed("url", parseUrl);
  if (!given.has("url")) given.complain("url", "is required");
  const headers = parseHeaders(given);
  const body = parseBody(given);
  if (method === "GET" && body !== null) given.complain("body", "a GET has no body: use POST, or leave it out");
  if (body !== null && "json" in body) headers["content-type"] ??= "application/json";
  return url === undefined ? null : { method, url, headers, body };
}

function parseUrl(text: string): string {
  const url = text.length <= LIMITS.urlLength ? fetchUrl(text) : null;
  if (text.length > LIMITS.urlLength) throw new Error(`is longer than ${LIMITS.urlLength} characters`);
  if (url === null || !/^https?:/.test(url)) throw new Error("expected an absolute http or https URL");
  return url;
}

function parseHeaders(request: Given): Record<string, string> {
  const headers: Record<string, string> = {};
  if (!request.has("headers")) return headers;
  const given = Given.open(request.value("headers"), request.at("headers"), request.errors, "an object of texts");
  if (given === null) return headers;
  const names = given.keys();
  if (names.length > LIMITS.headers) request.complain("headers", `has more than ${LIMITS.headers} headers`);
  for (const name of names.slice(0, LIMITS.headers)) {
    const value = given.value(name);
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(name) || name.length > 200) given.complain(name.slice(0, 200), "is no name of a header");
    else if (NOT_YOURS.has(lower)) given.complain(name, "is set by the program");
    else if (lower in headers) given.complain(name, "is there twice, in other letters");
    else if (typeof value !== "string") given.complain(name, "expected a text");
    else if (value.length > LIMITS.headerLength)
      given.complain(name, `is longer than ${LIMITS.headerLength} characters`);
    // What is beyond Latin-1 cannot be sent, and line ends would begin another header.
    else if (!/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value))
      given.complain(name, "has characters no header can have");
    else headers[lower] = value.trim();
  }
  return headers;
}

function parseBody(given: Given): ReplayRequest["body"] {
  const value = given.value("body");
  if (value === undefined) return null;
  if (typeof value === "string") {
    if (value.length > LIMITS.bodyLength) given.complain("body", `is longer than ${LIMITS.bodyLength} characters`);
    return { text: value };
  }
  if (typeof value !== "object") {
    given.complain("body", "expected a text, an object or an array");
    return null;
  }
  if (isDeeper(value, LIMITS.bodyDepth)) {
    given.complain("body", `is nested more than ${LIMITS.bodyDepth} levels deep`);
    return null;
  }
  if (JSON.stringify(value).length > LIMITS.bodyLength) {
    given.complain("body", `is longer than ${LIMITS.bodyLength} characters as JSON`);
  }
  return { json: value as JsonValue };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function parsePagination(recipe: Given, request: ReplayRequest | null): Replay["pagination"] {
  const kinds = Object.keys(PAGINATION_KINDS);
  const expected = `an object with a kind: ${kinds.join(", ")}`;
  const given = Given.open(recipe.value("pagination"), recipe.at("pagination"), recipe.errors, expected);
  if (given === null) return null;
  const kind = given.oneOf("kind", kinds);
  if (!given.has("kind")) given.complain("kind", `is required: one of ${kinds.join(", ")}`);
  const chosen = kind === undefined ? undefined : PAGINATION_KINDS[kind];
  if (kind === undefined || chosen === undefined) return null;
  given.onlyKeys(["kind", "max_pages", ...chosen.keys]);
  const maxPages = given.whole("max_pages", { min: 1, max: MAX_PAGES }) ?? DEFAULT_MAX_PAGES;
  // Without a request there is nothing to look for places in; its own mistakes are known already.
  const steps = request === null ? null : chosen.parse(given, request);
  return steps === null ? null : { kind, maxPages, steps };
}
