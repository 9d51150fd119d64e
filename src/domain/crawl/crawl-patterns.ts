/**
 * Which pages a crawl fetches and which of them it reads. `include` does both; `follow` adds pages that are fetched for
 * their links only; `read` adds or restricts the pages that give records; `exclude` does neither.
 */
import type { FieldError } from "../../base/errors.ts";
import { compilePatterns, type PatternTarget, type UrlPattern } from "./url-pattern.ts";

const PATTERN_OPTIONS = ["include", "exclude", "follow", "read"] as const;
type PatternOption = (typeof PATTERN_OPTIONS)[number];
export type PatternLists = { readonly [K in PatternOption]?: readonly string[] | null | undefined };

type PatternReason = "excluded" | "not_included" | "file";
/** `pattern` is the one that excludes the page. */
type LeftByPattern = { why: PatternReason; pattern?: string };

export function compileCrawlPatterns(options: PatternLists, errors: FieldError[]): CrawlPatterns {
  const lists = Object.fromEntries(
    PATTERN_OPTIONS.map((name) => {
      const compiled = compilePatterns(options[name], name);
      errors.push(...(compiled.errors ?? []));
      return [name, compiled.ok ?? []];
    }),
  ) as Record<PatternOption, readonly UrlPattern[]>;
  return new CrawlPatterns(lists);
}

export class CrawlPatterns {
  readonly #exclude: readonly UrlPattern[];
  /** A page that matches none of these is skipped; empty: every page is fetched. */
  readonly #fetch: readonly UrlPattern[];
  /** A page that matches none of these gives no records; null: every fetched page does. */
  readonly #read: readonly UrlPattern[] | null;

  constructor({ include, exclude, follow, read }: Record<PatternOption, readonly UrlPattern[]>) {
    this.#exclude = exclude;
    // With `read` alone every page is followed, and those that match give records.
    this.#fetch = include.length + follow.length === 0 ? [] : [...include, ...follow, ...read];
    const isSplit = follow.length + read.length > 0 && include.length + read.length > 0;
    this.#read = isSplit ? [...include, ...read] : null;
  }

  get areNone(): boolean {
    return this.#exclude.length === 0 && this.#fetch.length === 0 && this.#read === null;
  }

  /** Every fetched page is read, starts included. */
  get readsAll(): boolean {
    return this.#read === null;
  }

  reads(target: PatternTarget): boolean {
    return this.#read === null || anyMatches(this.#read, target);
  }

  /** `ending` is the file extension of the URL; null: it looks like a page. */
  whyNot(target: PatternTarget, ending: string | null): LeftByPattern | null {
    const excluding = this.#exclude.find((pattern) => pattern.matches(target));
    if (excluding !== undefined) return { why: "excluded", pattern: excluding.text };
    if (this.#fetch.length > 0 && !anyMatches(this.#fetch, target)) return { why: "not_included" };
    return ending === null || this.#namesFile(target, ending) ? null : { why: "file" };
  }

  /** Only a pattern with the extension matches a file: `/docs/**` means pages. */
  #namesFile(target: PatternTarget, ending: string): boolean {
    const named = new RegExp(`(?<![a-z0-9])${ending}(?![a-z0-9])`, "i");
    return [...this.#fetch, ...(this.#read ?? [])].some(({ text, matches }) => named.test(text) && matches(target));
  }
}

function anyMatches(patterns: readonly UrlPattern[], target: PatternTarget): boolean {
  return patterns.some((pattern) => pattern.matches(target));
}
