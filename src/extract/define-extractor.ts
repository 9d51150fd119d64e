/**
 * The API for custom extractors, defined in the module that APP_HANDLERS names. Has no run-time imports: every extractor
 * process loads it.
 */
import type { Static, TSchema } from "typebox";

/** The input of an extractor: a page that was fetched and judged usable. */
export interface ExtractorPage<Params = unknown> {
  /** After redirects. */
  readonly url: string;
  /** null: the page was supplied, not fetched. */
  readonly status: number | null;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly content_type: string | null;
  readonly title: string | null;
  /** The body as fetched, or as rendered by a browser; also JSON and XML. */
  readonly html: string;
  /** The main content as Markdown: at most a million characters. */
  readonly markdown: string;
  /** The `params` of the recipe. */
  readonly params: Params;
}

export interface ExtractorContext {
  /** Writes to the worker's log, at most 200 lines per page. Console output of the module is discarded. */
  readonly log: Record<"debug" | "info" | "warn" | "error", (message: string) => void>;
  /** Aborted on cancellation or timeout; the process is killed a second later. */
  readonly signal: AbortSignal;
}

export type ExtractedRecord = Readonly<Record<string, unknown>>;

/** Used in recipes as `"extract": {"name": "…", "params": {…}}`. */
export interface CustomExtractor<Params extends TSchema = TSchema, Name extends string = string> {
  readonly name: Name;
  /** One line for lists. */
  readonly about?: string;
  /** JSON Schema of an object, plain or TypeBox: recipes with other params are rejected. */
  readonly params?: Params;
  /** Seconds per page; default: 60. */
  readonly timeout?: number;
  /**
   * Extracts one page. Returns a record, a list of records, or nothing for none. A thrown error fails the attempt, which
   * is retried; an error with `retry: false` is final.
   */
  run(page: ExtractorPage<Static<Params>>, context: ExtractorContext): ExtractorReturn | Promise<ExtractorReturn>;
}

type ExtractorReturn = ExtractedRecord | readonly ExtractedRecord[] | null | void;

/** Infers the types of an extractor: `export const extractors = [defineExtractor({ name: "reviews", run })]`. */
export function defineExtractor<
  const Name extends string,
  const Params extends TSchema = Readonly<Record<string, never>>,
>(extractor: CustomExtractor<Params, Name>): CustomExtractor<Params, Name> {
  return extractor;
}
