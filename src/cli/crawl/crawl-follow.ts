/** Polls a crawl until it has ended, and shows it. */
import type { OrbweaverClient } from "../../api-client/client.ts";
import { systemClock } from "../../base/clock.ts";
import { Signal } from "../../base/signal.ts";
import type { CrawlDetail } from "../../orchestrator/crawls/view.ts";
import type { RunSiteView } from "../../orchestrator/runs/sites.ts";
import { definedOnly } from "../api/command.ts";
import type { CrawlDisplay } from "./crawl-display.ts";

export const CRAWL_OVER: ReadonlySet<string> = new Set(["completed", "partial", "failed", "cancelled"]);

const LOOK_MS = 300;
/** Sites are more expensive to query and read more slowly. */
const LOOK_AT_SITES_MS = 2000;

export interface FollowedCrawl {
  api: OrbweaverClient;
  id: string;
  display: CrawlDisplay;
  /** Ends the polling, not the crawl. */
  signal: AbortSignal;
  /** Raised when a run has ended, if this process knows. */
  ended?: Signal;
}

export async function lookAtCrawl(api: OrbweaverClient, id: string): Promise<CrawlDetail> {
  return api.crawls.status(id);
}

/** Until it has ended, or `signal` aborts. */
export async function followCrawl(followed: FollowedCrawl): Promise<CrawlDetail> {
  const { api, id, display, signal, ended = new Signal() } = followed;
  const wake = () => ended.raise();
  signal.addEventListener("abort", wake, { once: true });
  let lookedAtSites = Number.NEGATIVE_INFINITY;
  for (;;) {
    const view = await lookAtCrawl(api, id);
    const isOver = CRAWL_OVER.has(view.status);
    // The final picture shows how the crawl ended.
    const isTime = isOver || performance.now() - lookedAtSites >= LOOK_AT_SITES_MS;
    const sites = isTime ? await sitesOf(api, view, display.siteLines) : null;
    // Until the first sites exist, the query is cheap.
    if (sites !== null && sites.length > 0) lookedAtSites = performance.now();
    display.show(view, sites);
    if (isOver || signal.aborted) {
      signal.removeEventListener("abort", wake);
      return view;
    }
    await ended.wait(systemClock, LOOK_MS);
  }
}

/** Active sites first, then waiting ones, then finished ones. */
async function sitesOf(api: OrbweaverClient, { task_id: id }: CrawlDetail, most: number): Promise<RunSiteView[]> {
  const sites = new Map<string, RunSiteView>();
  // One more than fits, to know whether there are others.
  for (const status of ["running", "queued", "retrying", undefined] as const) {
    if (most === 0 || sites.size > most) break;
    const { rows } = await api.runs.sites(id, definedOnly({ status, limit: most + 1 })).page();
    for (const site of rows) if (!sites.has(site.site)) sites.set(site.site, site);
  }
  return [...sites.values()];
}
