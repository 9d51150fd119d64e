import type { Clock } from "../../base/clock.ts";
import type { Failure } from "../../domain/run/failure.ts";
import { HealthMeter, mergeHealth, NO_HEALTH, outcomeOf, type SiteHealth } from "../../domain/site/site-health.ts";
import type { Waiting } from "../../domain/run/waiting.ts";
import type { LaneGrant, Store } from "../../store/ports/port.ts";
import type { Gate } from "../limits/pace.ts";
import type { RateLimitWaits } from "../limits/rate-limit-waits.ts";
import type { Window } from "./window.ts";

/** Reports of an owner about the sites of its lane. */
export interface LaneNote {
  health?: { site: string; health: SiteHealth }[];
  /** What the lane waits for; null: it no longer waits. */
  waiting?: Waiting | null;
}

/** Shorter waits are not reported. */
const MIN_REPORTED_WAIT_MS = 250;
/** Wall clock and monotonic clock differ by milliseconds about the end of a wait. */
const SAME_WAIT_MS = 5;
/** Minimum interval between two reports, except at the end of the owner's turn. */
const REPORT_MS = 1000;

interface NotesDeps {
  clock: Clock;
  store: Pick<Store, "site">;
  waits: RateLimitWaits;
}

/** Collects the health of a lane's sites and what their tasks wait for, and reports it periodically. */
export class SiteNotes {
  readonly #deps: NotesDeps;
  readonly #meters = new Map<string, HealthMeter>();
  /** Sites with counts that have not been reported. */
  readonly #unreported = new Set<string>();
  /** Sites whose earlier counts are being read. */
  readonly #loading = new Set<string>();
  #waiting: Waiting | null = null;
  #reported: Waiting | null;
  /** Pages that wait for their share of the browser's memory. */
  #waitingForMemory = 0;
  /** The shared limit that blocks all tasks of the lane, and since when. */
  #blockedKey: { key: string; since: number } | null = null;
  #reportedAt = Number.NEGATIVE_INFINITY;
  /** End of the last counted wait; monotonic clock. */
  #countedUntil = Number.NEGATIVE_INFINITY;

  constructor(deps: NotesDeps, { site }: Pick<LaneGrant, "site">) {
    this.#deps = deps;
    this.#reported = site?.waiting ?? null;
    if (site !== null) this.#meters.set(site.site, new HealthMeter(site.health));
  }

  /** A request to a site has ended; `about` is the failure, null for a good answer, undefined when it says nothing. */
  ended(site: string, about: Failure | null | undefined, answeredMs: number | null): void {
    if (about === undefined) return;
    let meter = this.#meters.get(site);
    if (meter === undefined) {
      meter = new HealthMeter();
      this.#meters.set(site, meter);
      void this.#loadCounts(site, meter);
    }
    meter.add(outcomeOf(about), answeredMs, this.#deps.clock.now());
    if (!this.#loading.has(site)) this.#unreported.add(site);
  }

  /** How many pages the site has answered in the last minutes. */
  answered(site: string): number {
    return this.#meters.get(site)?.goodOfLate(this.#deps.clock.now()) ?? 0;
  }

  /** Another site of the group: its stored counts are merged with those that come in while they are read. */
  async #loadCounts(site: string, meter: HealthMeter): Promise<void> {
    const { clock, store } = this.#deps;
    this.#loading.add(site);
    const before = (await store.site(site).catch(() => null))?.health ?? NO_HEALTH;
    this.#meters.set(site, new HealthMeter(mergeHealth(before, meter.read(clock.now()))));
    this.#loading.delete(site);
    this.#unreported.add(site);
  }

  /** What the next task of the lane waits for; `running`: the number of tasks in flight. */
  see(gate: Gate, window: Pick<Window, "size" | "isDry" | "blockedBy">, running: number): void {
    const hasWork = window.size > 0 || !window.isDry;
    this.#trackKey(gate.kind === "go" && running === 0 ? window.blockedBy : null);
    const waiting = hasWork ? waitingAt(gate, this.#deps.clock.now(), running) : null;
    if (hasWork && gate.kind === "wait" && gate.ms !== null) this.#count(gate.why, gate.ms);
    const forMemory = this.#waitingForMemory > 0 ? waitingForMemory(running - this.#waitingForMemory) : null;
    this.#waiting = waiting ?? forMemory ?? (this.#keyWaitDueMs() === 0 ? waitingForKey(this.#blockedKey!.key) : null);
  }

  /** A shared limit is often full for a moment: only longer waits are reported. */
  #trackKey(key: string | null): void {
    if (key === null) this.#blockedKey = null;
    else if (this.#blockedKey?.key !== key) this.#blockedKey = { key, since: this.#deps.clock.monotonic() };
  }

  /** Milliseconds until the lane counts as waiting for the shared limit; null: it does not wait for it. */
  #keyWaitDueMs(): number | null {
    if (this.#blockedKey === null) return null;
    return Math.max(0, this.#blockedKey.since + MIN_REPORTED_WAIT_MS - this.#deps.clock.monotonic());
  }

  /** Counts a wait once, however often it is seen. */
  #count(why: string, ms: number): void {
    const until = this.#deps.clock.monotonic() + ms;
    if (until <= this.#countedUntil + SAME_WAIT_MS) return;
    this.#countedUntil = until;
    this.#deps.waits.add(why, ms);
  }

  waitsForMemory(waits: boolean): void {
    this.#waitingForMemory += waits ? 1 : -1;
  }

  /** Milliseconds until the next report; null: there is none. */
  dueMs(): number | null {
    // A wait that is already known needs no further report; 0: report now.
    if (this.#unreported.size === 0 && !this.#hasChanged()) return this.#waiting === null ? this.#keyWaitDueMs() : null;
    return Math.max(0, this.#reportedAt + REPORT_MS - this.#deps.clock.monotonic());
  }

  take(): LaneNote {
    const now = this.#deps.clock.now();
    const health = [...this.#unreported].map((site) => ({ site, health: this.#meters.get(site)!.read(now) }));
    this.#unreported.clear();
    const hasChanged = this.#hasChanged();
    this.#reported = this.#waiting;
    this.#reportedAt = this.#deps.clock.monotonic();
    return {
      ...(health.length === 0 ? {} : { health }),
      ...(hasChanged ? { waiting: this.#waiting } : {}),
    };
  }

  #hasChanged(): boolean {
    const [before, now] = [this.#reported, this.#waiting];
    if (before === null || now === null) return before !== now;
    if (before.reason !== now.reason || before.key !== now.key || before.begun !== now.begun) return true;
    return Math.abs((before.until ?? 0) - (now.until ?? 0)) >= MIN_REPORTED_WAIT_MS;
  }
}

/**
 * Only waits with an end are reported: the others are visible in the store. `begun` is the number of running tasks;
 * other claimed tasks have not started.
 */
function waitingAt(gate: Gate, now: number, begun: number): Waiting | null {
  if (gate.kind === "give_up") return { reason: "circuit_open", until: now + gate.ms, begun };
  if (gate.kind === "go") return null;
  if (gate.ms === null) return gate.why === "probing" ? { reason: "probing", until: null, begun } : null;
  if (gate.ms <= MIN_REPORTED_WAIT_MS) return null;
  return { reason: gate.why, until: now + gate.ms, begun };
}

/** Pages that wait for the browser's memory have started here, but are not in progress. */
function waitingForMemory(begun: number): Waiting {
  return { reason: "memory", until: null, begun: Math.max(0, begun) };
}

function waitingForKey(key: string): Waiting {
  return { reason: "concurrency_key", until: null, key, begun: 0 };
}
