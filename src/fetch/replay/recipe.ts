/** What `api_replay` sends and how it reads the answers, as a job says it. */
import type { JsonValue, Parsed } from "../../domain/lane/queue-item.ts";
import { InputReader } from "../../domain/text/input-reader.ts";
import { fetchUrl } from "../../domain/text/url.ts";
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
  const job = new InputReader({ [path]: value });
  const { errors } = job;
  job.require(path);
  const reader = job.child(path, 'an object like {"request": {"url": "https://…"}}');
  if (reader === undefined) return { errors };
  reader.rejectUnknownKeys(["request", "items", "pagination"]);
  const request = parseRequest(reader);
  const items = reader.parsed("items", compilePath) ?? null;
  const pagination = parsePagination(reader, request);
  return request === null || errors.length > 0 ? { errors } : { ok: { request, items, pagination } };
}

function parseRequest(recipe: InputReader): ReplayRequest | null {
  recipe.require("request");
  const reader = recipe.child("request", "an object with a url");
  if (reader === undefined) return null;
  reader.rejectUnknownKeys(["method", "url", "headers", "body"]);
  const method = reader.oneOf("method", ["GET", "POST"]) ?? "GET";
  const url = reader.parsed("url", parseUrl);
  reader.require("url");
  const headers = parseHeaders(reader);
  const body = parseBody(reader);
  if (method === "GET" && body !== null) reader.addError("body", "a GET has no body: use POST, or remove the body");
  if (body !== null && "json" in body) headers["content-type"] ??= "application/json";
  return url === undefined ? null : { method, url, headers, body };
}

function parseUrl(text: string): string {
  const url = text.length <= LIMITS.urlLength ? fetchUrl(text) : null;
  if (text.length > LIMITS.urlLength) throw new Error(`is longer than ${LIMITS.urlLength} characters`);
  if (url === null || !/^https?:/.test(url)) throw new Error("expected an absolute http or https URL");
  return url;
}

function parseHeaders(request: InputReader): Record<string, string> {
  const reader = request.child("headers", "an object of strings");
  if (reader === undefined) return {};
  const headers = new Map<string, string>();
  const names = reader.keys();
  if (names.length > LIMITS.headers) request.addError("headers", `has more than ${LIMITS.headers} headers`);
  for (const name of names.slice(0, LIMITS.headers)) {
    const value = reader.value(name);
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(name) || name.length > 200) reader.addError(name.slice(0, 200), "is not a header name");
    else if (RESERVED_HEADERS.has(lower)) reader.addError(name, "is set automatically");
    else if (headers.has(lower)) reader.addError(name, "appears twice, in different case");
    else if (typeof value !== "string") reader.addError(name, "expected a string");
    else if (value.length > LIMITS.headerLength)
      reader.addError(name, `is longer than ${LIMITS.headerLength} characters`);
    // What is beyond Latin-1 cannot be sent, and line ends would begin another header.
    else if (!/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value))
      reader.addError(name, "contains characters that are not allowed in a header");
    else headers.set(lower, value.trim());
  }
  return Object.fromEntries(headers);
}

function parseBody(reader: InputReader): ReplayRequest["body"] {
  const value = reader.value("body");
  if (value === undefined) return null;
  if (typeof value === "string") {
    if (value.length > LIMITS.bodyLength) reader.addError("body", `is longer than ${LIMITS.bodyLength} characters`);
    return { text: value };
  }
  if (typeof value !== "object") {
    reader.addError("body", "expected a string, an object or an array");
    return null;
  }
  if (isDeeper(value, LIMITS.bodyDepth)) {
    reader.addError("body", `is nested more than ${LIMITS.bodyDepth} levels deep`);
    return null;
  }
  if (JSON.stringify(value).length > LIMITS.bodyLength) {
    reader.addError("body", `is longer than ${LIMITS.bodyLength} characters as JSON`);
  }
  return { json: value as JsonValue };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function parsePagination(recipe: InputReader, request: ReplayRequest | null): Replay["pagination"] {
  const kinds = Object.keys(PAGINATION_KINDS);
  const reader = recipe.child("pagination", `an object with a kind: ${kinds.join(", ")}`);
  if (reader === undefined) return null;
  const kind = reader.oneOf("kind", kinds);
  reader.require("kind", `one of ${kinds.join(", ")}`);
  const chosen = kind === undefined ? undefined : PAGINATION_KINDS[kind];
  if (kind === undefined || chosen === undefined) return null;
  reader.rejectUnknownKeys(["kind", "max_pages", ...chosen.keys]);
  const maxPages = reader.number("max_pages", { min: 1, max: MAX_PAGES }) ?? DEFAULT_MAX_PAGES;
  // Without a request there is nothing to look for places in; its own mistakes are known already.
  const steps = request === null ? null : chosen.parse(reader, request);
  return steps === null ? null : { kind, maxPages, steps };
}
