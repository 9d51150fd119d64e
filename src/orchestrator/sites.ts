import { OrbError } from "../base/errors.ts";
import { breakerPhase } from "../domain/circuit.ts";
import { siteOf } from "../domain/url.ts";
import { heldBySite, type Waiting } from "../domain/waiting.ts";
import type { SiteLimits, SiteRecord } from "../store/site-records.ts";
import type { OrchestratorDeps } from "./deps.ts";

/** A site as users see it. */
export interface SiteView {
  site: string;
  max_concurrency: number | null;
  requests_per_second: number | null;
  burst: number | null;
  min_delay_ms: number | null;
  /** What robots.txt asks for between two requests; null: nothing. */
  crawl_delay_ms: number | null;
  paused: boolean;
  held_until: string | null;
  /** What its pages were found to need; null: nothing, or it is not believed any more. */
  learned_strategy: {
    strategy: string;
    reason: string;
    scope: "page" | "site";
    pages: number;
    expires_at: string;
  } | null;
  breaker: { state: "closed" | "open" | "half_open"; failures: number; reopens_at: string | null };
}

function toView(record: SiteRecord, now: number): SiteView {
  const { breaker } = record;
  return {
    site: record.site,
    max_concurrency: record.maxConcurrency,
    requests_per_second: record.requestsPerSecond,
    burst: record.burst,
    min_delay_ms: record.minDelayMs,
    crawl_delay_ms: record.crawlDelayMs,
    paused: record.paused,
    held_until: record.holdUntil > now ? new Date(record.holdUntil).toISOString() : null,
    learned_strategy: learnedView(record, now),
    breaker: {
      state: breakerPhase(breaker, now),
      failures: breaker.failures,
      reopens_at: breaker.openUntil === null ? null : new Date(breaker.openUntil).toISOString(),
    },
  };
}

function learnedView({ learned }: SiteRecord, now: number): SiteView["learned_strategy"] {
  if (learned === null || Date.parse(learned.expires_at) <= now) return null;
  const { strategy, reason, scope, pages, expires_at } = learned;
  return { strategy, reason, scope, pages: pages.length, expires_at };
}

/** `host` or `host:port`, as the queue names its sites. */
export function siteName(text: string): string {
  const url = URL.parse(`http://${text}`);
  if (url === null || url.pathname !== "/" || url.search !== "" || url.username !== "" || /[/?#@]/.test(text)) {
    throw new OrbError(
      "input_invalid",
      `${text} is not a site: expected a host name, with its port unless that is 80 or 443`,
    );
  }
  return siteOf(url);
}

const PAGE = 1000;

export async function listSites({ store, clock }: OrchestratorDeps): Promise<SiteView[]> {
  const all: SiteRecord[] = [];
  for (let page: SiteRecord[] | null = null; page === null || page.length === PAGE; all.push(...page))
    page = await store.sites(
      { limit: PAGE, ...(page === null ? {} : { after: page.at(-1)?.site ?? "" }) },
      clock.now(),
    );
  return all.map((record) => toView(record, clock.now()));
}

export async function showSite({ store, clock }: OrchestratorDeps, name: string): Promise<SiteView> {
  const record = await store.site(siteName(name));
  if (record === null)
    throw new OrbError("not_found", `no site named ${name} is known`, { hint: "orb sites list shows what there is." });
  return toView(record, clock.now());
}

/** Changes what is given, on running work too; null goes back to the configured default. */
export async function changeSite(deps: OrchestratorDeps, name: string, change: Partial<SiteLimits>): Promise<SiteView> {
  const record = await deps.store.setSite(siteName(name), change);
  await deps.wake(null);
  return toView(record, deps.clock.now());
}

/** Forgets what the site was found to need: its next page is probed again. */
export async function forgetLearned(deps: OrchestratorDeps, name: string): Promise<SiteView> {
  return toView(await deps.store.forgetLearned(siteName(name)), deps.clock.now());
}

/** Forgets the failures of a site and lets it be tried at once. */
export async function resetSite(deps: OrchestratorDeps, name: string): Promise<SiteView> {
  await deps.store.resetBreaker(siteName(name));
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
