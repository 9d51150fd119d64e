import type { Clock } from "../base/clock.ts";
import type { Failure } from "../domain/failure.ts";
import { HealthMeter, mergeHealth, NO_HEALTH, outcomeOf, type SiteHealth } from "../domain/site-health.ts";
import type { Waiting } from "../domain/waiting.ts";
import type { LaneGrant, Store } from "../store/port.ts";
import type { Gate } from "./pace.ts";

/** What an owner has to tell about the sites of its lane. */
export interface LaneNote {
  health?: { site: string; health: SiteHealth }[];
  /** What the lane waits for from now on; null: it goes on. */
  waiting?: Waiting | null;
}

/** A shorter wait is none that anybody would ask about. */
const LEAST_WAIT_MS = 250;
/** Nothing is told more often than this, but at the end of an owner's time. */
const EVERY_MS = 1000;

interface NotesDeps {
  clock: Clock;
  store: Pick<Store, "site">;
}

/**
 * What is to be known of a lane's sites by whoever looks at them: how they do, and what their work waits for. It is kept
 * here, where it happens, and told now and then.
 */
export class SiteNotes {
  readonly #deps: NotesDeps;
  readonly #meters = new Map<string, HealthMeter>();
  /** Sites of which something was counted that has not been told. */
  readonly #untold = new Set<string>();
  /** Sites of which it is asked what was counted before. */
  readonly #asking = new Set<string>();
  #waiting: Waiting | null = null;
  #told: Waiting | null;
  /** Pages that wait for their share of the browser's memory. */
  #forMemory = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(deps: NotesDeps, { site }: Pick<LaneGrant, "site">) {
    this.#deps = deps;
    this.#told = site?.waiting ?? null;
    if (site !== null) this.#meters.set(site.site, new HealthMeter(site.health));
  }

  /** A request to a site has ended; `about` is the failure, null for a good answer, undefined when it says nothing. */
  ended(site: string, about: Failure | null | undefined, answeredMs: number | null): void {
    if (about === undefined) return;
    let meter = this.#meters.get(site);
    if (meter === undefined) {
      meter = new HealthMeter();
      this.#meters.set(site, meter);
      void this.#goOn(site, meter);
    }
    meter.add(outcomeOf(about), answeredMs, this.#deps.clock.now());
    if (!this.#asking.has(site)) this.#untold.add(site);
  }

  /** How many pages the site has answered in the last minutes. */
  answered(site: string): number {
    return this.#meters.get(site)?.goodOfLate(this.#deps.clock.now()) ?? 0;
  }

  /** Another site of the group: what was counted of it before is put together with what comes in meanwhile. */
  async #goOn(site: string, meter: HealthMeter): Promise<void> {
    const { clock, store } = this.#deps;
    this.#asking.add(site);
    const before = (await store.site(site).catch(() => null))?.health ?? NO_HEALTH;
    this.#meters.set(site, new HealthMeter(mergeHealth(before, meter.read(clock.now()))));
    this.#asking.delete(site);
    this.#untold.add(site);
  }

  /** What the next task of the lane has to wait for. */
  see(gate: Gate, hasWork: boolean): void {
    const waiting = hasWork ? waitingAt(gate, this.#deps.clock.now()) : null;
    this.#waiting = waiting ?? (this.#forMemory > 0 ? { reason: "memory", until: null } : null);
  }

  waitsForMemory(waits: boolean): void {
    this.#forMemory += waits ? 1 : -1;
  }

  /** In how many milliseconds there is something to tell; null: there is nothing. */
  dueMs(): number | null {
    if (this.#untold.size === 0 && !this.#isNews()) return null;
    return Math.max(0, this.#toldAt + EVERY_MS - this.#deps.clock.monotonic());
  }

  take(): LaneNote {
    const now = this.#deps.clock.now();
    const health = [...this.#untold].map((site) => ({ site, health: this.#meters.get(site)!.read(now) }));
    this.#untold.clear();
    const isNews = this.#isNews();
    this.#told = this.#waiting;
    this.#toldAt = this.#deps.clock.monotonic();
    return {
      ...(health.length === 0 ? {} : { health }),
      ...(isNews ? { waiting: this.#waiting } : {}),
    };
  }

  #isNews(): boolean {
    const [before, now] = [this.#told, this.#waiting];
    if (before === null || now === null) return before !== now;
    return before.reason !== now.reason || Math.abs((before.until ?? 0) - (now.until ?? 0)) >= LEAST_WAIT_MS;
  }
}

/** Only what is a matter of time has to be told: the rest can be seen in the store. */
function waitingAt(gate: Gate, now: number): Waiting | null {
  if (gate.kind === "give_up") return { reason: "circuit_open", until: now + gate.ms };
  if (gate.kind === "go" || gate.ms === null || gate.ms <= LEAST_WAIT_MS) return null;
  return { reason: gate.why, until: now + gate.ms };
}
