/** The sitemaps of a crawl: what stands in their tasks, and how many there may be. */
import { laneOfSite } from "../lane/lane.ts";
import type { Discovered } from "../run/outcome.ts";
import { fetchUrl, siteOf } from "../text/url.ts";

/** The name under which the worker knows how a sitemap is read; no handler of a user can have it. */
export const SITEMAP_HANDLER = "@sitemap";

/** A crawl reads so many sitemaps, besides asking each origin it begins at where they are. */
export const MOST_SITEMAPS = 1_000;

/** What stands in the task of a sitemap besides its address. */
export interface SitemapPayload {
  /** How many indices led here. */
  depth: number;
  /**
   * Who said that it is there: `origin` is no sitemap itself, but the robots.txt that may name some; `guess` is the usual
   * address, tried when robots.txt names none; `start` is one that the crawl begins with.
   */
  by: "origin" | "robots" | "guess" | "index" | "start";
  /** The origin whose robots.txt has named it. */
  namedAt?: string;
  /** The crawl begins with it: the pages it names are starts, and not one link away from them. */
  isStart?: true;
}

/** Where sitemaps may be named that are of use to a crawl that begins here. */
export function originsOf(starts: readonly { url: string }[]): string[] {
  return [...new Set(starts.map(({ url }) => new URL(url).origin))];
}

export function askForSitemaps(origin: string): Discovered {
  return sitemapTask(`${origin}/robots.txt`, { depth: 0, by: "origin" });
}

/** Each file is read once, so indices that name each other come to an end. */
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
