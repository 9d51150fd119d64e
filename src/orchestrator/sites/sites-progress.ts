import { sleep } from "../../base/clock.ts";
import { mergeHealth, NO_HEALTH, summaryOf } from "../../domain/site/site-health.ts";
import { rounded, type SiteDeps, type SiteProgress, siteProgress, type SiteWork, workOf } from "./site-view.ts";

/** Progress of all sites. */
export interface SitesProgress {
  totals: SiteWork & {
    sites: number;
    active_sites: number;
    waiting_sites: number;
    paused_sites: number;
    blocked_sites: number;
    /** Successful pages in the last one or two minutes, at sites with open work. */
    pages_per_second: number;
    /** Share of failures among outcomes of the last ten minutes; null: nothing ended. */
    error_rate: number | null;
  };
  /** Sites with open work, busiest first, at most `MOST_SHOWN`. */
  sites: SiteProgress[];
}

const MOST_SHOWN = 50;
/** Rates are summed over this many sites; few installations work on more at once. */
const MOST_SUMMED = 200;

export async function sitesProgress(deps: SiteDeps): Promise<SitesProgress> {
  const { store, clock, siteDefaults } = deps;
  const now = clock.now();
  const { counts, sites, byState } = await store.siteTotals(now);
  const busy = await store.busySites(MOST_SUMMED);
  const health = busy.reduce((sum, site) => mergeHealth(sum, site.health ?? NO_HEALTH), NO_HEALTH);
  const perSecond = busy.reduce((sum, site) => sum + summaryOf(site.health, now).perSecond, 0);
  const idle = busy.reduce((sum, site) => sum + site.counts.running - workOf(site, siteDefaults, now).running, 0);
  const { errorRate } = summaryOf(health, now);
  return {
    totals: {
      queued: counts.pending + counts.queued + idle,
      running: counts.running - idle,
      retrying: counts.retrying,
      completed: counts.completed,
      failed: counts.failed,
      sites,
      active_sites: byState.active,
      waiting_sites: byState.waiting,
      paused_sites: byState.paused,
      blocked_sites: byState.blocked,
      pages_per_second: rounded(perSecond, 1),
      error_rate: errorRate === null ? null : rounded(errorRate, 3),
    },
    sites: await siteProgress(deps, busy.slice(0, MOST_SHOWN)),
  };
}

const LOOK_MS = 1000;

interface Look {
  /** Null while the snapshot is taken: viewers wait for it. */
  endedAt: number | null;
  seen: Promise<{ progress: SitesProgress; text: string }>;
}

/** Takes snapshots of all sites for the viewers: once a second, however many there are, and never without viewers. */
export class SitesWatch {
  readonly #deps: SiteDeps;
  #last: Look | null = null;

  constructor(deps: SiteDeps) {
    this.#deps = deps;
  }

  /** The current snapshot, at most a second old, then one per second when it has changed. */
  async *follow(signal: AbortSignal): AsyncGenerator<SitesProgress> {
    const { clock } = this.#deps;
    let last = "";
    while (!signal.aborted) {
      const look = this.#look();
      const { progress, text } = await look.seen;
      if (text !== last) yield progress;
      last = text;
      await sleep(clock, Math.max(0, (look.endedAt ?? 0) + LOOK_MS - clock.monotonic()), signal);
    }
  }

  #look(): Look {
    const { clock } = this.#deps;
    const last = this.#last;
    if (last !== null && (last.endedAt === null || clock.monotonic() - last.endedAt < LOOK_MS)) return last;
    const look: Look = { endedAt: null, seen: this.#see().finally(() => (look.endedAt = clock.monotonic())) };
    return (this.#last = look);
  }

  async #see(): Promise<{ progress: SitesProgress; text: string }> {
    const progress = await sitesProgress(this.#deps);
    return { progress, text: JSON.stringify(progress) };
  }
}
