/** `map`: the addresses of a site. */
import { type MappedLink, type MapOrder, mapSite } from "../orchestrator/map-site.ts";
import { readUrl } from "./crawl-options.ts";
import type { FirecrawlDeps } from "./deps.ts";
import { FirecrawlFault } from "./fault.ts";
import { Given } from "./given.ts";
import type { Version } from "./scrape-options.ts";

export interface MapAsk extends MapOrder {
  timeoutMs: number;
}

const DEFAULT_LIMIT = 5000;
const MOST_LINKS = 100_000;
const TIMEOUT_MS = 60_000;

export function readMap(body: unknown, version: Version): MapAsk {
  const given = new Given(body);
  const url = readUrl(given) ?? "";
  const mode = given.oneOf("sitemap", ["include", "skip", "only"]);
  const old = version === "v1" ? { skip: given.flag("ignoreSitemap"), only: given.flag("sitemapOnly") } : {};
  const order: MapAsk = {
    url,
    sitemap: mode ?? (old.only === true ? "only" : old.skip === true ? "skip" : "include"),
    subdomains: given.flag("includeSubdomains") ?? true,
    ignoreQuery: given.flag("ignoreQueryParameters") ?? version === "v2",
    search: given.text("search")?.trim() || null,
    limit: given.number("limit", { min: 1, max: MOST_LINKS }) ?? DEFAULT_LIMIT,
    timeoutMs: given.number("timeout", { min: 1, max: 600_000 }) ?? TIMEOUT_MS,
  };
  given.harmless("origin", "integration", "auditMetadata", "useIndex", "ignoreCache");
  given.refuse("location", "cannot be chosen here: pages are got from where this server is", []);
  given.refuse("threatProtection", "is not to be had here", []);
  given.nothingElse();
  given.done();
  return order;
}

export async function mapPages(deps: FirecrawlDeps, order: MapAsk, gone: AbortSignal): Promise<MappedLink[]> {
  const late = new AbortController();
  const timer = deps.clock.after(order.timeoutMs, () => late.abort(), { keepAlive: true });
  try {
    return await mapSite(deps, order, AbortSignal.any([late.signal, gone]));
  } catch (error) {
    if (!late.signal.aborted) throw error;
    throw new FirecrawlFault(408, `the site was not mapped after ${order.timeoutMs} ms`, { code: "MAP_TIMEOUT" });
  } finally {
    timer.cancel();
  }
}
