/** Store methods for sites. */
import type { HeldRun, SiteFilter, SiteLimits, SiteRecord, SiteRetry, SiteTotals } from "../records/site-records.ts";

export interface SiteStore {
  site(site: string): Promise<SiteRecord | null>;
  sites(filter: SiteFilter, now: number): Promise<SiteRecord[]>;
  /**
   * Changes the given fields. Server limits change for all sites of the group. Changing the group moves the site's work
   * into the group's lane: owners lose their running tasks of the site, which costs those no attempt. `version`: throws
   * `version_conflict` unless it is the site's, see `siteVersion`.
   */
  setSite(site: string, change: Partial<SiteLimits>, version?: string): Promise<SiteRecord>;
  resetBreaker(site: string): Promise<void>;
  /** Forgets the learned strategy. */
  forgetLearned(site: string): Promise<SiteRecord>;
  /** Totals over all sites: reads one short row for each. */
  siteTotals(now: number): Promise<SiteTotals>;
  /** Sites with open work, most running tasks first. */
  busySites(limit: number): Promise<SiteRecord[]>;
  /** One of the runs with open work at a site, if none of them may work now; null: some may, or there is none. */
  runHeldAt(site: string): Promise<HeldRun | null>;
  /** The next retry among a site's failed tasks; null: none. */
  nextTry(site: string): Promise<SiteRetry | null>;
}
