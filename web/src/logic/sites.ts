/** Logic of the site pages: live changes, series, and the words for limits. */
import type { Operations, Site, SitesProgress } from "../api/types.ts";
import { duration, shortNumber } from "./format.ts";
import type { SiteLimit } from "./limits.ts";

/** A site in the live stream. */
export type LiveSite = SitesProgress["sites"][number];
export type SiteSeries = Operations["getSiteSeries"]["answer"][string];

export interface SitePages {
  pages: { rows: Site[]; next: string | null; total: number | null }[];
  pageParams: unknown[];
}

/** The rows with their live updates; null: no row changed. */
export function patchRows(rows: readonly Site[], live: readonly LiveSite[]): Site[] | null {
  const news = new Map(live.map((one) => [one.site, one]));
  if (!rows.some(({ site }) => news.has(site))) return null;
  return rows.map((row) => ({ ...row, ...news.get(row.site) }));
}

export function patchPages(old: SitePages | undefined, live: readonly LiveSite[]): SitePages | undefined {
  if (old === undefined) return old;
  return { ...old, pages: old.pages.map((page) => ({ ...page, rows: patchRows(page.rows, live) ?? page.rows })) };
}

/** Replaces one site after a change. */
export function replaceSite(old: SitePages | undefined, changed: Site): SitePages | undefined {
  if (old === undefined) return old;
  const rows = (all: Site[]) => all.map((row) => (row.site === changed.site ? changed : row));
  return { ...old, pages: old.pages.map((page) => ({ ...page, rows: rows(page.rows) })) };
}

/** The query of a list of sites. */
export interface SiteQuery {
  q?: string;
  state?: string;
  group?: string;
}

/**
 * Whether live sites are missing from the list: it has to be reloaded. Lists are sorted by name, so sites beyond the
 * last loaded one come with the next page.
 */
export function hasNew(old: SitePages | undefined, live: readonly LiveSite[], query: SiteQuery = {}): boolean {
  if (old === undefined) return false;
  const known = new Set(old.pages.flatMap(({ rows }) => rows.map(({ site }) => site)));
  const end = old.pages.at(-1);
  const last = end === undefined || end.next === null ? null : (end.rows.at(-1)?.site ?? null);
  const q = query.q?.toLowerCase() ?? "";
  return live.some(
    ({ site, state, group }) =>
      !known.has(site) &&
      (last === null || site <= last) &&
      site.includes(q) &&
      (query.state === undefined || query.state === state) &&
      (query.group === undefined || query.group === group),
  );
}

/** Error rate for each step in which anything ended. */
export function errorShares({ good, bad }: Pick<SiteSeries, "good" | "bad">): (number | null)[] {
  return good.map((value, index) => {
    const failed = bad[index] ?? null;
    const all = (value ?? 0) + (failed ?? 0);
    return failed === null || all === 0 ? null : failed / all;
  });
}

export function timesOf({ step_seconds, first_at, good }: SiteSeries): number[] {
  const first = first_at === null ? 0 : Date.parse(first_at);
  return good.map((_value, index) => first + index * step_seconds * 1000);
}

const LIMIT_NAMES: Record<SiteLimit, string> = {
  max_concurrency: "Concurrency",
  requests_per_second: "Rate",
  burst: "Burst",
  min_delay_ms: "Delay",
  max_memory_mb: "Memory",
  shards: "Shards",
};

export function limitName(limit: SiteLimit): string {
  return LIMIT_NAMES[limit];
}

/** "2 per second", "server default": for the message after a change. */
export function limitWords(limit: SiteLimit, value: number | null): string {
  if (value === null) return "server default";
  switch (limit) {
    case "requests_per_second":
      return `${shortNumber(value)} per second`;
    case "min_delay_ms":
      return duration(value);
    case "max_memory_mb":
      return `${shortNumber(value)} MB`;
    default:
      return shortNumber(value);
  }
}

/** Hosts separated by lines, spaces or commas. */
export function readSites(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((part) => part !== ""))];
}

export function siteHref(site: string): string {
  return `/sites/${encodeURIComponent(site)}`;
}

/** The site in a path; a malformed one stays as it is. */
export function siteFromPath(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
