/** How a page is to be got and read: options that scrapes, batches and crawls share. */
import type { CrawlInput } from "../domain/crawl/crawl-options.ts";
import type { BrowserOptions } from "../domain/page/page-options.ts";
import { readActions } from "./actions.ts";
import { readFormats } from "./formats.ts";
import { badRequest } from "./fault.ts";
import type { Given } from "./given.ts";
import type { JsonAsk } from "./json-values.ts";
import { fieldsFor } from "./json-values.ts";

export type Version = "v1" | "v2";

export interface ScrapeAsk {
  /** What a recipe is asked for, of a page or a crawl. */
  recipe: Pick<CrawlInput, "document" | "browser" | "headers" | "fields" | "extract" | "proxy">;
  json: JsonAsk | null;
  timeoutMs: number;
  /** A page that was got since so many milliseconds will do. */
  maxAgeMs: number;
  /** Whether it may be answered with again. */
  store: boolean;
}

/** As Firecrawl's own: 60 seconds in its second version, 30 in its first. */
const TIMEOUTS: Readonly<Record<Version, number>> = { v1: 30_000, v2: 60_000 };
const LONGEST_MS = 600_000;

const NO_PLACES = "cannot be chosen here: pages are got from where this server is, or through proxies of its own";

export function readScrapeOptions(given: Given, version: Version, { llm }: { llm: boolean }): ScrapeAsk {
  const { formats, json } = readFormats(given, version, llm);
  const document = {
    formats,
    only_main_content: given.flag("onlyMainContent") ?? true,
    include_tags: [...(given.texts("includeTags") ?? [])],
    exclude_tags: [...(given.texts("excludeTags") ?? [])],
  };
  const headers = given.words("headers");
  const proxy = readProxy(given);
  const fields = json === null || json.by === "llm" ? null : fieldsFor(json);
  const browser = readBrowser(given);
  const ask: ScrapeAsk = {
    recipe: {
      document,
      ...(browser === null ? {} : { browser }),
      ...(headers === undefined || Object.keys(headers).length === 0 ? {} : { headers }),
      ...(fields === null ? {} : { fields }),
      ...(json?.by === "llm" ? { extract: { llm: json.ask } } : {}),
      ...(proxy === undefined ? {} : { proxy }),
    },
    json,
    timeoutMs: given.number("timeout", { min: 1, max: LONGEST_MS }) ?? TIMEOUTS[version],
    maxAgeMs: given.number("maxAge") ?? 0,
    store: given.flag("storeInCache") ?? true,
  };
  leaveOut(given);
  return ask;
}

/** What cannot end in time is refused at once; `limit` says what sets the time. */
export function refuseLongWaits({ recipe }: ScrapeAsk, mostMs: number, limit: string, within = ""): void {
  const { wait_ms: wait = 0, actions = [] } = recipe.browser ?? {};
  const waits = actions.map((action) => ("milliseconds" in action ? action.milliseconds : 0));
  const total = waits.reduce((sum, one) => sum + one, wait ?? 0);
  if (total === 0 || total < mostMs) return;
  const message = `waits for ${total} ms in all, and a page has ${mostMs} ms here (${limit})`;
  throw badRequest([{ path: `${within}${wait === null || wait === 0 ? "actions" : "waitFor"}`, message }]);
}

function readBrowser(given: Given): Partial<BrowserOptions> | null {
  const wait = given.number("waitFor", { max: LONGEST_MS });
  const mobile = given.flag("mobile");
  const actions = readActions(given);
  const browser = {
    ...(wait === undefined || wait === 0 ? {} : { wait_ms: wait }),
    ...(mobile === true ? { mobile } : {}),
    ...(actions === undefined || actions.length === 0 ? {} : { actions }),
  };
  return Object.keys(browser).length === 0 ? null : browser;
}

/** Their own names for proxies say which are paid for; an address is one's own proxy. */
function readProxy(given: Given): string | undefined {
  const proxy = given.text("proxy");
  if (proxy === undefined || proxy === "basic" || proxy === "auto") return undefined;
  if (proxy === "pool" || proxy.includes("://")) return proxy;
  given.wrong(
    "proxy",
    'is not to be had here: "basic" or "auto", "pool" for proxies of this server, or the address of one',
  );
  return undefined;
}

function leaveOut(given: Given): void {
  given.harmless("blockAds", "removeBase64Images", "fastMode", "parsers", "parsePDF", "auditMetadata");
  given.harmless("integration", "origin", "toolDetail");
  given.refuse("domainTools", "is not to be had here");
  given.refuse("skipTlsVerification", "certificates are always checked here: leave it out");
  given.refuse("location", NO_PLACES, []);
  given.refuse("useMock", "is not to be had here", []);
  given.refuse("minAge", "is not to be had here: maxAge says how old a stored page may be", []);
  given.refuse("lockdown", "is not to be had here: maxAge says how old a stored page may be");
  given.refuse("redactPII", "is not done here: leave it out, and redact what is answered");
  given.refuse("threatProtection", "is not to be had here", []);
  given.refuse("profile", "is not to be had here: store a session (POST /sessions) and use a job", []);
  given.refuse(
    "zeroDataRetention",
    "cannot be promised: results are kept for APP_RETENTION_HOURS, or until they are deleted",
  );
  given.refuse("agent", "is not to be had here: use actions", []);
  given.refuse("changeTrackingOptions", "is not to be had here: run a saved job on a schedule", []);
}
