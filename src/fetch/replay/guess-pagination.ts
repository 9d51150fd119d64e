/** Guesses the pagination of an API from common parameter and field names. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Exchange } from "./exchange.ts";
import { isObject, readJson } from "./json-body.ts";
import { nextLink } from "./pagination.ts";
import { compilePath, readPointer, writePath, writePointer } from "./path.ts";
import { formSlot, jsonSlot, querySlot, recordedRequest, type ReplayRequest, type Slot } from "./request.ts";

export type GuessedPagination = { kind: string } & Record<string, string | number>;

/** A number, cursor or limit in the request. */
interface Parameter {
  name: string;
  value: JsonValue;
  /** Its location in a recipe. */
  location: Record<string, string>;
}

const PAGE = /^(?:page|p|pg|paged|page_?(?:no|num|number|index)|current_?page|pagina|seite)$/i;
const OFFSET = /^(?:offset|skip|start|from|first_?result|start_?(?:index|at|row)|\$skip)$/i;
const LIMIT = /^(?:limit|count|size|per_?page|page_?size|rows|take|num|max_?results|hits_?per_?page|first|\$top)$/i;
const CURSOR =
  /^(?:cursor|after|(?:page|next|continuation|scroll|pagination)_?(?:token|cursor|id|key)|continuation|starting_after|since_id)$/i;
const NEXT_CURSOR =
  /^(?:next_?cursor|end_?cursor|next_?(?:page_?)?(?:token|key|id)|continuation(?:_?token)?|cursor|scroll_?id|next|after)$/i;
const NEXT_LINK = /^(?:next|next_?(?:url|link|href|page|page_?url)|@odata\.nextlink)$/i;
/** Cursors whose request parameter differs from their response field. */
const ASKED_AS: Readonly<Record<string, string>> = { endcursor: "after", nextpagetoken: "pageToken" };
const MAX_DEPTH = 6;

/** A link in the response takes precedence, then a cursor, then numbers in the request. Null: none found. */
export function guessPagination(exchange: Exchange, json: JsonValue, itemCount: number): GuessedPagination | null {
  if (nextLink(exchange.response.headers["link"] ?? "") !== undefined) return { kind: "link" };
  const parameters = parametersOf(exchange.request);
  return guessLink(json) ?? guessCursor(json, parameters) ?? guessNumber(parameters, itemCount);
}

/** The list and page that a request asks for. */
export interface PageAsked {
  /** The request without its page parameters: identical for all pages of a list. */
  what: string;
  /** A page number or an offset, else a cursor; null: none, as often for the first page. */
  at: number | string | null;
}

export function pageAsked(request: Exchange["request"]): PageAsked {
  let bare = recordedRequest(request);
  let at: PageAsked["at"] = null;
  for (const parameter of parametersOf(request)) {
    const { name, value } = parameter;
    const counts = isCount(parameter, PAGE) || isCount(parameter, OFFSET);
    if (!counts && !CURSOR.test(name)) continue;
    bare = slotOf(parameter).write(bare, undefined);
    if (counts) at = typeof at === "number" ? at : Number(value);
    else if (value !== null && value !== "") at ??= String(value);
  }
  return { what: JSON.stringify([bare.method, bare.url, bare.body]), at };
}

/** The link to the next page in the response; null: none. */
export function nextAddress(exchange: Exchange, json: JsonValue, guess: GuessedPagination | null): URL | null {
  if (guess?.kind !== "link") return null;
  const { next } = guess;
  const link =
    typeof next === "string" ? compilePath(next).first(json) : nextLink(exchange.response.headers["link"] ?? "");
  return typeof link === "string" ? URL.parse(link, exchange.request.url) : null;
}

/** The request of the first page: the recorded one may be a later one. */
export function firstPage(request: ReplayRequest, guess: GuessedPagination | null, next: URL | null): ReplayRequest {
  if (guess?.kind === "cursor") return slotOf({ location: locationOf(guess) }).write(request, undefined);
  if (next === null) return request;
  let first = request;
  for (const [name, value] of new URL(request.url).searchParams) {
    // Only a parameter that the link changes is the page; others with such a name may be filters.
    const then = next.searchParams.get(name);
    if (then === null || then === value) continue;
    const parameter = { name, value, location: { param: name } };
    if (isCount(parameter, PAGE)) first = querySlot(name).write(first, Math.min(1, Number(value)));
    else if (isCount(parameter, OFFSET)) first = querySlot(name).write(first, 0);
    else if (CURSOR.test(name)) first = querySlot(name).write(first, undefined);
  }
  return first;
}

function isCount({ name, value }: Parameter, pattern: RegExp): boolean {
  return pattern.test(name) && /^\d{1,9}$/.test(String(value));
}

function locationOf(guess: GuessedPagination): Record<string, string> {
  const entries = ["param", "in", "pointer"].map((key) => [key, guess[key]] as const);
  return Object.fromEntries(
    entries.filter((entry): entry is readonly [string, string] => typeof entry[1] === "string"),
  );
}

function slotOf({ location }: Pick<Parameter, "location">): Slot {
  const { param = "", pointer } = location;
  if (pointer !== undefined) return jsonSlot(readPointer(pointer));
  return location["in"] === "form" ? formSlot(param) : querySlot(param);
}

function guessLink(json: JsonValue): GuessedPagination | null {
  for (const { names, value } of outerValues(json)) {
    const last = names.at(-1) ?? "";
    const isNext = NEXT_LINK.test(last) || (last === "href" && NEXT_LINK.test(names.at(-2) ?? ""));
    if (isNext && typeof value === "string" && /^(?:https?:\/\/|\/|\?)/.test(value)) {
      return { kind: "link", next: writePath(names) };
    }
  }
  return null;
}

function guessCursor(json: JsonValue, parameters: readonly Parameter[]): GuessedPagination | null {
  const known = parameters.find(({ name }) => CURSOR.test(name));
  for (const { names, value } of outerValues(json)) {
    const last = names.at(-1) ?? "";
    if (!NEXT_CURSOR.test(last) || value === "" || (typeof value !== "string" && typeof value !== "number")) continue;
    // A bare `next: 2` or `after` is ambiguous; with a matching parameter it is the cursor.
    if (known !== undefined) return { kind: "cursor", ...known.location, next: writePath(names) };
    if (/^(?:next|after|cursor)$/i.test(last)) continue;
    const plain = last.toLowerCase().replaceAll("_", "");
    const param = ASKED_AS[plain] ?? last.replace(/^next_?/i, "").replace(/^[A-Z]/, (letter) => letter.toLowerCase());
    return { kind: "cursor", param, next: writePath(names) };
  }
  return null;
}

function guessNumber(parameters: readonly Parameter[], itemCount: number): GuessedPagination | null {
  const number = (pattern: RegExp) => parameters.find((parameter) => isCount(parameter, pattern));
  const page = number(PAGE);
  if (page !== undefined) return { kind: "page", ...page.location, start: Math.min(1, Number(page.value)), step: 1 };
  const offset = number(OFFSET);
  if (offset === undefined) return null;
  const limit = Number(number(LIMIT)?.value ?? itemCount);
  return limit > 0 ? { kind: "offset", ...offset.location, start: 0, limit } : null;
}

function parametersOf({ url, body }: Exchange["request"]): Parameter[] {
  const found: Parameter[] = [];
  for (const [name, value] of new URL(url).searchParams) found.push({ name, value, location: { param: name } });
  if (body === null) return found;
  const json = readJson(body);
  if (json !== undefined) {
    for (const { names, value } of outerValues(json)) {
      found.push({ name: names.at(-1) ?? "", value, location: { pointer: writePointer(names) } });
    }
  } else if (/^[^\s=&]+=/.test(body)) {
    for (const [name, value] of new URLSearchParams(body))
      found.push({ name, value, location: { param: name, in: "form" } });
  }
  return found;
}

/** Scalars outside lists: metadata of the page rather than of its items. */
function outerValues(json: JsonValue): { names: string[]; value: JsonValue }[] {
  const found: { names: string[]; value: JsonValue }[] = [];
  let level: { names: string[]; value: JsonValue }[] = [{ names: [], value: json }];
  // Breadth-first: outer values more likely describe the whole response.
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth += 1) {
    const deeper: typeof level = [];
    for (const { names, value } of level.slice(0, 1000)) {
      if (isObject(value)) {
        for (const [key, inner] of Object.entries(value)) deeper.push({ names: [...names, key], value: inner });
      } else if (!Array.isArray(value) && names.length > 0) found.push({ names, value });
    }
    level = deeper;
  }
  return found;
}
