import { OrbError } from "../../base/errors.ts";
import { type ShardedSite, whyNotDivided } from "../../domain/lane/shards.ts";
import { siteOf } from "../../domain/text/url.ts";
import { heldBySite, type Waiting } from "../../domain/run/waiting.ts";
import type { SiteFilter, SiteLimits, SiteRecord } from "../../store/records/site-records.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { type SiteDeps, type SiteView, siteViews } from "./site-view.ts";

/** `host` or `host:port`, as the queue names its sites; `path` is its path in the request. */
export function siteName(text: string, path = "site"): string {
  const url = URL.parse(`http://${text}`);
  if (url === null || url.pathname !== "/" || url.search !== "" || url.username !== "" || /[/?#@]/.test(text)) {
    const message = `${text} is not a site: expected a host name, with its port if that is not 80 or 443`;
    throw new OrbError("input_invalid", message, { fields: [{ path, message }] });
  }
  return siteOf(url);
}

async function viewOf(deps: SiteDeps, record: SiteRecord): Promise<SiteView> {
  const [view] = await siteViews(deps, [record]);
  return view!;
}

/** The path of the site in a request. */
const SITE_PATH = "path.site";

/** By name; `after` is the last one of the previous page. */
export async function listSites(deps: SiteDeps, filter: SiteFilter): Promise<SiteView[]> {
  return siteViews(deps, await deps.store.sites(filter, deps.clock.now()));
}

export async function showSite(deps: SiteDeps, name: string): Promise<SiteView> {
  const record = await deps.store.site(siteName(name, SITE_PATH));
  if (record === null)
    throw new OrbError("not_found", `no site named ${name} is known`, { hint: "orb sites list shows all sites." });
  return viewOf(deps, record);
}

/** Changes the settings in the request, for running work as well; null restores the configured default. */
export async function changeSite(
  deps: SiteDeps,
  name: string,
  change: Partial<SiteLimits>,
  version?: string,
): Promise<SiteView> {
  const { dependsOn, ...rest } = change;
  const needs = dependsOn?.map((site, index) => siteName(site, `depends_on[${index}]`));
  const site = siteName(name, SITE_PATH);
  const limits = (change.shards ?? 1) > 1 ? { ...rest, ...(await pinned(deps, site, change)) } : rest;
  const all = needs === undefined ? limits : { ...limits, dependsOn: needs };
  const record = await deps.store.setSite(site, all, version);
  await deps.wake(null);
  return viewOf(deps, record);
}

/**
 * A sharded site has explicit values: each owner derives its share of them, and configured defaults may differ between
 * machines.
 */
async function pinned(deps: SiteDeps, site: string, change: Partial<SiteLimits>): Promise<Partial<SiteLimits>> {
  const { maxPerSite, minDelayMs } = deps.siteDefaults;
  const known = await deps.store.site(site);
  const after = { ...NOT_SET, ...known, ...change };
  const limits = {
    maxConcurrency: after.maxConcurrency ?? maxPerSite,
    minDelayMs: after.minDelayMs ?? minDelayMs,
  };
  const message = whyNotDivided({ ...after, ...limits });
  if (message !== null)
    throw new OrbError("input_invalid", `shards ${message}`, { fields: [{ path: "shards", message }] });
  return limits;
}

const NOT_SET: ShardedSite = {
  shards: null,
  maxConcurrency: null,
  requestsPerSecond: null,
  burst: null,
  minDelayMs: null,
  crawlDelayMs: null,
  group: null,
};

/** Forgets the learned strategy: the next page is probed again. */
export async function forgetLearned(deps: SiteDeps, name: string): Promise<SiteView> {
  return viewOf(deps, await deps.store.forgetLearned(siteName(name, SITE_PATH)));
}

/** Closes the circuit breaker: the site is tried at once. */
export async function resetSite(deps: SiteDeps, name: string): Promise<SiteView> {
  await deps.store.resetBreaker(siteName(name, SITE_PATH));
  await deps.wake(null);
  return showSite(deps, name);
}

/** Why work waits, for each of these sites with waiting work. */
export async function waitingSites(
  { store, clock }: OrchestratorDeps,
  names: readonly string[],
): Promise<Map<string, Waiting>> {
  const reasons = new Map<string, Waiting>();
  for (const name of names) {
    const record = await store.site(name);
    const waiting = record === null ? null : heldBySite(record, 0, clock.now());
    if (waiting !== null) reasons.set(name, waiting);
  }
  return reasons;
}
