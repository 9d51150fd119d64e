import { sleep, type Timer } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { retryWhileUnavailable } from "../../events/follow.ts";
import type { RecentErrorRecord } from "../../store/ports/live-port.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { RunReadDeps } from "../runs/read.ts";
import { type SiteDeps, type SiteProgress, siteProgress } from "../sites/site-view.ts";
import { toWorkerView } from "../workers/workers.ts";
import { noWorkersReason } from "../workers/worker-availability.ts";
import { without } from "../../base/without.ts";
import { ActiveRuns } from "./active-runs.ts";
import { Counted, type SiteSeries, type WorkSeries } from "./counted.ts";
import { type Overview, type Resources, toOverview } from "./overview.ts";
import { STEP_MS } from "./series.ts";
import { troubledSites } from "./troubled-sites.ts";

interface LiveDeps extends SiteDeps, RunReadDeps {
  log: Log;
  /** Resources of the process and its disks. */
  resources: () => Promise<Resources>;
}

const LIVE_PARTS = ["overview", "runs", "sites", "workers"] as const;
type LivePart = (typeof LIVE_PARTS)[number];

/** A part of the overview, serialised once for all viewers. */
export interface LiveNews {
  event: LivePart;
  json: string;
}

interface Look {
  number: number;
  overview: Overview;
  /** For viewers that have not seen the previous snapshot. */
  all: Record<LivePart, string>;
  /** For viewers that have; null: unchanged. */
  changed: Record<LivePart, string | null>;
}

interface Looking {
  look: Promise<Look>;
  /** Null while the snapshot is taken: viewers wait for it. */
  endedAt: number | null;
  restMs: number;
}

const LOOK_MS = 1000;
const LONGEST_REST_MS = 3000;
/** Snapshots take at most this share of the time. */
const SHARE = 0.01;
/** Expensive parts that change little are refreshed less often. */
const SELDOM_MS = 5000;
const MOST_RUNS = 20;
const MOST_SITES = 50;
const MOST_WORKERS = 1000;
const MOST_FAILURES = 20;
const HOUR_MS = 3_600_000;
/** Timers may be a little early. */
const LATE_MS = 50;

/**
 * Takes snapshots of all work for the viewers: once a second, however many there are, and never without viewers. Only
 * the counts for the charts of the last hour are always taken, every ten seconds.
 */
export class LiveWatch {
  readonly #deps: LiveDeps;
  readonly #counted = new Counted();
  readonly #runs = new ActiveRuns();
  readonly #sent = { runs: new Map<string, string>(), sites: new Map<string, string>() };
  #texts: Record<"overview" | "workers", string> = { overview: "", workers: "" };
  #last: Looking | null = null;
  #number = 0;
  #seldom: { at: number; oldestQueued: number | null; errors: RecentErrorRecord[] } | null = null;
  #timer: Timer | null = null;

  constructor(deps: LiveDeps) {
    this.#deps = deps;
  }

  /** Starts sampling for the charts. */
  start(): void {
    const { clock, log } = this.#deps;
    const next = STEP_MS - (clock.now() % STEP_MS) + LATE_MS;
    this.#timer = clock.after(next, () => {
      this.#counted
        .tick(this.#deps)
        .catch((error: unknown) => log.debug("cannot sample the counts", { error: messageOf(error) }))
        .finally(() => this.#timer !== null && this.start());
    });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** A snapshot at most a second old, with the series of the last hour. */
  async overview(): Promise<Overview & { series: WorkSeries }> {
    const { overview } = await this.#look().look;
    return { ...overview, series: this.#counted.read(this.#deps.clock.now()) };
  }

  siteSeries(site?: string): Map<string, SiteSeries> {
    return this.#counted.readSites(this.#deps.clock.now(), site);
  }

  /** First a full snapshot, then changes. */
  async *follow(signal: AbortSignal): AsyncGenerator<LiveNews> {
    const { clock } = this.#deps;
    let seen = -1;
    while (!signal.aborted) {
      const found = await retryWhileUnavailable(clock, signal, async () => {
        const looking = this.#look();
        return { looking, look: await looking.look };
      });
      if (found === null) return;
      const { looking, look } = found;
      if (look.number !== seen)
        for (const event of LIVE_PARTS) {
          const json = look.number === seen + 1 ? look.changed[event] : look.all[event];
          if (json !== null) yield { event, json };
        }
      seen = look.number;
      await sleep(clock, Math.max(0, (looking.endedAt ?? 0) + looking.restMs - clock.monotonic()), signal);
    }
  }

  #look(): Looking {
    const { clock } = this.#deps;
    const last = this.#last;
    const begun = clock.monotonic();
    if (last !== null && (last.endedAt === null || begun - last.endedAt < last.restMs)) return last;
    const looking: Looking = {
      look: this.#see().finally(() => {
        looking.endedAt = clock.monotonic();
        looking.restMs = Math.min(LONGEST_REST_MS, Math.max(LOOK_MS, (looking.endedAt - begun) / SHARE));
      }),
      endedAt: null,
      restMs: LOOK_MS,
    };
    // Waiting viewers get the failure; there may be none left.
    looking.look.catch(() => {});
    return (this.#last = looking);
  }

  async #see(): Promise<Look> {
    const deps = this.#deps;
    const { store, clock } = deps;
    const now = clock.now();
    const totals = await store.siteTotals(now);
    this.#counted.note(clock.monotonic(), totals);
    const noWorkers = await noWorkersReason(deps);
    const workers = await store.workers({ live: true, limit: MOST_WORKERS });
    const busy = await store.busySites(MOST_SITES);
    const active = await store.activeRuns(MOST_RUNS);
    const { runs, ended } = await this.#runs.look(deps, { runs: active, ended: await this.#ended(active) }, noWorkers);
    const sites = await siteProgress(deps, busy);
    const overview = toOverview({
      pace: this.#counted.pace,
      recent: this.#counted.recent(now),
      totals,
      runs: await store.countActiveRuns(),
      activeRuns: runs,
      troubled: await troubledSites(deps, busy, now),
      ...(await this.#seldomSeen(now)),
      workers,
      noWorkers,
      resources: await deps.resources(),
    });
    const brief = workers.map((worker) => without(toWorkerView(store, worker), "active"));
    const gone = await this.#gone(sites);
    const all = {
      overview: JSON.stringify(overview),
      runs: JSON.stringify({ runs }),
      sites: JSON.stringify({ sites }),
      workers: JSON.stringify({ workers: brief }),
    };
    const before = this.#texts;
    this.#texts = all;
    this.#number += 1;
    return {
      number: this.#number,
      overview,
      all,
      changed: {
        overview: all.overview === before.overview ? null : all.overview,
        runs: changedOf("runs", this.#sent.runs, runs, ({ id }) => id, ended),
        sites: changedOf("sites", this.#sent.sites, sites, ({ site }) => site, gone),
        workers: all.workers === before.workers ? null : all.workers,
      },
    };
  }

  async #seldomSeen(now: number): Promise<{ oldestQueued: number | null; errors: RecentErrorRecord[] }> {
    const { store, clock } = this.#deps;
    const at = clock.monotonic();
    if (this.#seldom === null || at - this.#seldom.at >= SELDOM_MS)
      this.#seldom = {
        at,
        oldestQueued: await store.oldestQueued(),
        errors: await store.recentErrors(now - HOUR_MS, MOST_FAILURES),
      };
    return this.#seldom;
  }

  /** Runs that left the list: their final state is sent once. */
  async #ended(active: readonly RunRecord[]): Promise<RunRecord[]> {
    const shown = new Set(active.map(({ id }) => id));
    const missing = [...this.#sent.runs.keys()].filter((id) => !shown.has(id));
    const found = await Promise.all(missing.map((id) => this.#deps.store.run(id)));
    return found.filter((run) => run !== null);
  }

  async #gone(sites: readonly SiteProgress[]): Promise<SiteProgress[]> {
    const shown = new Set(sites.map(({ site }) => site));
    const missing = [...this.#sent.sites.keys()].filter((site) => !shown.has(site));
    const found = await Promise.all(missing.map((site) => this.#deps.store.site(site)));
    return siteProgress(
      this.#deps,
      found.filter((site) => site !== null),
    );
  }
}

/** Rows that changed since they were last sent; rows that left the list are sent once more, in their final state. */
function changedOf<T>(
  part: "runs" | "sites",
  sent: Map<string, string>,
  list: readonly T[],
  nameOf: (row: T) => string,
  gone: readonly T[],
): string | null {
  const before = new Map(sent);
  sent.clear();
  for (const row of list) sent.set(nameOf(row), JSON.stringify(row));
  const changed = list.filter((row) => before.get(nameOf(row)) !== sent.get(nameOf(row)));
  if (changed.length + gone.length === 0) return null;
  return JSON.stringify({ [part]: [...changed, ...gone] });
}
