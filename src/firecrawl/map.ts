/** `map`: the addresses of a site. */
import { InputReader } from "../domain/text/input-reader.ts";
import { type MappedLink, type MapOrder, mapSite } from "../orchestrator/map-site.ts";
import { readUrl } from "./crawl-options.ts";
import type { FirecrawlDeps } from "./deps.ts";
import { FirecrawlFault, rejectInvalid } from "./fault.ts";
import type { Version } from "./scrape-options.ts";

interface MapAsk extends MapOrder {
  timeoutMs: number;
}

const DEFAULT_LIMIT = 5000;
const MOST_LINKS = 100_000;
const TIMEOUT_MS = 60_000;

export function readMap(body: unknown, version: Version): MapAsk {
  const reader = new InputReader(body);
  const url = readUrl(reader) ?? "";
  const mode = reader.oneOf("sitemap", ["include", "skip", "only"]);
  const old = version === "v1" ? { skip: reader.flag("ignoreSitemap"), only: reader.flag("sitemapOnly") } : {};
  const order: MapAsk = {
    url,
    sitemap: mode ?? (old.only === true ? "only" : old.skip === true ? "skip" : "include"),
    subdomains: reader.flag("includeSubdomains") ?? true,
    ignoreQuery: reader.flag("ignoreQueryParameters") ?? version === "v2",
    search: reader.text("search")?.trim() || null,
    limit: reader.number("limit", { min: 1, max: MOST_LINKS }) ?? DEFAULT_LIMIT,
    timeoutMs: reader.number("timeout", { min: 1, max: 600_000 }) ?? TIMEOUT_MS,
  };
  reader.ignore("origin", "integration", "auditMetadata", "useIndex", "ignoreCache");
  reader.reject("location", "cannot be set: pages are fetched from the location of this server", []);
  reader.reject("threatProtection", "is not supported", []);
  rejectInvalid(reader);
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
