import type { BrowserOptions, DocumentRequest } from "../page/page-options.ts";
import { NO_PROXY, type ProxyOptions } from "../proxy/proxy-options.ts";
import type { MonitorOptions } from "../monitor/options.ts";
import type { TrackingRequest } from "../monitor/tracking.ts";
import type { JsonValue } from "../lane/queue-item.ts";
import type { JobNotify } from "../notify/rules.ts";

/** Requested fetch strategies. */
export const STRATEGIES = ["auto", "http", "browser", "api_replay"] as const;
export type StrategyName = (typeof STRATEGIES)[number];

/** How a job fetches and reads its page, as stored; names as in the API. */
export interface Recipe extends ProxyOptions {
  strategy: StrategyName;
  requires_auth: boolean;
  /** Well-known names or rules; null: DEFAULT_FIELDS. */
  fields: JsonValue;
  items: JsonValue;
  schema: JsonValue;
  /** See ExtractRequest; null: rules only. */
  extract: JsonValue;
  max_attempts: number | null;
  /** After a block or an empty shell the next attempt uses a browser. */
  escalate: boolean;
  respect_robots: boolean;
  /** False: a document, such as a PDF, is not read and fails as `not_html`; absent in recipes of earlier versions. */
  documents?: boolean;
  timeout_seconds: number | null;
  session_id: string | null;
  replay: JsonValue;
  browser: BrowserOptions | null;
  /** Document formats of the page; absent in recipes of earlier versions. */
  document?: DocumentRequest | null;
  /** What is compared from run to run; absent in recipes of earlier versions. */
  monitor?: MonitorOptions | null;
  /** Channels that are notified of its runs; absent: only those whose rules match. */
  notify?: readonly JobNotify[];
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

/** The job as it was when the run started. */
export interface PageSnapshot {
  url: string;
  recipe: Recipe;
  tracking?: TrackingRequest;
}

/** The first URL to fetch: a replayed call has its own. */
export function fetchedUrl({ url, recipe }: PageSnapshot): string {
  const replay = recipe.replay as { request: { url: string } } | null;
  return recipe.strategy === "api_replay" && replay !== null ? replay.request.url : url;
}

/** A recipe with defaults. */
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

export const DEFAULT_FIELDS = ["title", "description", "author", "published_at", "markdown"] as const;
/** With a document, which contains the text already. */
export const FIELDS_BESIDE_DOCUMENT = DEFAULT_FIELDS.filter((name) => name !== "markdown");
