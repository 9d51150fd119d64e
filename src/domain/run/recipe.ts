import type { BrowserOptions, DocumentRequest } from "../page/page-options.ts";
import { NO_PROXY, type ProxyOptions } from "../proxy/proxy-options.ts";
import type { JsonValue } from "../lane/queue-item.ts";

/** How a page is asked to be got. */
export const STRATEGIES = ["auto", "http", "browser", "api_replay"] as const;
export type StrategyName = (typeof STRATEGIES)[number];

/** What a job says about getting and reading its page, as it is stored: names as in the API. */
export interface Recipe extends ProxyOptions {
  strategy: StrategyName;
  requires_auth: boolean;
  /** Well-known names or rules; null: what a reader wants to know of a page. */
  fields: JsonValue;
  items: JsonValue;
  schema: JsonValue;
  /** Who reads the page besides the rules, see ExtractRequest; null: nobody. */
  extract: JsonValue;
  max_attempts: number | null;
  /** After a block or an empty shell the next attempt uses a browser. */
  escalate: boolean;
  respect_robots: boolean;
  timeout_seconds: number | null;
  session_id: string | null;
  replay: JsonValue;
  browser: BrowserOptions | null;
  /** The page as a whole, beside its fields; absent in what is older than this. */
  document?: DocumentRequest | null;
  schedule: Schedule | null;
  timezone: string | null;
  /** The names of headers and cookies; their values are sealed. */
  header_names: readonly string[];
  cookie_names: readonly string[];
  /** Base64 of sealed Credentials; null: none. */
  sealed: string | null;
}

export interface Schedule {
  cron: string;
  timezone: string | null;
  overlap: "skip" | "queue" | "cancel";
  missed: "skip" | "run_once";
  jitter_seconds: number;
}

/** A run carries its job as it was when it started. */
export interface PageSnapshot {
  url: string;
  recipe: Recipe;
}

/** What is asked for first: a replayed call has an address of its own. */
export function fetchedUrl({ url, recipe }: PageSnapshot): string {
  const replay = recipe.replay as { request: { url: string } } | null;
  return recipe.strategy === "api_replay" && replay !== null ? replay.request.url : url;
}

/** The recipe of somebody who only names a page. */
export function plainRecipe(strategy: StrategyName, more: Partial<Recipe> = {}): Recipe {
  return {
    strategy,
    requires_auth: false,
    fields: null,
    items: null,
    schema: null,
    extract: null,
    max_attempts: null,
    escalate: true,
    respect_robots: false,
    timeout_seconds: null,
    session_id: null,
    replay: null,
    browser: null,
    document: null,
    schedule: null,
    timezone: null,
    header_names: [],
    cookie_names: [],
    sealed: null,
    ...NO_PROXY,
    ...more,
  };
}

/** What is read from a page when a job names no fields. */
export const DEFAULT_FIELDS = ["title", "description", "author", "published_at", "markdown"] as const;
/** Beside a document, which has the text in the forms that were asked for. */
export const FIELDS_BESIDE_DOCUMENT = DEFAULT_FIELDS.filter((name) => name !== "markdown");
