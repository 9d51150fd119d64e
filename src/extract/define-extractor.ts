/**
 * What the author of an extractor writes, in the module that APP_HANDLERS names. Imports nothing at run time, because every
 * process that executes one loads it.
 */
import type { Static, TSchema } from "typebox";

/** A page that was got and found good, as an extractor is given it. */
export interface ExtractorPage<Params = unknown> {
  /** Where it was found, after redirects. */
  readonly url: string;
  /** null: it was handed in, and not asked for. */
  readonly status: number | null;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly content_type: string | null;
  readonly title: string | null;
  /** The page as it came, or as a browser has put it together; JSON and XML likewise. */
  readonly html: string;
  /** What it is about, as Markdown: at most a million characters. */
  readonly markdown: string;
  /** What the recipe says to this extractor. */
  readonly params: Params;
}

export interface ExtractorContext {
  /** Lines in the log of the engine, at most 200 per page. What the module writes to the console goes nowhere. */
  readonly log: Record<"debug" | "info" | "warn" | "error", (message: string) => void>;
  /** Aborted when the records are not wanted any more, or the time is over; a second later the process is ended. */
  readonly signal: AbortSignal;
}

export type ExtractedRecord = Readonly<Record<string, unknown>>;

/** Recipes name it: `"extract": {"name": "…", "params": {…}}`. */
export interface CustomExtractor<Params extends TSchema = TSchema, Name extends string = string> {
  readonly name: Name;
  /** One line for lists. */
  readonly about?: string;
  /** JSON Schema of an object, written by hand or with TypeBox: a recipe whose params do not satisfy it is refused. */
  readonly params?: Params;
  /** Seconds that one page may take; default: 60. */
  readonly timeout?: number;
  /**
   * One page. It returns a record, or a list of them; nothing is no record. What it throws fails the page's attempt, which
   * is repeated later; an error with `retry: false` is final.
   */
  run(page: ExtractorPage<Static<Params>>, context: ExtractorContext): ExtractorReturn | Promise<ExtractorReturn>;
}

type ExtractorReturn = ExtractedRecord | readonly ExtractedRecord[] | null | void;

/** Gives an extractor its types: `export const extractors = [defineExtractor({ name: "reviews", run })]`. */
export function defineExtractor<
  const Name extends string,
  const Params extends TSchema = Readonly<Record<string, never>>,
>(extractor: CustomExtractor<Params, Name>): CustomExtractor<Params, Name> {
  return extractor;
}
