/** Sitemap tasks of a crawl. */
import { laneOfSite } from "../lane/lane.ts";
import type { Discovered } from "../run/outcome.ts";
import { fetchUrl, siteOf } from "../text/url.ts";

/** Handler name of sitemaps; the `@` keeps user handlers from having it. */
export const SITEMAP_HANDLER = "@sitemap";

/** Maximum number of sitemaps per crawl, besides the robots.txt of each start's origin. */
export const MOST_SITEMAPS = 1_000;

/** Payload of a sitemap task. */
export interface SitemapPayload {
  /** Number of sitemap indices that led here. */
  depth: number;
  /**
   * How it was found: `origin` is no sitemap itself, but the robots.txt that may list some; `guess` is the usual address,
   * tried when robots.txt lists none; `start` is a start of the crawl.
   */
  by: "origin" | "robots" | "guess" | "index" | "start";
  /** The origin whose robots.txt lists it. */
  namedAt?: string;
  /** A start of the crawl: the pages it lists are starts, not one link away from them. */
  isStart?: true;
}

/** The origins whose robots.txt may list sitemaps for these starts. */
export function originsOf(starts: readonly { url: string }[]): string[] {
  return [...new Set(starts.map(({ url }) => new URL(url).origin))];
}

export function askForSitemaps(origin: string): Discovered {
  return sitemapTask(`${origin}/robots.txt`, { depth: 0, by: "origin" });
}

/** The key makes each file be read once, so indices that list each other terminate. */
export function sitemapTask(address: string, payload: SitemapPayload): Discovered {
  const url = fetchUrl(address) ?? address;
  const site = siteOf(url);
  return {
    key: `sitemap ${url}`,
    url,
    site,
    lane: laneOfSite(site),
    depth: 0,
    handler: SITEMAP_HANDLER,
    auxiliary: { ...payload },
  };
}
