/** Which pages a crawl or a batch gets, in the words of our own crawls. */
import type { CrawlInput } from "../domain/crawl/crawl-options.ts";
import { InputReader } from "../domain/text/input-reader.ts";
import { rejectInvalid } from "./fault.ts";
import { readScrapeOptions, type ScrapeAsk, type Version } from "./scrape-options.ts";
import { readWebhook, type WebhookAsk } from "./webhook-options.ts";

export interface CrawlAsk {
  kind: "crawl" | "batch";
  input: CrawlInput;
  scrape: ScrapeAsk;
  webhook: WebhookAsk | null;
  /** Addresses that are none, left out of a batch. */
  invalid: string[];
}

/** Firecrawl's own limit, and its own end of crawls that nobody waits for. */
const MOST_PAGES = 10_000;
const TIMEOUT_MINUTES = 24 * 60;
const DEEPEST = 1000;

export function readCrawl(body: unknown, version: Version, known: { llm: boolean }): CrawlAsk {
  const reader = new InputReader(body);
  const url = readUrl(reader);
  const scrape = readInnerOptions(reader, version, known);
  const limit = reader.number("limit", { min: 1, max: 10_000_000 }) ?? MOST_PAGES;
  const depth = reader.number("maxDiscoveryDepth", { max: DEEPEST }) ?? DEEPEST;
  const patterns = readPatterns(reader, version);
  const ignore = reader.flag("ignoreRobotsTxt");
  const input: CrawlInput = {
    url: url ?? "",
    max_pages: limit,
    max_depth: depth,
    ...patterns,
    ...readReach(reader, version),
    ...readSitemap(reader, version),
    ...readPace(reader),
    timeout_minutes: TIMEOUT_MINUTES,
    documents: true,
    ...scrape.recipe,
    ...(ignore === undefined ? {} : { respect_robots: !ignore }),
  };
  const webhook = readWebhook(reader);
  reader.reject("prompt", "is not supported: use includePaths, excludePaths and limit", []);
  reader.reject("ignoreQueryParameters", "is not supported: exclude URLs with excludePaths and regexOnFullURL");
  reader.reject("robotsUserAgent", "is set by the server (APP_USER_AGENT)", []);
  reader.reject("zeroDataRetention", "is not supported: results are kept for APP_RETENTION_HOURS");
  reader.ignore("deduplicateSimilarURLs", "origin", "integration");
  rejectInvalid(reader);
  return { kind: "crawl", input, scrape, webhook, invalid: [] };
}

const MOST_URLS = 1000;

export function readBatch(body: unknown, version: Version, known: { llm: boolean }): CrawlAsk {
  const reader = new InputReader(body);
  const urls = reader.texts("urls");
  if (urls === undefined || urls.length === 0) reader.addError("urls", "expected at least one URL");
  else if (urls.length > MOST_URLS)
    reader.addError("urls", `has ${urls.length} URLs, at most ${MOST_URLS} are allowed: send several batches`);
  const good = (urls ?? []).slice(0, MOST_URLS).map(asAddress);
  const invalid = (urls ?? []).filter((_, index) => good[index] === null);
  const ignore = reader.flag("ignoreInvalidURLs") ?? version === "v2";
  if (invalid.length > 0 && (!ignore || invalid.length === urls?.length))
    for (const [index, url] of good.entries()) if (url === null) reader.addError(`urls[${index}]`, NOT_A_URL);
  const scrape = readScrapeOptions(reader, version, known);
  const webhook = readWebhook(reader);
  const pace = readPace(reader);
  reader.reject("appendToId", "is not supported: start another batch", []);
  rejectInvalid(reader);
  const input: CrawlInput = {
    url: good.filter((url) => url !== null),
    max_depth: 0,
    max_pages: good.length,
    timeout_minutes: TIMEOUT_MINUTES,
    documents: true,
    ...pace,
    ...scrape.recipe,
  };
  return { kind: "batch", input, scrape, webhook, invalid };
}

const NOT_A_URL = "expected an http or https URL";

export function readUrl(reader: InputReader): string | null {
  const text = reader.text("url");
  const url = text === undefined ? null : asAddress(text);
  reader.require("url");
  if (text !== undefined && url === null) reader.addError("url", NOT_A_URL);
  return url;
}

/** People leave the scheme away. */
function asAddress(text: string): string | null {
  const trimmed = text.trim();
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`);
  const isOne =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    (url.hostname.includes(".") || /^(localhost|\[)/.test(url.hostname));
  return isOne ? url.href : null;
}

function readInnerOptions(reader: InputReader, version: Version, known: { llm: boolean }): ScrapeAsk {
  const inner = reader.child("scrapeOptions") ?? new InputReader({});
  const ask = readScrapeOptions(inner, version, known);
  inner.rejectUnknownKeys();
  return ask;
}

/** Theirs are regular expressions that are looked for in the path, or in the whole address. */
function readPatterns(reader: InputReader, version: Version): Pick<CrawlInput, "include" | "exclude"> {
  const whole = reader.flag("regexOnFullURL") ?? false;
  const toPattern = (text: string) => {
    const source = text.replace(/\\.|\//gs, (part) => (part === "/" ? "\\/" : part));
    return whole ? `/(?:${source})/` : `path:/${source}/`;
  };
  const deepest = version === "v1" ? reader.number("maxDepth", { max: 100 }) : undefined;
  const tooDeep = deepest === undefined ? [] : [`path:/^(\\/[^\\/]+){${deepest + 1}}/`];
  return {
    include: (reader.texts("includePaths") ?? []).map(toPattern),
    exclude: [...(reader.texts("excludePaths") ?? []).map(toPattern), ...tooDeep],
  };
}

/** By default, Firecrawl stays below the start. */
function readReach(reader: InputReader, version: Version): Pick<CrawlInput, "same_site" | "stay_within"> {
  const backward = version === "v1" ? reader.flag("allowBackwardLinks") : undefined;
  const entire = reader.flag("crawlEntireDomain") ?? backward ?? false;
  const subdomains = reader.flag("allowSubdomains") ?? false;
  if (reader.flag("allowExternalLinks") === true) return { same_site: false };
  return { same_site: true, stay_within: subdomains ? "site" : entire ? "host" : "path" };
}

function readSitemap(reader: InputReader, version: Version): Pick<CrawlInput, "use_sitemap" | "follow_links"> {
  const ignored = version === "v1" ? reader.flag("ignoreSitemap") === true : false;
  const mode = reader.oneOf("sitemap", ["include", "skip", "only"]) ?? (ignored ? "skip" : "include");
  return { use_sitemap: mode !== "skip", follow_links: mode !== "only" };
}

function readPace(reader: InputReader): Pick<CrawlInput, "delay_seconds" | "max_concurrent_articles"> {
  const delay = reader.number("delay", { max: 3600, whole: false });
  const atOnce = reader.number("maxConcurrency", { min: 1, max: 10_000 });
  return {
    ...(delay === undefined ? {} : { delay_seconds: delay }),
    ...(atOnce === undefined ? {} : { max_concurrent_articles: atOnce }),
  };
}
