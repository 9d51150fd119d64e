import type { TaskCounts } from "../../domain/run/run-end.ts";
import type { SiteTotals } from "../../store/records/site-records.ts";
import type { WorkerRecord } from "../../store/ports/worker-port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { inFlightOf } from "./overview.ts";
import { type Ended, Pace } from "./pace.ts";
import { coarser, Ring, type Series, STEP_MS, stepOf } from "./series.ts";

const SERIES = ["good", "bad", "in_flight", "queued"] as const;
const SITE_SERIES = ["good", "bad"] as const;
export type WorkSeries = Series<(typeof SERIES)[number]>;
export type SiteSeries = Series<(typeof SITE_SERIES)[number]>;

/** How many of the busiest sites are sampled, and how many are remembered. */
const MOST_BUSY = 100;
const MOST_SITES = 500;
/** Window of the success rate. */
const RATE_STEPS = 30;
const MOST_WORKERS = 1000;
const STEPS_A_MINUTE = 60_000 / STEP_MS;

interface Followed {
  ring: Ring<(typeof SITE_SERIES)[number]>;
  last: Ended;
  /** The last step in which a task ended. */
  busyAt: number;
}

/** Counts over time. The store has the counts of all machines; this remembers their growth. */
export class Counted {
  readonly #ring = new Ring(SERIES);
  readonly #pace = new Pace();
  readonly #sites = new Map<string, Followed>();
  #lastTick: (Ended & { at: number }) | null = null;

  /** Called with every snapshot. */
  note(at: number, totals: SiteTotals): void {
    this.#pace.note(at, endedOf(totals.counts));
  }

  get pace(): Ended | null {
    return this.#pace.read();
  }

  /** Pages that ended in the last five minutes, as far as sampled. */
  recent(now: number): Ended {
    const { good, bad } = this.#ring.read(now);
    const sum = (list: readonly (number | null)[]) =>
      list.slice(-RATE_STEPS).reduce<number>((total, value) => total + (value ?? 0), 0) * (STEP_MS / 1000);
    return { good: sum(good), bad: sum(bad) };
  }

  read(now: number): WorkSeries {
    return this.#ring.read(now);
  }

  /** One site in ten-second steps, or all tracked sites by the minute; omits sites without samples. */
  readSites(now: number, only?: string): Map<string, SiteSeries> {
    const tracked = only === undefined ? undefined : this.#sites.get(only);
    if (only !== undefined) return new Map(tracked === undefined ? [] : [[only, tracked.ring.read(now)]]);
    return new Map(
      Array.from(this.#sites, ([name, { ring }]) => [name, coarser(ring.read(now), SITE_SERIES, STEPS_A_MINUTE)]),
    );
  }

  /** Runs at the end of each step. */
  async tick({ store, clock }: OrchestratorDeps): Promise<void> {
    const now = clock.now();
    const step = stepOf(now) - 1;
    const totals = await store.siteTotals(now);
    const workers = await store.workers({ live: true, limit: MOST_WORKERS });
    const at = clock.monotonic();
    this.note(at, totals);
    const ended = endedOf(totals.counts);
    const seconds = this.#lastTick === null ? null : (at - this.#lastTick.at) / 1000;
    // A gap without samples, as when the machine slept, belongs to no step.
    if (seconds !== null && seconds < (3 * STEP_MS) / 1000) {
      const { pending, queued, retrying, running } = totals.counts;
      const inFlight = inFlightOf(workers);
      this.#ring.put(step, {
        ...growth(this.#lastTick!, ended, seconds, workers),
        in_flight: inFlight,
        queued: pending + queued + retrying + Math.max(0, running - inFlight),
      });
    }
    this.#lastTick = { at, ...ended };
    await this.#tickSites({ store }, step, seconds);
  }

  async #tickSites({ store }: Pick<OrchestratorDeps, "store">, step: number, seconds: number | null): Promise<void> {
    const counts = await store.siteCounts({ sites: [...this.#sites.keys()], busiest: MOST_BUSY });
    for (const [name, siteCounts] of counts) {
      const ended = endedOf(siteCounts);
      const site = this.#sites.get(name);
      if (site === undefined) {
        this.#sites.set(name, { ring: new Ring(SITE_SERIES), last: ended, busyAt: step });
        continue;
      }
      if (seconds !== null) site.ring.put(step, growth(site.last, ended, seconds, []));
      if (
        siteCounts.queued + siteCounts.running + siteCounts.retrying > 0 ||
        ended.good + ended.bad !== site.last.good + site.last.bad
      )
        site.busyAt = step;
      site.last = ended;
    }
    for (const name of this.#sites.keys()) if (!counts.has(name)) this.#sites.delete(name);
    this.#forget(step);
  }

  /** Drops sites without work in the last hour, and the least busy ones above the limit. */
  #forget(step: number): void {
    const quietest = [...this.#sites].toSorted(([, a], [, b]) => b.busyAt - a.busyAt);
    for (const [index, [name, { busyAt }]] of quietest.entries())
      if (index >= MOST_SITES || step - busyAt > 3_600_000 / STEP_MS) this.#sites.delete(name);
  }
}

function endedOf({ completed, failed }: TaskCounts): Ended {
  return { good: completed, bad: failed };
}

/** Per second. Counts fall when runs are deleted or failures retried: then the workers' own figures count. */
function growth(before: Ended, now: Ended, seconds: number, workers: readonly WorkerRecord[]): Ended {
  const fell = now.good < before.good;
  const reportedRate = workers.reduce(
    (sum, { state, tasksPerSecond }) => (state === "lost" ? sum : sum + tasksPerSecond),
    0,
  );
  return {
    good: fell ? reportedRate : (now.good - before.good) / seconds,
    bad: Math.max(0, now.bad - before.bad) / seconds,
  };
}
