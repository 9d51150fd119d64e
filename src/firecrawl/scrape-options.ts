/** How a page is fetched and read: options that scrapes, batches and crawls share. */
import type { CrawlInput } from "../domain/crawl/crawl-options.ts";
import type { BrowserOptions } from "../domain/page/page-options.ts";
import type { InputReader } from "../domain/text/input-reader.ts";
import { readActions } from "./actions.ts";
import { readFormats, type TrackingAsk } from "./formats.ts";
import { badRequest } from "./fault.ts";
import type { JsonAsk } from "./json-values.ts";
import { fieldsFor } from "./json-values.ts";

export type Version = "v1" | "v2";

export interface ScrapeAsk {
  /** What a recipe is asked for, of a page or a crawl. */
  recipe: Pick<CrawlInput, "document" | "browser" | "headers" | "fields" | "extract" | "proxy">;
  json: JsonAsk | null;
  tracking: TrackingAsk | null;
  timeoutMs: number;
  /** A page that was got since so many milliseconds will do. */
  maxAgeMs: number;
  /** Whether it may be answered with again. */
  store: boolean;
}

/** As Firecrawl's own: 60 seconds in its second version, 30 in its first. */
const TIMEOUTS: Readonly<Record<Version, number>> = { v1: 30_000, v2: 60_000 };
const LONGEST_MS = 600_000;

const NO_LOCATIONS = "cannot be set: pages are fetched from the location of this server, or through its proxies";

export function readScrapeOptions(reader: InputReader, version: Version, { llm }: { llm: boolean }): ScrapeAsk {
  const { formats, json, tracking } = readFormats(reader, version, llm);
  const document = {
    formats,
    only_main_content: reader.flag("onlyMainContent") ?? true,
    include_tags: [...(reader.texts("includeTags") ?? [])],
    exclude_tags: [...(reader.texts("excludeTags") ?? [])],
  };
  const headers = reader.textsByName("headers");
  const proxy = readProxy(reader);
  const read = json ?? tracking?.json ?? null;
  const fields = read === null || read.by === "llm" ? null : fieldsFor(read);
  const browser = readBrowser(reader);
  const ask: ScrapeAsk = {
    recipe: {
      document,
      ...(browser === null ? {} : { browser }),
      ...(headers === undefined || Object.keys(headers).length === 0 ? {} : { headers }),
      ...(fields === null ? {} : { fields }),
      ...(read?.by === "llm" ? { extract: { llm: read.ask } } : {}),
      ...(proxy === undefined ? {} : { proxy }),
    },
    json,
    tracking,
    timeoutMs: reader.number("timeout", { min: 1, max: LONGEST_MS }) ?? TIMEOUTS[version],
    // What is compared is fetched.
    maxAgeMs: tracking === null ? (reader.number("maxAge") ?? 0) : 0,
    store: reader.flag("storeInCache") ?? true,
  };
  reader.ignore("maxAge");
  leaveOut(reader);
  return ask;
}

/** What cannot end in time is refused at once; `limit` says what sets the time. */
export function refuseLongWaits({ recipe }: ScrapeAsk, mostMs: number, limit: string, within = ""): void {
  const { wait_ms: wait = 0, actions = [] } = recipe.browser ?? {};
  const waits = actions.map((action) => ("milliseconds" in action ? action.milliseconds : 0));
  const total = waits.reduce((sum, one) => sum + one, wait ?? 0);
  if (total === 0 || total < mostMs) return;
  const message = `waits for ${total} ms in total, but a page has only ${mostMs} ms (${limit})`;
  throw badRequest([{ path: `${within}${wait === null || wait === 0 ? "actions" : "waitFor"}`, message }]);
}

function readBrowser(reader: InputReader): Partial<BrowserOptions> | null {
  const wait = reader.number("waitFor", { max: LONGEST_MS });
  const mobile = reader.flag("mobile");
  const actions = readActions(reader);
  const browser = {
    ...(wait === undefined || wait === 0 ? {} : { wait_ms: wait }),
    ...(mobile === true ? { mobile } : {}),
    ...(actions === undefined || actions.length === 0 ? {} : { actions }),
  };
  return Object.keys(browser).length === 0 ? null : browser;
}

/** Their own names for proxies say which are paid for; an address is one's own proxy. */
function readProxy(reader: InputReader): string | undefined {
  const proxy = reader.text("proxy");
  if (proxy === undefined || proxy === "basic" || proxy === "auto") return undefined;
  if (proxy === "pool" || proxy.includes("://")) return proxy;
  reader.addError(
    "proxy",
    'is not supported: use "basic", "auto", "pool" for the proxies of this server, or the URL of a proxy',
  );
  return undefined;
}

function leaveOut(reader: InputReader): void {
  reader.ignore("blockAds", "removeBase64Images", "fastMode", "parsers", "parsePDF", "auditMetadata");
  reader.ignore("integration", "origin", "toolDetail");
  reader.reject("domainTools", "is not supported");
  reader.reject("skipTlsVerification", "certificates are always verified: remove it");
  reader.reject("location", NO_LOCATIONS, []);
  reader.reject("useMock", "is not supported", []);
  reader.reject("minAge", "is not supported: maxAge says how old a stored page may be", []);
  reader.reject("lockdown", "is not supported: maxAge says how old a stored page may be");
  reader.reject("redactPII", "is not supported: remove it, and redact the response");
  reader.reject("threatProtection", "is not supported", []);
  reader.reject("profile", "is not supported: store a session (POST /sessions) and use a job", []);
  reader.reject(
    "zeroDataRetention",
    "is not supported: results are kept for APP_RETENTION_HOURS, or until they are deleted",
  );
  reader.reject("agent", "is not supported: use actions", []);
}
