/** Pagination: `limit` and an opaque `cursor` in, a JSON array and `Link: <…>; rel="next"` out. */
import type { TProperties } from "typebox";
import { OrbError } from "../base/errors.ts";
import type { ApiReply, ApiRequest } from "./instance.ts";
import { strict } from "./schemas.ts";
import { Type } from "./type.ts";

export const DEFAULT_PAGE = 50;
export const LARGEST_PAGE = 1000;

/** The query of a list: its filters, `limit` and `cursor`. */
export function pageQuery<T extends TProperties>(filters: T, { most = LARGEST_PAGE, normally = DEFAULT_PAGE } = {}) {
  return strict({
    ...filters,
    limit: Type.Integer({ minimum: 1, maximum: most, default: normally }),
    cursor: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1024, description: "from the Link header of the previous page" }),
    ),
  });
}

/** The Link header in the description of a list. */
export const LINK_HEADER = {
  link: { type: "string", description: 'of the next page, if there is one: <…>; rel="next"' },
} as const;

/** The total of a list, if requested. */
export const TOTAL_HEADER = {
  "x-total-count": { type: "integer", description: "with total=true: the total number; 10000 means 10,000 or more" },
} as const;

export function encodeCursor(position: string): string {
  return Buffer.from(`1:${position}`, "utf8").toString("base64url");
}

/** The position after which to continue; undefined at the start. */
export function decodeCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const text = /^[\w-]+$/.test(cursor) ? Buffer.from(cursor, "base64url").toString("utf8") : "";
  if (!text.startsWith("1:")) throw badCursor();
  return text.slice(2);
}

/** The position part of a filter; positions are ids. */
export function cursorFilter(query: { cursor?: string }): { after?: string } {
  const after = decodeCursor(query.cursor);
  if (after === undefined) return {};
  if (!/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(after)) throw badCursor();
  return { after };
}

/** An export contains everything: paging parameters have no meaning beside it. */
export function refuseBesideFormat(request: Pick<ApiRequest, "url">, ...names: string[]): void {
  // Read from the URL: parsing has already filled in defaults.
  const query = new URLSearchParams(request.url.split("?")[1] ?? "");
  const fields = names
    .filter((name) => query.has(name))
    .map((name) => ({
      path: `query.${name}`,
      message: "cannot be combined with format, which returns all entries as a file",
    }));
  const [first] = fields;
  if (first === undefined) return;
  throw new OrbError("input_invalid", `${first.path}: ${first.message}`, {
    hint: "Remove format to get one page of the list, or remove the other parameter to get the file.",
    fields,
  });
}

export function badCursor(): OrbError {
  return new OrbError("input_invalid", "query.cursor: is not a cursor of this list", {
    hint: "Use the Link header of the previous page, or omit cursor to start from the beginning.",
    fields: [{ path: "query.cursor", message: "is not a cursor of this list" }],
  });
}

/**
 * Cuts the rows to the requested page and links the next one. Callers read one row more than `limit`: its presence
 * means that there is a next page.
 */
export function sendPage<T>(
  request: ApiRequest,
  reply: ApiReply,
  { rows, limit, positionOf }: { rows: readonly T[]; limit: number; positionOf: (row: T) => string },
): T[] {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  if (rows.length > limit && last !== undefined) linkNext(request, reply, limit, positionOf(last));
  return page;
}

export function linkNext(request: ApiRequest, reply: ApiReply, limit: number, position: string): void {
  const [path = "", query = ""] = request.url.split("?", 2);
  const next = new URLSearchParams(query);
  next.set("limit", String(limit));
  next.set("cursor", encodeCursor(position));
  reply.header("link", `<${path}?${next}>; rel="next"`);
}
