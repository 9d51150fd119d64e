/** What `api_replay` sends and how it reads the answers, as a job says it. */
import type { FieldError } from "../../base/errors.ts";
import type { JsonValue, Parsed } from "../../domain/lane/queue-item.ts";
import { fetchUrl } from "../../domain/text/url.ts";
import { ObjectReader } from "./object-reader.ts";
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
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
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
  const reader = ObjectReader.open(value, path, errors, 'an object like {"request": {"url": "https://…"}}');
  if (reader === null) return { errors };
  reader.onlyKeys(["request", "items", "pagination"]);
  const request = parseRequest(reader);
  const items = reader.parsed("items", compilePath) ?? null;
  const pagination = reader.has("pagination") ? parsePagination(reader, request) : null;
  return request === null || errors.length > 0 ? { errors } : { ok: { request, items, pagination } };
}

function parseRequest(recipe: ObjectReader): ReplayRequest | null {
  const reader = ObjectReader.open(
    recipe.value("request"),
    recipe.at("request"),
    recipe.errors,
    "an object with a url",
  );
  if (reader === null) return null;
  reader.onlyKeys(["method", "url", "headers", "body"]);
  const method = reader.oneOf("method", ["GET", "POST"]) ?? "GET";
  const url = reader.parsed("url", parseUrl);
  if (!reader.has("url")) reader.complain("url", "is required");
  const headers = parseHeaders(reader);
  const body = parseBody(reader);
  if (method === "GET" && body !== null) reader.complain("body", "a GET has no body: use POST, or leave it out");
  if (body !== null && "json" in body) headers["content-type"] ??= "application/json";
  return url === undefined ? null : { method, url, headers, body };
}

function parseUrl(text: string): string {
  const url = text.length <= LIMITS.urlLength ? fetchUrl(text) : null;
  if (text.length > LIMITS.urlLength) throw new Error(`is longer than ${LIMITS.urlLength} characters`);
  if (url === null || !/^https?:/.test(url)) throw new Error("expected an absolute http or https URL");
  return url;
}

function parseHeaders(request: ObjectReader): Record<string, string> {
  const headers: Record<string, string> = {};
  if (!request.has("headers")) return headers;
  const reader = ObjectReader.open(
    request.value("headers"),
    request.at("headers"),
    request.errors,
    "an object of texts",
  );
  if (reader === null) return headers;
  const names = reader.keys();
  if (names.length > LIMITS.headers) request.complain("headers", `has more than ${LIMITS.headers} headers`);
  for (const name of names.slice(0, LIMITS.headers)) {
    const value = reader.value(name);
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(name) || name.length > 200) reader.complain(name.slice(0, 200), "is no name of a header");
    else if (RESERVED_HEADERS.has(lower)) reader.complain(name, "is set by the program");
    else if (lower in headers) reader.complain(name, "is there twice, in other letters");
    else if (typeof value !== "string") reader.complain(name, "expected a text");
    else if (value.length > LIMITS.headerLength)
      reader.complain(name, `is longer than ${LIMITS.headerLength} characters`);
    // What is beyond Latin-1 cannot be sent, and line ends would begin another header.
    else if (!/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value))
      reader.complain(name, "has characters no header can have");
    else headers[lower] = value.trim();
  }
  return headers;
}

function parseBody(reader: ObjectReader): ReplayRequest["body"] {
  const value = reader.value("body");
  if (value === undefined) return null;
  if (typeof value === "string") {
    if (value.length > LIMITS.bodyLength) reader.complain("body", `is longer than ${LIMITS.bodyLength} characters`);
    return { text: value };
  }
  if (typeof value !== "object") {
    reader.complain("body", "expected a text, an object or an array");
    return null;
  }
  if (isDeeper(value, LIMITS.bodyDepth)) {
    reader.complain("body", `is nested more than ${LIMITS.bodyDepth} levels deep`);
    return null;
  }
  if (JSON.stringify(value).length > LIMITS.bodyLength) {
    reader.complain("body", `is longer than ${LIMITS.bodyLength} characters as JSON`);
  }
  return { json: value as JsonValue };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function parsePagination(recipe: ObjectReader, request: ReplayRequest | null): Replay["pagination"] {
  const kinds = Object.keys(PAGINATION_KINDS);
  const expected = `an object with a kind: ${kinds.join(", ")}`;
  const reader = ObjectReader.open(recipe.value("pagination"), recipe.at("pagination"), recipe.errors, expected);
  if (reader === null) return null;
  const kind = reader.oneOf("kind", kinds);
  if (!reader.has("kind")) reader.complain("kind", `is required: one of ${kinds.join(", ")}`);
  const chosen = kind === undefined ? undefined : PAGINATION_KINDS[kind];
  if (kind === undefined || chosen === undefined) return null;
  reader.onlyKeys(["kind", "max_pages", ...chosen.keys]);
  const maxPages = reader.whole("max_pages", { min: 1, max: MAX_PAGES }) ?? DEFAULT_MAX_PAGES;
  // Without a request there is nothing to look for places in; its own mistakes are known already.
  const steps = request === null ? null : chosen.parse(reader, request);
  return steps === null ? null : { kind, maxPages, steps };
}
