/** The built-in step kinds with their types, for workflows written in TypeScript. */
import type { CrawlInputSettings } from "../domain/crawl/crawl-settings.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import type { PackingName } from "../exporters/pack.ts";
import type { CardParams } from "./cards/croissant.ts";
import type { Conditions } from "./conditions.ts";
import type { ValidateParams } from "./file-rules.ts";
import type { LabelEndpoint } from "./label-endpoint.ts";
import type { Preset, QualityLimits } from "./texts/quality-rules.ts";

declare const TYPES: unique symbol;

export interface BuiltInKind<Params, Output> {
  readonly kind: string;
  readonly [TYPES]: { params: Params; output: Output };
}

/** Extraction options, as in a job. */
interface Reading {
  fields?: JsonValue;
  items?: JsonValue;
  schema?: JsonValue;
  extract?: JsonValue;
}

export interface WaitParams {
  /** Either this or `until`. */
  seconds?: number;
  until?: string;
}

export interface WebhookParams {
  url: string;
  method?: "POST" | "PUT" | "PATCH" | "GET" | "DELETE";
  headers?: Readonly<Record<string, string>>;
  /** Default: a summary of the run and the outputs of its steps. */
  body?: JsonValue;
}

export interface ScrapeParams extends Reading {
  url?: string;
  urls?: readonly string[];
  /** Path of the URLs within the input items. */
  field?: string;
  strategy?: "auto" | "http" | "browser" | "api_replay";
  requires_auth?: boolean;
  session_id?: string | null;
  max_attempts?: number | null;
  escalate?: boolean;
  respect_robots?: boolean;
  documents?: boolean;
  /** `pool`, or the URL of a proxy. */
  proxy?: string | null;
  headers?: Readonly<Record<string, string>> | null;
  timeout_seconds?: number | null;
  replay?: JsonValue;
  document?: JsonValue;
  browser?: JsonValue;
  accept_partial?: boolean;
}

export interface CrawlParams extends Reading, Partial<Omit<CrawlInputSettings, "only_changed">> {
  url: string | readonly string[];
  strategy?: "auto" | "http" | "browser";
  /** The id or name of a stored session. */
  session_id?: string | null;
  headers?: Readonly<Record<string, string>> | null;
  /** `pool`, or the URL of a proxy. */
  proxy?: string | null;
  document?: JsonValue;
  browser?: JsonValue;
  accept_partial?: boolean;
  /** The items are the records and the failed pages only. */
  flat?: boolean;
  /** 0 to 1. */
  max_failed_share?: number;
}

export interface DownloadParams {
  urls?: readonly string[];
  field?: string;
  max_failed_ratio?: number;
  /** `pool`, or the URL of a proxy. */
  proxy?: string | null;
}

/** Null counts as unset: expressions of a template may produce it. */
export interface FileDuplicateParams {
  /** Maximum number of differing bits, of 64, between images that count as equal. */
  distance?: number | null;
  keep?: string | null;
}

export interface TextDuplicateParams {
  /** Path of the text within the items. */
  text: string;
  method?: "minhash" | "simhash" | "exact" | null;
  /** `minhash`: least Jaccard similarity. */
  threshold?: number | null;
  /** `minhash`: words per shingle. */
  shingle?: number | null;
  /** `simhash`: maximum number of differing bits. */
  distance?: number | null;
  keep?: "first" | "longest" | "newest" | (string & {}) | null;
  /** `newest`: path of the date. */
  date?: string | null;
}

export type DeduplicateParams = FileDuplicateParams & Partial<TextDuplicateParams>;

export interface FilterParams extends QualityLimits {
  /** Path of the text within the items; default: `text`. */
  text?: string;
  presets?: readonly Preset[] | null;
  languages?: readonly string[] | null;
  /** Path of the language; null: detected from the text. */
  language?: string | null;
  where?: Conditions | null;
  /** By reason: expressions that must be true. */
  expressions?: Readonly<Record<string, string>> | null;
}

export interface LabelParams {
  label?: string | null;
  rules?: readonly (Conditions & { label: string })[] | null;
  from?: string | null;
  endpoint?: string | LabelEndpoint | null;
  drop_unlabelled?: boolean;
}

export interface ExportParams {
  format?: "json" | "jsonl" | "csv" | "csv-excel" | "markdown" | "markdown-zip" | "parquet";
  images?: boolean;
  archive?: PackingName | null;
  split?: Readonly<Record<string, number>> | null;
  seed?: string | number;
  stratify?: boolean;
  fields?: Readonly<Record<string, string>> | null;
  where?: Conditions;
  unique?: string;
  name?: string;
  /** What the data card says; false: none is written. */
  card?: CardParams | null | false;
}

export interface CompareParams {
  key?: string | readonly string[];
  fields?: readonly string[];
}

export interface CleanupParams {
  steps?: readonly string[];
  keep?: "items" | "nothing";
}

export const kinds = {
  wait: { kind: "wait" } as BuiltInKind<WaitParams, { waited_seconds: number }>,
  webhook: { kind: "webhook" } as BuiltInKind<WebhookParams, { status: number; answer: JsonValue }>,
  scrape: { kind: "scrape" } as BuiltInKind<
    ScrapeParams,
    { pages: number; failed: number; records: number; first: Record<string, JsonValue> | null; run_id?: string }
  >,
  crawl: { kind: "crawl" } as BuiltInKind<
    CrawlParams,
    { run_id: string; status: string; pages: number; failed: number; failed_pages: JsonValue }
  >,
  download: { kind: "download" } as BuiltInKind<DownloadParams, { downloaded: number; failed: number }>,
  validate: { kind: "validate" } as BuiltInKind<
    ValidateParams,
    { valid: number; invalid: number; reasons: Record<string, number> }
  >,
  deduplicate: { kind: "deduplicate" } as BuiltInKind<
    DeduplicateParams,
    { kept: number; removed: number; exact: number; near: number; without_text?: number }
  >,
  filter: { kind: "filter" } as BuiltInKind<
    FilterParams,
    { kept: number; removed: number; reasons: Record<string, number> }
  >,
  label: { kind: "label" } as BuiltInKind<
    LabelParams,
    { labelled: number; unlabelled: number; failed: number; labels: Record<string, number> }
  >,
  export: { kind: "export" } as BuiltInKind<
    ExportParams,
    { count: number; artifact_id: string; artifact_hash: string; bytes: number; format: string; missing?: number } & {
      [counts in "splits" | "labels"]?: Record<string, number>;
    }
  >,
  compare: { kind: "compare" } as BuiltInKind<
    CompareParams,
    { first_run: boolean; total: number; duplicates: number; changes: JsonValue } & {
      [count in "changed" | "added" | "removed" | "unchanged" | "not_read"]: number;
    }
  >,
  archive: { kind: "archive" } as BuiltInKind<
    { min_bytes?: number; older_than_days?: number },
    { archived: number; kept: number; missing: number; bytes_before: number; bytes_after: number }
  >,
  restore: { kind: "restore" } as BuiltInKind<
    Readonly<Record<never, never>>,
    { restored: number; missing: number; bytes: number }
  >,
  cleanup: { kind: "cleanup" } as BuiltInKind<CleanupParams, { removed: number; bytes: number }>,
} as const;
