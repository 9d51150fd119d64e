import { OrbError } from "../../base/errors.ts";
import { type ShardedSite, whyNotDivided } from "../../domain/lane/shards.ts";
import { siteOf } from "../../domain/text/url.ts";
import { heldBySite, type Waiting } from "../../domain/run/waiting.ts";
import type { SiteFilter, SiteLimits, SiteRecord } from "../../store/records/site-records.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { type SiteDeps, type SiteView, siteViews } from "./site-view.ts";

/** `host` or `host:port`, as the queue names its sites; `path` is where it stands in what was asked for. */
export function siteName(text: string, path = "site"): string {
  const url = URL.parse(`http://${text}`);
  if (url === null || url.pathname !== "/" || url.search !== "" || url.username !== "" || /[/?#@]/.test(text)) {
    const message = `${text} is not a site: expected a host name, with its port unless that is 80 or 443`;
    throw new OrbError("input_invalid", message, { fields: [{ path, message }] });
  }
  return siteOf(url);
}

async function viewOf(deps: SiteDeps, record: SiteRecord): Promise<SiteView> {
  const [view] = await siteViews(deps, [record]);
  return view!;
}

/** Where the site stands that a call is about. */
const OWN = "path.site";

/** By name; `after` is the one to go on behind. */
export async function listSites(deps: SiteDeps, filter: SiteFilter): Promise<SiteView[]> {
  return siteViews(deps, await deps.store.sites(filter, deps.clock.now()));
}

export async function showSite(deps: SiteDeps, name: string): Promise<SiteView> {
  const record = await deps.store.site(siteName(name, OWN));
  if (record === null)
    throw new OrbError("not_found", `no site named ${name} is known`, { hint: "orb sites list shows what there is." });
  return viewOf(deps, record);
}

/** Changes what is given, on running work too; null goes back to the configured default. */
export async function changeSite(
  deps: SiteDeps,
  name: string,
  change: Partial<SiteLimits>,
  version?: string,
): Promise<SiteView> {
  const { dependsOn, ...rest } = change;
  const needs = dependsOn?.map((site, index) => siteName(site, `depends_on[${index}]`));
  const site = siteName(name, OWN);
  const limits = (change.shards ?? 1) > 1 ? { ...rest, ...(await pinned(deps, site, change)) } : rest;
  const all = needs === undefined ? limits : { ...limits, dependsOn: needs };
  const record = await deps.store.setSite(site, all, version);
  await deps.wake(null);
  return viewOf(deps, record);
}

/**
 * A site that is divided stands on figures of its own: its owners reckon their shares of them, each where it is, and a
 * configured default might be another one there.
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

/** Forgets what the site was found to need: its next page is probed again. */
export async function forgetLearned(deps: SiteDeps, name: string): Promise<SiteView> {
  return viewOf(deps, await deps.store.forgetLearned(siteName(name, OWN)));
}

/** Forgets the failures of a site and lets it be tried at once. */
export async function resetSite(deps: SiteDeps, name: string): Promise<SiteView> {
  await deps.store.resetBreaker(siteName(name, OWN));
  await deps.wake(null);
  return showSite(deps, name);
}

/** Why a site's work waits, for those of the given sites where it does. */
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
