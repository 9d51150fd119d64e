/** How a page of a saved crawl compares with what the job knew of it. */
import { type CrawlSettingName, otherReach } from "../crawl/crawl-settings.ts";
import { hash } from "node:crypto";

export const PAGE_CHANGES = ["new", "changed", "gone"] as const;
/** What a run lists; pages that are as they were are only counted. */
export type ListedChange = (typeof PAGE_CHANGES)[number];
export type PageChange = Exclude<ListedChange, "gone"> | "unchanged";

/** What a run of a saved crawl leaves of a page, for the next one to compare with. */
export interface PageState {
  key: string;
  url: string;
  digest: string;
  scopeHash: string;
  /** A redirect led to it: where that leads is not the page's own doing. */
  isRedirected: boolean;
  /** Null: there is nothing to compare with. */
  change: PageChange | null;
}

/** What a run of a saved crawl found, compared with what the job knew before it. */
export interface ChangeCounts {
  /** The run before; null: it is not there any more. */
  compared_with: string | null;
  new: number;
  changed: number;
  unchanged: number;
  /** Answered that they are gone, or are not found any more by a crawl that ran to its end. */
  gone: number;
  /** Known before, and this run cannot say: they failed, or it did not get to them. Null: not known before it ends. */
  unknown: number | null;
}

/** Of what a page says: its title, and its article or what the rules found. */
export function pageDigest(title: string | null, contentHash: string | null): string {
  return hash("sha256", JSON.stringify([title, contentHash]), "hex").slice(0, 32);
}

export function changeOf(before: string | null, now: string): PageChange {
  if (before === null) return "new";
  return before === now ? "unchanged" : "changed";
}

const REACH_KNOWN: ReadonlySet<string> = new Set<CrawlSettingName>([
  ...(["max_depth", "include", "exclude", "same_site", "stay_within", "follow_links"] as const),
  ...(["use_sitemap", "respect_robots", "follow", "read"] as const),
]);

/** Of the part of a crawl's options that decides which pages it can come to. */
export function scopeHashOf(options: Readonly<Record<string, unknown>>): string {
  const { urls, max_depth, include, exclude, same_site, use_sitemap, respect_robots, strategy, browser } = options;
  const { stay_within = "site", follow_links = true, follow = [], read = [] } = options;
  // Stored hashes have these in an order of their own.
  const said = [urls, max_depth, include, exclude, same_site, stay_within, follow_links, use_sitemap, respect_robots];
  // What saved crawls of earlier versions have reached is reached still.
  const split = isEmpty(follow) && isEmpty(read) ? [] : [follow, read];
  return hash(
    "sha256",
    JSON.stringify([...said, strategy, browser ?? null, ...split, ...otherReach(options, REACH_KNOWN)]),
    "hex",
  ).slice(0, 32);
}

const isEmpty = (list: unknown) => Array.isArray(list) && list.length === 0;

/** How a run compares with the previous one; unchanged pages are counted elsewhere. */
export function changeWords({ new: added, changed, gone, unknown }: ChangeCounts): string {
  const unsure = unknown === null || unknown === 0 ? "" : `, ${unknown} known before and not seen`;
  return `since the run before ${added} new, ${changed} changed, ${gone} gone${unsure}`;
}
