import { messageOf } from "../../base/errors.ts";
import { isUsableCookie } from "../../domain/page/cookie.ts";
import type { Credentials } from "../../domain/text/credentials.ts";
import { mergeCredentials, noCredentials } from "../../domain/text/credentials.ts";
import type { RunEvent } from "../../domain/run/outcome.ts";
import type { PageGot } from "../../pages/get-page.ts";
import type { ClaimedTask } from "../../store/ports/port.ts";
import type { HandlerContext, HandlerLookup } from "./handler.ts";

/** The handler of this name in the APP_HANDLERS module solves walls; without it, a person is asked. */
export const SOLVER = "solve_challenge";

interface Solved {
  /** Null: no solution. */
  found: Credentials | null;
  /** The log event about an unusable answer; null: all of it is usable. */
  event: RunEvent | null;
}

/** Tries to get past a wall. */
export type Solve = (task: ClaimedTask, url: string, got: PageGot, context: HandlerContext) => Promise<Solved>;

/**
 * A user-provided solver. It receives the page (`payload: {kind, message, html, screenshot}`, the screenshot as base64)
 * and returns `{cookies, headers, local_storage}`, or nothing.
 */
export function userSolver(handlers: HandlerLookup): Solve | null {
  const handler = handlers(SOLVER);
  if (handler === undefined) return null;
  return async (task, url, got, context) => {
    const { screenshot, html } = got.evidence ?? { screenshot: null, html: null };
    const payload = {
      kind: got.failure?.reason === "captcha_page" ? "captcha" : "challenge",
      message: got.failure?.message ?? "",
      html,
      screenshot: screenshot === null ? null : Buffer.from(screenshot).toString("base64"),
    };
    try {
      const handled = await handler.run({ ...task, url, nextUrl: null, handler: SOLVER, payload }, context);
      if (handled.kind !== "completed") return NOTHING;
      const { origin } = new URL(url);
      const { found, refused } = readSolved(handled.results[0], origin);
      if (refused.length > 0) context.log.warn(`${SOLVER} returned unusable parts`, { url: origin, refused });
      return { found, event: refused.length === 0 ? null : unusable(refused) };
    } catch (error) {
      if (context.signal.aborted) throw error;
      const why = messageOf(error);
      context.log.warn("the solver failed", { url: new URL(url).origin, error: why });
      return { found: null, event: rejected(`${SOLVER} failed: ${why.slice(0, MAX_SHOWN_LENGTH)}`, []) };
    }
  };
}

const NOTHING: Solved = { found: null, event: null };

const MAX_LISTED = 10;
const MAX_SHOWN_LENGTH = 200;

/** The log event that lists the unusable parts of an answer. */
export function unusable(refused: readonly string[]): RunEvent {
  const named = refused.slice(0, MAX_LISTED).map((why) => why.slice(0, MAX_SHOWN_LENGTH));
  const more = refused.length > named.length ? ` and ${refused.length - named.length} more` : "";
  return rejected(`${SOLVER} returned unusable parts: ${named.join("; ")}${more}`, named);
}

function rejected(message: string, refused: string[]): RunEvent {
  return { type: "challenge.solution_rejected", level: "warn", message, meta: { refused } };
}

const SOLVED = ["cookies", "headers", "local_storage"];

/** The usable part of the answer; `refused` names every other part and the reason, without its value. */
export function readSolved(answer: unknown, origin: string): { found: Credentials | null; refused: string[] } {
  if (answer === undefined || answer === null) return { found: null, refused: [] };
  if (typeof answer !== "object" || Array.isArray(answer))
    return { found: null, refused: [`expected an object with ${SOLVED.join(", ")}, or nothing`] };
  const fields = answer as Record<string, unknown>;
  const refused = Object.keys(fields).flatMap((name) =>
    SOLVED.includes(name) ? [] : [`${name}: unknown, expected ${SOLVED.join(", ")}`],
  );
  const pairs = (name: string) => listOf(name, fields[name], refused);
  const cookies = pairs("cookies").flatMap(({ value, path }) => {
    // A cookie that no browser accepts would fail the page.
    if (isUsableCookie(value)) return [value];
    refused.push(`${path}: not a valid cookie`);
    return [];
  });
  const localStorage = pairs("local_storage").flatMap(({ value, path }) => {
    if (isItem(value)) return [{ name: value.name, value: value.value }];
    refused.push(`${path}: expected a name and a value, both strings`);
    return [];
  });
  const { headers = {} } = fields;
  if (!isTexts(headers)) refused.push("headers: expected an object of strings");
  const found = { ...noCredentials(origin), cookies, localStorage, headers: isTexts(headers) ? headers : {} };
  const any = cookies.length + localStorage.length + Object.keys(found.headers).length > 0;
  return { found: any ? found : null, refused };
}

/** A list of `{name, value, …}`, or an object of values by their names. */
function listOf(field: string, entries: unknown, refused: string[]): { value: unknown; path: string }[] {
  if (entries === undefined || entries === null) return [];
  if (Array.isArray(entries)) return entries.map((value: unknown, index) => ({ value, path: `${field}[${index}]` }));
  if (typeof entries === "object")
    return Object.entries(entries).map(([name, value]) => ({ value: { name, value }, path: `${field}.${name}` }));
  refused.push(`${field}: expected a list of {name, value}, or an object of values by name`);
  return [];
}

function isItem(value: unknown): value is { name: string; value: string } {
  const { name, value: text } = (value ?? {}) as { name?: unknown; value?: unknown };
  return typeof name === "string" && typeof text === "string";
}

function isTexts(value: unknown): value is Record<string, string> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((text) => typeof text === "string");
}

/** Adds the solver's answer to the credentials. */
export function withSolved(before: Credentials | null, solved: Credentials): Credentials {
  return before === null || before.origin !== solved.origin ? solved : mergeCredentials(before, solved);
}
