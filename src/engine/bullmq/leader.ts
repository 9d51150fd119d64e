import type { Clock } from "../../base/clock.ts";
import type { ProcessIdentity } from "../../base/machine.ts";
import type { EngineHolder } from "../../store/records/engine-records.ts";
import type { Store } from "../../store/ports/port.ts";

interface LeaderOptions {
  store: Store;
  clock: Clock;
  identity: ProcessIdentity;
  /** How long the lease of a lane lasts. */
  leaseTtlMs: number;
  /** Whether the process that leads may still live. */
  mayBeAlive(holder: EngineHolder): boolean;
  onLead(leads: boolean): void;
}

/**
 * Nothing in flight ends with leadership, and the store refuses duplicates if two believe to lead: so it may change
 * sooner than lanes do.
 */
const LONGEST_MS = 15_000;
const LOOK_MS = 2000;

/** Leader election among all processes, with a lease of its own. */
export class Leader {
  readonly #options: LeaderOptions;
  readonly #ttlMs: number;
  /** When the lead was last asked for, and got. */
  #renewed = Number.NEGATIVE_INFINITY;
  #leads = false;

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#ttlMs = Math.min(LONGEST_MS, options.leaseTtlMs);
  }

  /** How often it is to look. */
  get lookMs(): number {
    return Math.min(LOOK_MS, this.#ttlMs / 4);
  }

  /** By our own clock nobody else can lead yet: a process that was frozen knows it before it has checked. */
  holds(): boolean {
    return this.#leads && this.#age() < this.#ttlMs;
  }

  /** Takes leadership when it is free, and keeps it; notices when another process has it. */
  async look(owner: string): Promise<void> {
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

  /** From now on others may lead: reported first, so that no two lead at once. */
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
