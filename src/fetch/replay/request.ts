/** The replayed request, and the slots in it that change from page to page. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Exchange } from "./exchange.ts";
import { readJson } from "./json-body.ts";
import { valueAt, withValueAt } from "./path.ts";

export interface ReplayRequest {
  method: "GET" | "POST";
  url: string;
  /** Lower-case names. Bound to the origin of the recipe's URL. */
  headers: Readonly<Record<string, string>>;
  body: { text: string } | { json: JsonValue } | null;
}

/** The recorded request without headers and URL credentials. */
export function recordedRequest({ method, url, body }: Exchange["request"]): ReplayRequest {
  const bare = new URL(url);
  bare.hash = "";
  bare.username = "";
  bare.password = "";
  const json = body === null ? undefined : readJson(body);
  const sent = typeof json === "object" && json !== null ? { json } : { text: body ?? "" };
  return {
    method: method === "POST" ? "POST" : "GET",
    url: bare.href,
    headers: {},
    body: method !== "POST" || body === null ? null : sent,
  };
}

type SlotValue = JsonValue;

/** The location of a page number, an offset or a cursor. */
export interface Slot {
  read(request: ReplayRequest): JsonValue | undefined;
  /** Undefined removes the parameter. */
  write(request: ReplayRequest, value: SlotValue | undefined): ReplayRequest;
}

export function querySlot(name: string): Slot {
  return {
    read: ({ url }) => new URL(url).searchParams.get(name) ?? undefined,
    write(request, value) {
      const url = new URL(request.url);
      url.search = withParameter(url.search.slice(1), name, value);
      return { ...request, url: url.href };
    },
  };
}

/** In a form-encoded body. */
export function formSlot(name: string): Slot {
  return {
    read: ({ body }) => new URLSearchParams(formOf(body)).get(name) ?? undefined,
    write: (request, value) => ({ ...request, body: { text: withParameter(formOf(request.body), name, value) } }),
  };
}

/** In a JSON body. */
export function jsonSlot(names: readonly string[]): Slot {
  return {
    read: ({ body }) => (body !== null && "json" in body ? valueAt(body.json, names) : undefined),
    write(request, value) {
      const { body } = request;
      if (body === null || !("json" in body)) return request;
      // Keeps the type: a server that expects "1" may reject 2.
      const wasText = typeof valueAt(body.json, names) === "string" && typeof value === "number";
      return { ...request, body: { json: withValueAt(body.json, names, wasText ? String(value) : value) } };
    },
  };
}

export function bodyText({ body }: ReplayRequest): string | undefined {
  if (body === null) return undefined;
  return "json" in body ? JSON.stringify(body.json) : body.text;
}

function formOf(body: ReplayRequest["body"]): string {
  return body !== null && "text" in body ? body.text : "";
}

/** Changes only this parameter: URLSearchParams would re-encode all others, and some servers care. */
function withParameter(query: string, name: string, value: SlotValue | undefined): string {
  const parts = query === "" ? [] : query.split("&");
  const isParameter = (part: string) => new URLSearchParams(part).has(name);
  if (value === undefined) return parts.filter((part) => !isParameter(part)).join("&");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const next = `${encodeURIComponent(name)}=${encodeURIComponent(text)}`;
  const at = parts.findIndex(isParameter);
  if (at < 0) return [...parts, next].join("&");
  const writtenName = parts[at]?.split("=")[0] ?? "";
  return parts.map((part, index) => (index === at ? `${writtenName}=${encodeURIComponent(text)}` : part)).join("&");
}
