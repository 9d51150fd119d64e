import type { Clock } from "../../base/clock.ts";
import type { ProcessIdentity } from "../../base/machine.ts";
import type { EngineHolder } from "../../store/records/engine-records.ts";
import type { Store } from "../../store/ports/port.ts";

export interface LeaderOptions {
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
 * Nothing that is under way ends with the lead, and whatever is done twice because two believed to lead is refused by the
 * store: so it may change hands sooner than lanes do.
 */
const LONGEST_MS = 15_000;
const LOOK_MS = 2000;

/** Which of all processes does what is to be done once. Its lease is one of its own. */
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

  /** By our own clock nobody else can lead yet: one that was frozen knows it before it has looked. */
  holds(): boolean {
    return this.#leads && this.#age() < this.#ttlMs;
  }

  /** Takes the lead when nobody has it, and keeps it; notices when it is somebody else's. */
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

  /** From now on others may lead: told first, so that no two do at once. */
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
