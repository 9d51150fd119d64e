/** The kinds of steps that are built in, with their types, for workflows that are written in TypeScript. */
import type { JsonValue } from "../domain/queue-item.ts";

declare const TYPES: unique symbol;

export interface BuiltInKind<Params, Output> {
  readonly kind: string;
  readonly [TYPES]: { params: Params; output: Output };
}

/** How a page is read, as in a job. */
interface Reading {
  fields?: JsonValue;
  items?: JsonValue;
  schema?: JsonValue;
}

export type WaitParams = { seconds: number } | { until: string };

export interface WebhookParams {
  url: string;
  method?: "POST" | "PUT" | "PATCH" | "GET" | "DELETE";
  headers?: Readonly<Record<string, string>>;
  /** Without it, a summary of the run and of what its steps put out. */
  body?: JsonValue;
}

export interface ScrapeParams extends Reading {
  url?: string;
  urls?: readonly string[];
  /** Where in the items that come in the addresses stand. */
  field?: string;
  strategy?: "auto" | "http" | "browser" | "api_replay";
  requires_auth?: boolean;
  session_id?: string | null;
  max_attempts?: number | null;
  escalate?: boolean;
  respect_robots?: boolean;
  timeout_seconds?: number | null;
  replay?: JsonValue;
  browser?: JsonValue;
  accept_partial?: boolean;
}

export interface CrawlParams extends Reading {
  url: string | readonly string[];
  max_depth?: number;
  max_pages?: number;
  timeout_minutes?: number;
  max_concurrent_articles?: number;
  retry_attempts?: number;
  partial_results_ok?: boolean;
  include?: readonly string[];
  exclude?: readonly string[];
  same_site?: boolean;
  use_sitemap?: boolean;
  strategy?: "auto" | "http" | "browser";
  article?: boolean | null;
  respect_robots?: boolean;
  accept_partial?: boolean;
}

export interface DownloadParams {
  urls?: readonly string[];
  field?: string;
  max_failed_ratio?: number;
}

export const kinds = {
  wait: { kind: "wait" } as BuiltInKind<WaitParams, { waited_seconds: number }>,
  webhook: { kind: "webhook" } as BuiltInKind<WebhookParams, { status: number; answer: JsonValue }>,
  scrape: { kind: "scrape" } as BuiltInKind<
    ScrapeParams,
    { pages: number; failed: number; records: number; run_id?: string }
  >,
  crawl: { kind: "crawl" } as BuiltInKind<
    CrawlParams,
    { run_id: string; status: string; pages: number; failed: number }
  >,
  download: { kind: "download" } as BuiltInKind<DownloadParams, { downloaded: number; failed: number }>,
} as const;
