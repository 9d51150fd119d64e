import type { SiteStore } from "../../ports/site-port.ts";
import type { Context } from "../kernel/context.ts";
import { setSite } from "./set-site.ts";
import { readBusySites, readNextTry, readRunHeldAt, readSites, readSiteTotals } from "./site-lists.ts";
import { forgetLearned, readSite, resetBreaker } from "./sites.ts";

export function siteStore(context: Context): SiteStore {
  return {
    site: async (site) => readSite(context, site),
    sites: async (filter, now) => readSites(context, filter, now),
    setSite: async (site, change, version) => setSite(context, site, change, version),
    resetBreaker: async (site) => resetBreaker(context, site),
    forgetLearned: async (site) => forgetLearned(context, site),
    siteTotals: async (now) => readSiteTotals(context, now),
    busySites: async (limit) => readBusySites(context, limit),
    runHeldAt: async (site) => readRunHeldAt(context, site),
    nextTry: async (site) => readNextTry(context, site),
  };
}
