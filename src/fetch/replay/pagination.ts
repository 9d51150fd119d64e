/** The ways from one page of an API to the next. A new one is an entry here: its keys, and how it goes on. */
import { FetchFailure } from "../../domain/run/failure.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { InputReader } from "../../domain/text/input-reader.ts";
import { compilePath, readPointer, valueAt } from "./path.ts";
import { formSlot, jsonSlot, querySlot, type ReplayRequest, type Slot } from "./request.ts";

/** A page that came, with items on it. */
export interface Turn {
  /** Pages so far, this one included. */
  count: number;
  request: ReplayRequest;
  json: JsonValue;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  /** The URL that answered. */
  url: string;
}

export interface Steps {
  first(request: ReplayRequest): ReplayRequest;
  /** Null: this was the last page. */
  next(turn: Turn): ReplayRequest | null;
}

interface PaginationKind {
  keys: readonly string[];
  /** Null, with the mistakes noted. */
  parse(reader: InputReader, request: ReplayRequest): Steps | null;
}

const SLOT_KEYS = ["param", "in", "pointer"] as const;
const ANY_NUMBER = { min: -1_000_000_000, max: 1_000_000_000 };

export const PAGINATION_KINDS: Readonly<Record<string, PaginationKind>> = {
  page: {
    keys: [...SLOT_KEYS, "start", "step"],
    parse(reader, request) {
      const slot = parseSlot(reader, request);
      const start = reader.number("start", ANY_NUMBER) ?? 1;
      const step = reader.number("step", ANY_NUMBER) ?? 1;
      if (step === 0) reader.addError("step", "must not be 0: it would repeat the same page");
      return slot === null ? null : counting(slot, start, step);
    },
  },
  offset: {
    keys: [...SLOT_KEYS, "start", "limit", "limit_param"],
    parse(reader, request) {
      const slot = parseSlot(reader, request);
      const start = reader.number("start", ANY_NUMBER) ?? 0;
      const limit = reader.number("limit", { min: 1, max: 1_000_000 });
      reader.require("limit", "the number of items per page");
      const limitParam = reader.text("limit_param", { empty: false });
      if (slot === null || limit === undefined) return null;
      const steps = counting(slot, start, limit);
      if (limitParam === undefined) return steps;
      const size = querySlot(limitParam);
      return { first: (first) => size.write(steps.first(first), limit), next: (turn) => steps.next(turn) };
    },
  },
  cursor: {
    keys: [...SLOT_KEYS, "next"],
    parse(reader, request) {
      const slot = parseSlot(reader, request);
      const next = reader.parsed("next", compilePath);
      reader.require("next", "the path of the cursor in the response, such as $.meta.next");
      if (slot === null || next === undefined) return null;
      const inBody = reader.has("pointer");
      return {
        first: (first) => first,
        next({ json, request, count }) {
          const cursor = next.first(json);
          if (cursor === undefined || cursor === null || cursor === "" || cursor === false) return null;
          if (typeof cursor === "object" && !inBody) {
            throw new FetchFailure(
              "malformed_response",
              `page ${count}: ${next.text} is not a cursor but a JSON object or list`,
            );
          }
          return slot.write(request, cursor);
        },
      };
    },
  },
  link: {
    keys: ["next"],
    parse(reader) {
      const next = reader.parsed("next", compilePath);
      if (reader.has("next") && next === undefined) return null;
      return {
        first: (first) => first,
        next({ json, headers, request, url, count }) {
          const link = next === undefined ? nextLink(headers["link"] ?? "") : next.first(json);
          if (link === undefined || link === null || link === "" || link === false) return null;
          if (typeof link !== "string") {
            throw new FetchFailure("malformed_response", `page ${count}: ${next?.text ?? "Link"} is not a URL`);
          }
          return { ...request, url: sameOrigin(link, url, request.url, count) };
        },
      };
    },
  },
};

function counting(slot: Slot, start: number, step: number): Steps {
  return {
    first: (request) => slot.write(request, start),
    next: ({ request, count }) => slot.write(request, start + step * count),
  };
}

function parseSlot(reader: InputReader, request: ReplayRequest): Slot | null {
  const param = reader.text("param", { empty: false });
  const location = reader.oneOf("in", ["query", "form"]) ?? "query";
  const pointer = reader.parsed("pointer", readPointer);
  if (reader.has("param") === reader.has("pointer")) {
    reader.addError("param", "set either param (name in the query) or pointer (position in the JSON body)");
    return null;
  }
  if (pointer !== undefined) return parsePointer(reader, pointer, request);
  if (param === undefined) return null;
  if (location === "query") return querySlot(param);
  if (request.body !== null && "text" in request.body) return formSlot(param);
  reader.addError("in", "the request has no text body for the parameter");
  return null;
}

function parsePointer(reader: InputReader, names: readonly string[], { body }: ReplayRequest): Slot | null {
  const parent = body !== null && "json" in body ? valueAt(body.json, names.slice(0, -1)) : undefined;
  if (typeof parent === "object" && parent !== null) return jsonSlot(names);
  reader.addError("pointer", "the request body is not JSON, or has no such position");
  return null;
}

/** Of a Link header (RFC 8288), what has the relation `next`. */
export function nextLink(header: string): string | undefined {
  for (const [, address, parameters = ""] of header.matchAll(/<([^<>]*)>([^<]*)/g)) {
    const relations = /;\s*rel\s*=\s*"?([^";,]*)/i.exec(parameters)?.[1] ?? "";
    if (relations.toLowerCase().split(/\s+/).includes("next")) return address;
  }
  return undefined;
}

/**
 * The next page is where this one is: the request's headers belong there, and so do the limits it is fetched under. A
 * server behind a proxy that writes http: for its own https: addresses means the latter.
 */
function sameOrigin(link: string, base: string, first: string, count: number): string {
  const target = URL.parse(link, base);
  const home = new URL(first);
  if (target === null)
    throw new FetchFailure("malformed_response", `page ${count}: the address of the next page is not a URL`);
  target.hash = "";
  const proxied = target.protocol === "http:" && home.protocol === "https:" && target.hostname === home.hostname;
  if (proxied && (target.port === "" || target.port === home.port)) {
    target.protocol = home.protocol;
    target.port = home.port;
  }
  // Servers that answer http: with https: go on there.
  const upgraded = target.protocol === "https:" && home.protocol === "http:" && target.host === home.hostname;
  if (target.origin !== home.origin && !(upgraded && home.port === "")) {
    throw new FetchFailure("url_not_allowed", `page ${count}: the next page is on another site (${target.host})`);
  }
  target.username = "";
  target.password = "";
  return target.href;
}
