/** Which pages a crawl or a batch gets, in the words of our own crawls. */
import type { CrawlInput } from "../domain/crawl/crawl-options.ts";
import { Given } from "./given.ts";
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
  const given = new Given(body);
  const url = readUrl(given);
  const scrape = readInnerOptions(given, version, known);
  const limit = given.number("limit", { min: 1, max: 10_000_000 }) ?? MOST_PAGES;
  const depth = given.number("maxDiscoveryDepth", { max: DEEPEST }) ?? DEEPEST;
  const patterns = readPatterns(given, version);
  const ignore = given.flag("ignoreRobotsTxt");
  const input: CrawlInput = {
    url: url ?? "",
    max_pages: limit,
    max_depth: depth,
    ...patterns,
    ...readReach(given, version),
    ...readSitemap(given, version),
    ...readPace(given),
    timeout_minutes: TIMEOUT_MINUTES,
    ...scrape.recipe,
    ...(ignore === undefined ? {} : { respect_robots: !ignore }),
  };
  const webhook = readWebhook(given);
  given.refuse("prompt", "is not read here: give includePaths, excludePaths and limit", []);
  given.refuse(
    "ignoreQueryParameters",
    "is not to be had here: leave out what is unwanted with excludePaths and regexOnFullURL",
  );
  given.refuse("robotsUserAgent", "is the server's own (APP_USER_AGENT)", []);
  given.refuse("zeroDataRetention", "cannot be promised: results are kept for APP_RETENTION_HOURS");
  given.harmless("deduplicateSimilarURLs", "origin", "integration");
  given.nothingElse();
  given.done();
  return { kind: "crawl", input, scrape, webhook, invalid: [] };
}

const MOST_URLS = 1000;

export function readBatch(body: unknown, version: Version, known: { llm: boolean }): CrawlAsk {
  const given = new Given(body);
  const urls = given.texts("urls");
  if (urls === undefined || urls.length === 0) given.wrong("urls", "expected at least one URL");
  else if (urls.length > MOST_URLS)
    given.wrong("urls", `has ${urls.length} URLs, at most ${MOST_URLS} are taken at once: send several batches`);
  const good = (urls ?? []).slice(0, MOST_URLS).map(asAddress);
  const invalid = (urls ?? []).filter((_, index) => good[index] === null);
  const ignore = given.flag("ignoreInvalidURLs") ?? version === "v2";
  if (invalid.length > 0 && (!ignore || invalid.length === urls?.length))
    for (const [index, url] of good.entries()) if (url === null) given.wrong(`urls[${index}]`, NOT_A_URL);
  const scrape = readScrapeOptions(given, version, known);
  const webhook = readWebhook(given);
  const pace = readPace(given);
  given.refuse("appendToId", "is not to be had here: start another batch", []);
  given.nothingElse();
  given.done();
  const input: CrawlInput = {
    url: good.filter((url) => url !== null),
    max_depth: 0,
    max_pages: good.length,
    timeout_minutes: TIMEOUT_MINUTES,
    ...pace,
    ...scrape.recipe,
  };
  return { kind: "batch", input, scrape, webhook, invalid };
}

export const NOT_A_URL = "expected an http or https URL";

export function readUrl(given: Given): string | null {
  const text = given.text("url");
  const url = text === undefined ? null : asAddress(text);
  if (url === null) given.wrong("url", text === undefined ? "is required" : NOT_A_URL);
  return url;
}

/** People leave the scheme away. */
export function asAddress(text: string): string | null {
  const trimmed = text.trim();
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`);
  const isOne =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    (url.hostname.includes(".") || /^(localhost|\[)/.test(url.hostname));
  return isOne ? url.href : null;
}

function readInnerOptions(given: Given, version: Version, known: { llm: boolean }): ScrapeAsk {
  const inner = given.inside("scrapeOptions") ?? new Given({});
  const ask = readScrapeOptions(inner, version, known);
  inner.nothingElse();
  return ask;
}

/** Theirs are regular expressions that are looked for in the path, or in the whole address. */
function readPatterns(given: Given, version: Version): Pick<CrawlInput, "include" | "exclude"> {
  const whole = given.flag("regexOnFullURL") ?? false;
  const toPattern = (text: string) => {
    const source = text.replace(/\\.|\//gs, (part) => (part === "/" ? "\\/" : part));
    return whole ? `/(?:${source})/` : `path:/${source}/`;
  };
  const deepest = version === "v1" ? given.number("maxDepth", { max: 100 }) : undefined;
  const tooDeep = deepest === undefined ? [] : [`path:/^(\\/[^\\/]+){${deepest + 1}}/`];
  return {
    include: (given.texts("includePaths") ?? []).map(toPattern),
    exclude: [...(given.texts("excludePaths") ?? []).map(toPattern), ...tooDeep],
  };
}

/** Unless told otherwise, Firecrawl stays below the start. */
function readReach(given: Given, version: Version): Pick<CrawlInput, "same_site" | "stay_within"> {
  const backward = version === "v1" ? given.flag("allowBackwardLinks") : undefined;
  const entire = given.flag("crawlEntireDomain") ?? backward ?? false;
  const subdomains = given.flag("allowSubdomains") ?? false;
  if (given.flag("allowExternalLinks") === true) return { same_site: false };
  return { same_site: true, stay_within: subdomains ? "site" : entire ? "host" : "path" };
}

function readSitemap(given: Given, version: Version): Pick<CrawlInput, "use_sitemap" | "follow_links"> {
  const ignored = version === "v1" ? given.flag("ignoreSitemap") === true : false;
  const mode = given.oneOf("sitemap", ["include", "skip", "only"]) ?? (ignored ? "skip" : "include");
  return { use_sitemap: mode !== "skip", follow_links: mode !== "only" };
}

function readPace(given: Given): Pick<CrawlInput, "delay_seconds" | "max_concurrent_articles"> {
  const delay = given.number("delay", { max: 3600, whole: false });
  const atOnce = given.number("maxConcurrency", { min: 1, max: 10_000 });
  return {
    ...(delay === undefined ? {} : { delay_seconds: delay }),
    ...(atOnce === undefined ? {} : { max_concurrent_articles: atOnce }),
  };
}
