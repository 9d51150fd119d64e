/**
 * What was learned about a site. A page that needed a browser keeps using one; a whole site does only after several of its
 * pages did and none was fetched by a plain request. So one blocking page does not make a plain site slow, and a
 * single-page application is not probed page by page.
 */
import { createHash } from "node:crypto";
import type { LearnedStrategy } from "../run/run-facts.ts";
import { canonicalUrl } from "../text/url.ts";

/** Sites change: what was learned expires. */
export const LEARNED_FOR_MS = 24 * 3_600_000;
const PAGES_FOR_SITE = 3;
const PAGES_KEPT = 50;

function hashOf(url: string): string {
  return createHash("sha256").update(canonicalUrl(url)).digest("base64url").slice(0, 12);
}

export function isKnown(learned: LearnedStrategy, url: string, now: number): boolean {
  if (learned.strategy !== "browser" || Date.parse(learned.expires_at) <= now) return false;
  return learned.scope === "site" || learned.pages.includes(hashOf(url));
}

/** A browser got what a plain request did not. */
export function learnBrowser(
  before: LearnedStrategy | null,
  url: string,
  reason: string,
  now: number,
): LearnedStrategy {
  const valid = before !== null && Date.parse(before.expires_at) > now ? before : null;
  const page = hashOf(url);
  const pages = [...(valid?.pages.filter((known) => known !== page) ?? []), page].slice(-PAGES_KEPT);
  const mixed = valid?.mixed ?? false;
  return {
    strategy: "browser",
    reason,
    scope: valid?.scope === "site" || (!mixed && pages.length >= PAGES_FOR_SITE) ? "site" : "page",
    pages,
    mixed,
    learned_at: new Date(now).toISOString(),
    expires_at: new Date(now + LEARNED_FOR_MS).toISOString(),
  };
}

/** A plain request fetched a page: the site does not need a browser for all of them. Null: already known. */
export function learnPlain(before: LearnedStrategy | null, now: number): LearnedStrategy | null {
  if (before !== null && Date.parse(before.expires_at) > now) return before.mixed ? null : { ...before, mixed: true };
  return {
    strategy: "http",
    reason: "a plain request returned the page",
    scope: "page",
    pages: [],
    mixed: true,
    learned_at: new Date(now).toISOString(),
    expires_at: new Date(now + LEARNED_FOR_MS).toISOString(),
  };
}
