/** Store methods for sites. */
import type { HeldRun, SiteFilter, SiteLimits, SiteRecord, SiteRetry, SiteTotals } from "../records/site-records.ts";

export interface SiteStore {
  site(site: string): Promise<SiteRecord | null>;
  /** By name. */
  sites(filter: SiteFilter, now: number): Promise<SiteRecord[]>;
  /**
   * Changes what is given. What belongs to the server changes for all sites of the group. Who changes the group takes its
   * work along into the group's lane: whoever had tasks of it in hand loses them, and they cost no attempt.
   */
  /** With a version: refused as `version_conflict` unless the site has it, see `siteVersion`. */
  setSite(site: string, change: Partial<SiteLimits>, version?: string): Promise<SiteRecord>;
  resetBreaker(site: string): Promise<void>;
  /** Forgets what the site was found to need. */
  forgetLearned(site: string): Promise<SiteRecord>;
  /** Sums over all sites: one look at a short row for each of them. */
  siteTotals(now: number): Promise<SiteTotals>;
  /** Sites with open work, those with most of it under way first. */
  busySites(limit: number): Promise<SiteRecord[]>;
  /** One of the runs with open work at a site, when none of them may work now; null: some may, or there is none. */
  runHeldAt(site: string): Promise<HeldRun | null>;
  /** When the first of a site's tasks is tried again that have failed; null: there is none. */
  nextTry(site: string): Promise<SiteRetry | null>;
}
