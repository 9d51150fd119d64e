/** Compares a page of a saved crawl with the job's stored state. */
import { type CrawlSettingName, otherReach } from "../crawl/crawl-settings.ts";
import { hash } from "node:crypto";

export const PAGE_CHANGES = ["new", "changed", "gone"] as const;
/** Listed changes; unchanged pages are only counted. */
export type ListedChange = (typeof PAGE_CHANGES)[number];
export type PageChange = Exclude<ListedChange, "gone"> | "unchanged";

/** The state of a page that the next run compares with. */
export interface PageState {
  key: string;
  url: string;
  digest: string;
  scopeHash: string;
  /** Reached by a redirect. */
  isRedirected: boolean;
  /** Null: there is nothing to compare with. */
  change: PageChange | null;
}

/** Changes that a run of a saved crawl found. */
export interface ChangeCounts {
  /** The previous run; null: it was deleted. */
  compared_with: string | null;
  new: number;
  changed: number;
  unchanged: number;
  /** Answered 404 or 410, or no longer found by a complete crawl. */
  gone: number;
  /** Known pages that failed or were not reached in this run. Null: unknown until it ends. */
  unknown: number | null;
}

/** Digest of the title and the content: the article, or what the rules extracted. */
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

/** Hash of the options that decide which pages a crawl can reach. */
export function scopeHashOf(options: Readonly<Record<string, unknown>>): string {
  const { urls, max_depth, include, exclude, same_site, use_sitemap, respect_robots, strategy, browser } = options;
  const { stay_within = "site", follow_links = true, follow = [], read = [] } = options;
  // Stored hashes depend on this order.
  const settings = [
    urls,
    max_depth,
    include,
    exclude,
    same_site,
    stay_within,
    follow_links,
    use_sitemap,
    respect_robots,
  ];
  // Keeps the hashes of crawls stored by earlier versions.
  const split = isEmpty(follow) && isEmpty(read) ? [] : [follow, read];
  return hash(
    "sha256",
    JSON.stringify([...settings, strategy, browser ?? null, ...split, ...otherReach(options, REACH_KNOWN)]),
    "hex",
  ).slice(0, 32);
}

const isEmpty = (list: unknown) => Array.isArray(list) && list.length === 0;

/** How a run compares with the previous one; unchanged pages are counted elsewhere. */
export function changeWords({ new: added, changed, gone, unknown }: ChangeCounts): string {
  const unsure = unknown === null || unknown === 0 ? "" : `, ${unknown} known before and not seen`;
  return `since the previous run ${added} new, ${changed} changed, ${gone} gone${unsure}`;
}
