import type { Clock } from "../../base/clock.ts";
import type { ProcessIdentity } from "../../base/machine.ts";
import type { EngineHolder } from "../../store/records/engine-records.ts";
import type { Store } from "../../store/ports/port.ts";

interface LeaderOptions {
  store: Store;
  clock: Clock;
  identity: ProcessIdentity;
  /** Lease of lanes. */
  leaseTtlMs: number;
  /** Whether the leading process may be alive. */
  mayBeAlive(holder: EngineHolder): boolean;
  onLead(leads: boolean): void;
}

/**
 * Losing leadership stops no task, and the store refuses duplicates if two processes believe to lead: its lease may be
 * shorter than that of lanes.
 */
const MAX_TTL_MS = 15_000;
const CHECK_MS = 2000;

/** Leader election among all processes, with a lease of its own. */
export class Leader {
  readonly #options: LeaderOptions;
  readonly #ttlMs: number;
  /** When the last successful request for leadership was sent. */
  #renewed = Number.NEGATIVE_INFINITY;
  #leads = false;

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#ttlMs = Math.min(MAX_TTL_MS, options.leaseTtlMs);
  }

  get checkMs(): number {
    return Math.min(CHECK_MS, this.#ttlMs / 4);
  }

  /** By our own clock no other process can lead yet: a process that was frozen knows before it has asked. */
  holds(): boolean {
    return this.#leads && this.#age() < this.#ttlMs;
  }

  /** Takes leadership when it is free, renews it, and notices when another process has it. */
  async check(owner: string): Promise<void> {
    try {
      const holder = await this.#options.store.engineHolder();
      if (holder?.id === owner) {
        if (this.#age() >= this.#ttlMs / 4) await this.#take(owner);
        return;
      }
      this.#set(false);
      const dead = holder !== null && !this.#options.mayBeAlive(holder);
      if (holder === null || holder.remainingMs < 0 || dead) await this.#take(owner, dead ? holder.id : undefined);
    } finally {
      if (!this.holds()) this.#set(false);
    }
  }

  /** Others may lead from now on. Reported first, so that no two processes lead at once. */
  lost(): void {
    this.#set(false);
  }

  async release(owner: string): Promise<void> {
    this.#set(false);
    await this.#options.store.releaseEngine(owner);
  }

  async #take(owner: string, evict?: string): Promise<void> {
    const { store, clock, identity } = this.#options;
    const asked = clock.monotonic();
    const { taken } = await store.takeEngine({ ...identity, id: owner, address: "" }, this.#ttlMs, evict);
    if (taken) this.#renewed = asked;
    this.#set(taken);
  }

  #age(): number {
    return this.#options.clock.monotonic() - this.#renewed;
  }

  #set(leads: boolean): void {
    if (this.#leads === leads) return;
    this.#leads = leads;
    this.#options.onLead(leads);
  }
}
