import { messageOf } from "../../base/errors.ts";
import { isUsableCookie } from "../../domain/cookie.ts";
import type { Credentials } from "../../domain/credentials.ts";
import { mergeCredentials, noCredentials } from "../../domain/credentials.ts";
import type { PageGot } from "../../pages/get-page.ts";
import type { ClaimedTask } from "../../store/port.ts";
import type { HandlerContext, HandlerLookup } from "./handler.ts";

/** The handler of this name in the APP_HANDLERS module is asked to get past walls; without one, a person is. */
export const SOLVER = "solve_challenge";

/** Tries to get past the wall that a page has met; null: it could not. */
export type Solve = (
  task: ClaimedTask,
  url: string,
  got: PageGot,
  context: HandlerContext,
) => Promise<Credentials | null>;

/**
 * A solver that the user brings. It is given the page (`payload: {kind, message, html, screenshot}`, the picture as
 * base64) and answers with what lets us in: `{cookies, headers, local_storage}`, or nothing.
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
      if (handled.kind !== "completed") return null;
      return credentialsFrom(handled.results[0], new URL(url).origin);
    } catch (error) {
      if (context.signal.aborted) throw error;
      context.log.warn("the solver failed", { url: new URL(url).origin, error: messageOf(error) });
      return null;
    }
  };
}

function credentialsFrom(answer: unknown, origin: string): Credentials | null {
  if (typeof answer !== "object" || answer === null) return null;
  const { cookies = [], headers = {}, local_storage: items = [] } = answer as Record<string, unknown>;
  const found: Credentials = {
    ...noCredentials(origin),
    // One that no browser takes would fail the page instead of opening it.
    cookies: Array.isArray(cookies) ? cookies.filter(isUsableCookie) : [],
    headers: isTexts(headers) ? headers : {},
    localStorage: Array.isArray(items) ? items.filter(isItem).map(({ name, value }) => ({ name, value })) : [],
  };
  const any = found.cookies.length + found.localStorage.length + Object.keys(found.headers).length > 0;
  return any ? found : null;
}

function isItem(value: unknown): value is { name: string; value: string } {
  const { name, value: text } = (value ?? {}) as { name?: unknown; value?: unknown };
  return typeof name === "string" && typeof text === "string";
}

function isTexts(value: unknown): value is Record<string, string> {
  return typeof value === "object" && value !== null && Object.values(value).every((text) => typeof text === "string");
}

/** What lets us in, the solver's answer added. */
export function withSolved(before: Credentials | null, solved: Credentials): Credentials {
  return before === null || before.origin !== solved.origin ? solved : mergeCredentials(before, solved);
}
