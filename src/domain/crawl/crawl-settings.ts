/**
 * The settings of a crawl, each declared once. The API's body, the workflow step `crawl`, the MCP tool `crawl_start`, the
 * flags of `orb crawl` and `orb jobs`, the stored defaults and the labels of the dashboard are derived from this.
 */
import { MOST_STARTS } from "./crawl-limits.ts";

/** `host`: with or without www; `path`: URLs of that host that begin as a start does. */
export const STAY_WITHIN = ["site", "host", "path"] as const;

interface Declaration {
  /** JSON Schema of the value, with the description for the API reference. */
  schema: object;
  /** Absent: an alias of another setting, not stored. */
  default?: unknown;
  /** Label on the dashboard. */
  label: string;
  /** Help text and choice labels on the dashboard's form. */
  form?: { help: string; choices?: Readonly<Record<string, string>> };
  /** CLI flag. `sets` is the value of a flag without an argument; with `off`, `--no-FLAG` sets the opposite. */
  cli?: { flag: string; about: string; sets?: boolean; off?: string };
  /** Offered to agents, with overrides for their schema. */
  agents?: { description: string; maximum?: number; default?: unknown };
  /** Only for saved crawls. */
  savedOnly?: boolean;
  /** Decides which pages the crawl reaches: runs that differ in it are not compared and share no page copies. */
  reach?: boolean;
}

const patterns = (description: string) =>
  ({ type: "array", items: { type: "string", minLength: 1, maxLength: 2000 }, maxItems: 200, description }) as const;

export const CRAWL_START = { type: "string", minLength: 1, maxLength: 8192 } as const;
export const CRAWL_STARTS = { type: "array", items: CRAWL_START, minItems: 1, maxItems: MOST_STARTS } as const;

export const CRAWL_SETTINGS = {
  max_depth: {
    schema: {
      type: "integer",
      minimum: 0,
      maximum: 1000,
      description: "maximum link hops from a start URL; 0: only the start URLs",
    },
    default: 2,
    label: "Maximum depth",
    cli: { flag: "--max-depth <number>", about: "maximum link depth from the start URL" },
    agents: { maximum: 100, default: 2, description: "maximum link hops from a start URL; 0: only the start URLs" },
    reach: true,
  },
  max_pages: {
    schema: { type: "integer", minimum: 1, maximum: 10_000_000 },
    default: 1000,
    label: "Maximum pages",
    cli: { flag: "--max-pages <number>", about: "maximum number of pages" },
    // Agents rarely read more, and can raise it.
    agents: { maximum: 100_000, default: 100, description: "maximum pages" },
  },
  timeout_minutes: {
    schema: { type: "number", exclusiveMinimum: 0, maximum: 100_000 },
    default: 30,
    label: "Time limit in minutes",
    cli: { flag: "--timeout-minutes <number>", about: "time limit in minutes; results so far are kept" },
    agents: { maximum: 1440, default: 30, description: "time limit in minutes; results so far are kept" },
  },
  max_concurrent_articles: {
    schema: { type: "integer", minimum: 1, maximum: 10_000 },
    default: 10,
    label: "Concurrent pages",
    cli: { flag: "--concurrency <number>", about: "maximum concurrent pages" },
  },
  retry_attempts: {
    schema: { type: "integer", minimum: 0, maximum: 1000, description: "retries after the first attempt" },
    default: 3,
    label: "Retries per page",
  },
  max_attempts: {
    schema: {
      type: "integer",
      minimum: 1,
      maximum: 1001,
      description: "maximum attempts, as in jobs: retry_attempts + 1; set only one of the two",
    },
    label: "Attempts per page",
  },
  partial_results_ok: {
    schema: { type: "boolean", description: "false: a run with failed or missing pages counts as failed" },
    default: true,
    label: "Accept partial results",
    form: { help: "Off: a run with failed or missing pages counts as failed." },
  },
  include: {
    schema: patterns("only follow and read matching pages, such as /blog/**; start URLs are always followed"),
    default: [],
    label: "Include",
    cli: { flag: "--include <pattern>", about: "follow and read only pages that match this, such as /blog/**" },
    agents: { description: "only URLs that match one of these patterns: /blog/**, or https://example.com/blog/**" },
    reach: true,
  },
  exclude: {
    schema: patterns("skip matching pages; overrides the other patterns"),
    default: [],
    label: "Exclude",
    cli: { flag: "--exclude <pattern>", about: "skip pages that match this pattern" },
    agents: { description: "skip URLs that match one of these patterns" },
    reach: true,
  },
  follow: {
    schema: patterns(
      "pages to follow in addition to include or read, such as /page/**; they give no records. Alone, it works like include",
    ),
    default: [],
    label: "Follow",
    cli: {
      flag: "--follow <pattern>",
      about:
        "with --include or --read: also follow pages that match this, such as /page/**, without records; alone: like --include",
    },
    agents: {
      description: "in addition to include: pages that are only followed, such as /page/**; they give no records",
    },
    reach: true,
  },
  read: {
    schema: patterns(
      "only matching pages give records; without include and follow, every page of the site is followed",
    ),
    default: [],
    label: "Read",
    cli: { flag: "--read <pattern>", about: "read only pages that match this; others are only followed" },
    agents: { description: "only URLs that match one of these patterns give records; others are followed" },
    reach: true,
  },
  same_site: {
    schema: { type: "boolean" },
    default: true,
    label: "Stay on the site",
    cli: { flag: "--any-site", about: "also follow links to other sites", sets: false },
    agents: { default: true, description: "stay on the sites of the start URLs" },
    reach: true,
  },
  stay_within: {
    schema: {
      type: "string",
      enum: STAY_WITHIN,
      description:
        "with same_site: limit the crawl to the site (with subdomains), the host, or the path of the start URL",
    },
    default: "site",
    label: "Stay within",
    form: {
      help: "Links that lead outside are not followed.",
      choices: {
        site: "The whole site, with subdomains",
        host: "The host of the start URL",
        path: "The path of the start URL",
      },
    },
    cli: {
      flag: "--stay-within <part>",
      about: "limit the crawl to the site (with subdomains), the host, or the path of the start URL",
    },
    reach: true,
  },
  goal: {
    schema: {
      type: "string",
      maxLength: 500,
      description:
        "what the crawl looks for, in words or a sentence: the most promising links are fetched first, by their text, address and surroundings",
    },
    default: "",
    label: "Goal",
    form: {
      help: "What to look for, in words or a sentence. The most promising links are fetched first: set the maximum of pages, and the crawl spends them on these.",
    },
    cli: { flag: "--goal <text>", about: "what to look for: fetch the most promising links first" },
    agents: {
      description:
        "what to look for, in words of the site's language: the most promising links are fetched first, and each record has its relevance",
    },
    reach: true,
  },
  stop_when_saturated: {
    schema: {
      type: "boolean",
      description: "with goal: end the crawl when hardly any of the last 50 pages was relevant",
    },
    default: false,
    label: "Stop when saturated",
    form: { help: "With a goal: ends the crawl when hardly any of the last 50 pages was relevant." },
    cli: {
      flag: "--stop-when-saturated",
      about: "with --goal: end the crawl when hardly any of the last 50 pages was relevant",
      sets: true,
    },
    agents: {
      default: false,
      description: "with goal: end the crawl when hardly any of the last 50 pages was relevant",
    },
  },
  follow_links: {
    schema: { type: "boolean", description: "false: fetch only the start URLs and pages listed in sitemaps" },
    default: true,
    label: "Follow links",
    form: { help: "Off: only the start URLs and the pages listed in sitemaps are fetched." },
    cli: {
      flag: "--starts-only",
      about: "follow no links; fetch only the start URLs and pages listed in sitemaps",
      sets: false,
    },
    reach: true,
  },
  documents: {
    schema: {
      type: "boolean",
      description:
        "follow links to PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, RTF and CSV files, and read them; default: true, but false with fields, items or extract",
    },
    /** Without rules; `readsDocuments` decides with them. */
    default: true,
    label: "Read documents",
    form: {
      help: "PDF, Office and other documents that pages link to are read like pages. Rules for fields are made for pages: with them, the default is off.",
    },
    cli: {
      flag: "--documents",
      about: "read linked documents, such as PDF and Office files (default: unless there are rules for fields)",
      sets: true,
      off: "skip links to documents",
    },
    agents: {
      description:
        "also read linked documents, such as PDF and Office files; default: true, but false with fields, items or extract",
    },
    reach: true,
  },
  delay_seconds: {
    schema: {
      type: "number",
      minimum: 0,
      maximum: 3600,
      description: "delay between two pages of this crawl; pages are then fetched one at a time",
    },
    default: 0,
    label: "Delay between pages in seconds",
    form: { help: "Pages are then fetched one at a time." },
    cli: { flag: "--delay <seconds>", about: "delay between two pages; pages are then fetched one at a time" },
  },
  use_sitemap: {
    schema: { type: "boolean", description: "also start from the pages listed in the site's sitemaps" },
    default: false,
    label: "Also start from the sitemap",
    cli: { flag: "--sitemap", about: "also start from the pages listed in the site's sitemaps", sets: true },
    agents: { default: false, description: "also start from the pages listed in the site's sitemaps" },
    reach: true,
  },
  only_changed: {
    schema: {
      type: "boolean",
      description: "for a saved crawl: return only pages that are new or changed since the previous run",
    },
    default: false,
    label: "Only new and changed pages",
    cli: {
      flag: "--only-changed",
      about: "return only pages that are new or changed since the previous run",
      sets: true,
    },
    savedOnly: true,
  },
  article: {
    schema: { anyOf: [{ type: "boolean" }, { type: "null" }] },
    default: null,
    label: "Extract article text",
    cli: { flag: "--article", about: "also extract the article as text and Markdown when fields are set", sets: true },
  },
  respect_robots: {
    schema: { type: "boolean" },
    default: true,
    label: "Respect robots.txt",
    cli: {
      flag: "--ignore-robots",
      about: "ignore robots.txt; use it only with permission of the site's owner",
      sets: false,
    },
    reach: true,
  },
} as const satisfies Record<string, Declaration>;

type Declared = typeof CRAWL_SETTINGS;
export type CrawlSettingName = keyof Declared;

type SettingTypes = { string: string; integer: number; number: number; boolean: boolean; null: null; array: string[] };
type ValueOf<S> = S extends { enum: readonly (infer Value)[] }
  ? Value
  : S extends { anyOf: readonly (infer Choice)[] }
    ? ValueOf<Choice>
    : S extends { type: infer T extends keyof SettingTypes }
      ? SettingTypes[T]
      : never;

/** Settings that are offered to agents. */
export type AgentSettingName = {
  [K in CrawlSettingName]: Declared[K] extends { agents: object } ? K : never;
}[CrawlSettingName];

export type CrawlSettings = { -readonly [K in CrawlSettingName]: ValueOf<Declared[K]["schema"]> };

/** Settings that are stored with a crawl; the others are aliases. */
export type StoredCrawlSettings = {
  readonly [
    K in CrawlSettingName as Declared[K] extends { default: unknown } ? K : never
  ]: CrawlSettings[K] extends string[] ? readonly string[] : CrawlSettings[K];
};

/** Settings as a caller sends them. */
export type CrawlInputSettings = StoredCrawlSettings & Pick<Readonly<CrawlSettings>, "max_attempts">;

export const crawlSettings: readonly (readonly [CrawlSettingName, Declaration])[] = Object.entries(
  CRAWL_SETTINGS,
) as never;

export const CRAWL_DEFAULTS = Object.fromEntries(
  crawlSettings.filter(([, setting]) => "default" in setting).map(([name, setting]) => [name, setting.default]),
) as unknown as StoredCrawlSettings;

/** The default of `documents`: rules for the fields of pages find nothing in documents, or fail on them. */
export function readsDocuments(rules: { fields?: unknown; items?: unknown; extract?: unknown }): boolean {
  const { fields = null, items = null, extract = null } = rules;
  return fields === null && items === null && extract === null;
}

/** Settings outside of `known` that decide which pages a crawl reaches and differ from the default. */
export function otherReach(options: object, known: ReadonlySet<string>): [name: string, value: unknown][] {
  const values = options as Readonly<Record<string, unknown>>;
  return crawlSettings
    .filter(([name, { reach }]) => reach === true && !known.has(name))
    .map(([name, setting]): [string, unknown, unknown] => [name, values[name] ?? setting.default, setting.default])
    .filter(([, value, usual]) => JSON.stringify(value) !== JSON.stringify(usual))
    .map(([name, value]) => [name, value]);
}

/** JSON schemas of all settings; `unsaved`: only those of a crawl without a job. */
export function crawlSchemas({ unsaved = false } = {}): Record<string, object> {
  const offered = crawlSettings.filter(([, { savedOnly = false }]) => !(unsaved && savedOnly));
  return Object.fromEntries(offered.map(([name, { schema }]) => [name, schema]));
}
