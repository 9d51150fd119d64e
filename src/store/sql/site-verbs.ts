/** The verbs about sites, put together. */
import type { SiteVerbs } from "../site-port.ts";
import type { Context } from "./context.ts";
import { setSite } from "./set-site.ts";
import { readBusySites, readNextTryAt, readRunHeldAt, readSites, readSiteTotals } from "./site-lists.ts";
import { forgetLearned, readSite, resetBreaker } from "./sites.ts";

export function siteVerbs(context: Context): SiteVerbs {
  return {
    site: async (site) => readSite(context, site),
    sites: async (filter, now) => readSites(context, filter, now),
    setSite: async (site, change) => setSite(context, site, change),
    resetBreaker: async (site) => resetBreaker(context, site),
    forgetLearned: async (site) => forgetLearned(context, site),
    siteTotals: async (now) => readSiteTotals(context, now),
    busySites: async (limit) => readBusySites(context, limit),
    runHeldAt: async (site) => readRunHeldAt(context, site),
    nextTryAt: async (site) => readNextTryAt(context, site),
  };
}
