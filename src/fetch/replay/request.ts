/** The request that is sent again and again, and the places in it that change from page to page. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Exchange } from "./exchange.ts";
import { readJson } from "./json-body.ts";
import { valueAt, withValueAt } from "./path.ts";

export interface ReplayRequest {
  method: "GET" | "POST";
  url: string;
  /** Lower-case names. They belong to the origin of the recipe's URL. */
  headers: Readonly<Record<string, string>>;
  body: { text: string } | { json: JsonValue } | null;
}

/** As a page has sent it, without its headers and what may stand before a host. */
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

/** A place for a page number, an offset or a cursor. */
export interface Slot {
  read(request: ReplayRequest): JsonValue | undefined;
  /** Undefined takes the parameter out. */
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

/** In a body of the kind that HTML forms send. */
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
      // A server that was sent "1" may not understand 2.
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

/** Only this parameter changes: URLSearchParams would write all the others anew, and servers may care how. */
function withParameter(query: string, name: string, value: SlotValue | undefined): string {
  const parts = query === "" ? [] : query.split("&");
  const mine = (part: string) => new URLSearchParams(part).has(name);
  if (value === undefined) return parts.filter((part) => !mine(part)).join("&");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const next = `${encodeURIComponent(name)}=${encodeURIComponent(text)}`;
  const at = parts.findIndex(mine);
  if (at < 0) return [...parts, next].join("&");
  const written = parts[at]?.split("=")[0] ?? "";
  return parts.map((part, index) => (index === at ? `${written}=${encodeURIComponent(text)}` : part)).join("&");
}
