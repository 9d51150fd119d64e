import type { Clock, Timer } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Signal } from "../base/signal.ts";
import { resolverKey } from "../domain/lane.ts";
import type { Store } from "../store/port.ts";

interface Budget {
  resolver: string;
  key: string;
  /** Units this process has borrowed from the store. */
  held: number;
  used: number;
  /** The newest cap, fewer than are held when it was lowered; null: none. */
  cap: number | null;
  /** No more than this while other processes want some. */
  share: number;
  /** Others have all of it, and know that we want some. */
  wished: boolean;
  borrowing: boolean;
  /** An answer of the store was lost: what is held is not known until it is asked. */
  unsure: boolean;
  /** Until it is looked at how many processes want some. */
  shareTimer: Timer | null;
  idleTimer: Timer | null;
  /** Until it is looked at whether others still want what was left for them. */
  leftTimer: Timer | null;
  waiting: Set<Signal>;
  /** What each lane uses of it. */
  shares: Map<Signal, number>;
  /** Lanes that asked in vain, and when they last did. */
  wanted: Map<Signal, number>;
}

const IDLE_MS = 1000;
const ASK_AGAIN_MS = 200;
/** What is held is asked so long after an answer was lost. */
const UNSURE_MS = 1000;
/** How often it is looked whether other processes want some. */
const SHARE_LOOK_MS = 2000;
/** The part of a cap that may be borrowed at once by whoever has none in use yet. */
const UNMISSED = 1 / 32;
/** A lane that has not asked for this long does not want any more. */
const WANTED_MS = 1000;

/**
 * Limits that cross lanes. Units are borrowed from the store, so that the cap holds over all machines; what is not
 * used goes back. A task without a cap on its resolver needs no unit.
 */
export class Budgets {
  readonly #deps: { store: Store; clock: Clock; log: Log; caps: Readonly<Record<string, number>> };
  /** Those in use, and for a moment longer: every crawl has a resolver of its own. */
  readonly #budgets = new Map<string, Budget>();
  #owner = "";
  #refreshed: { controls: number; done: Promise<void> } | null = null;

  constructor(deps: { store: Store; clock: Clock; log: Log; caps: Readonly<Record<string, number>> }) {
    this.#deps = deps;
  }

  /** A new term of the engine starts with nothing borrowed; a unit in use keeps its place until it is released. */
  setOwner(owner: string): void {
    if (owner === this.#owner) return;
    this.#owner = owner;
    // It counts its changes anew.
    this.#refreshed = null;
    for (const budget of this.#budgets.values()) [budget.held, budget.wished, budget.unsure] = [0, false, false];
  }

  /** Takes a unit, or promises to raise `waiter` when it is worth asking again. */
  take(resolver: string, waiter: Signal): boolean {
    const budget = this.#budgets.get(resolver);
    if (budget === undefined) {
      void this.#learn(resolver, waiter);
      return false;
    }
    // Without a cap nothing is borrowed, but what is at work is counted: a cap may be set any moment.
    const most = budget.cap === null ? Number.POSITIVE_INFINITY : Math.min(budget.held, budget.cap, budget.share);
    if (budget.used < most && this.#isFair(budget, waiter, most)) {
      budget.used += 1;
      budget.shares.set(waiter, (budget.shares.get(waiter) ?? 0) + 1);
      budget.wanted.delete(waiter);
      budget.idleTimer?.cancel();
      budget.idleTimer = null;
      return true;
    }
    // What is left for others is free again when they do not come for it.
    if (budget.used < most) this.#wakeLater(budget);
    budget.waiting.add(waiter);
    budget.wanted.set(waiter, this.#deps.clock.monotonic());
    if (budget.cap !== null && budget.held < Math.min(budget.cap, budget.share) && !budget.borrowing)
      void this.#borrow(budget, budget.cap);
    return false;
  }

  /** A site that takes its time would have all of it in the end: while others want some, no lane has more than its share. */
  #isFair({ shares, wanted }: Budget, lane: Signal, most: number): boolean {
    const since = this.#deps.clock.monotonic() - WANTED_MS;
    for (const [other, at] of wanted) if (at < since) wanted.delete(other);
    const rivals = wanted.size - (wanted.has(lane) ? 1 : 0);
    if (rivals === 0) return true;
    const parties = new Set([lane, ...shares.keys(), ...wanted.keys()]).size;
    return (shares.get(lane) ?? 0) < Math.max(1, Math.floor(most / parties));
  }

  release(resolver: string, lane: Signal): void {
    const budget = this.#budgets.get(resolver);
    if (budget === undefined) return;
    budget.used -= 1;
    const share = (budget.shares.get(lane) ?? 0) - 1;
    if (share > 0) budget.shares.set(lane, share);
    else {
      budget.shares.delete(lane);
      // What its page has led to is on its way: a site that hangs would have the last place of all others before that.
      budget.wanted.set(lane, this.#deps.clock.monotonic());
    }
    void this.#giveSurplusBack(budget);
    this.#wake(budget);
    if (budget.used === 0 && budget.waiting.size === 0) this.#giveBackLater(budget);
  }

  /** Caps may have changed. All lanes of the process hear of it; the first of them asks for all. */
  refresh(controls: number): Promise<void> {
    if (this.#refreshed?.controls !== controls) {
      const done = this.#refreshAll();
      this.#refreshed = { controls, done };
      // What failed has not been seen: the next lane asks again.
      done.catch(() => {
        if (this.#refreshed?.done === done) this.#refreshed = null;
      });
    }
    return this.#refreshed.done;
  }

  async #refreshAll(): Promise<void> {
    for (const budget of [...this.#budgets.values()]) {
      // One that is not in use is forgotten: its cap is asked for when it is wanted again.
      if (this.#forget(budget)) continue;
      // A cap that was lowered lets what runs finish.
      budget.cap = await this.#cap(budget.resolver);
      this.#wake(budget);
    }
  }

  async #cap(resolver: string): Promise<number | null> {
    const stored = await this.#deps.store.budgetCap(resolverKey(resolver));
    if (stored !== null) return stored;
    // Resolvers have the names users give them, `constructor` among them.
    return Object.hasOwn(this.#deps.caps, resolver) ? (this.#deps.caps[resolver] ?? null) : null;
  }

  async #learn(resolver: string, waiter: Signal): Promise<void> {
    try {
      const cap = await this.#cap(resolver);
      if (!this.#budgets.has(resolver)) {
        const budget: Budget = {
          resolver,
          key: resolverKey(resolver),
          held: 0,
          used: 0,
          cap,
          share: Number.POSITIVE_INFINITY,
          wished: false,
          borrowing: false,
          unsure: false,
          shareTimer: null,
          idleTimer: null,
          leftTimer: null,
          waiting: new Set(),
          shares: new Map(),
          wanted: new Map(),
        };
        this.#budgets.set(resolver, budget);
        // Whoever asked may not come back for it.
        this.#giveBackLater(budget);
      }
      waiter.raise();
    } catch (error) {
      this.#failed(error, waiter);
    }
  }

  async #borrow(budget: Budget, cap: number): Promise<void> {
    budget.borrowing = true;
    try {
      const { singleEngine } = this.#deps.store.capabilities;
      const most = Math.min(cap, budget.share) - budget.held;
      // Other processes may want some, too: no more than twice of what is in use, one for each who waits, or so little
      // of a large cap that nobody misses it.
      const few = Math.max(1, budget.used, budget.waiting.size, Math.floor(cap * UNMISSED));
      const wanted = singleEngine ? most : Math.min(most, few);
      budget.held = await this.#deps.store.borrow(budget.key, this.#owner, wanted, cap);
      budget.wished = budget.held === 0;
      this.#lookAtShareLater(budget);
      if (budget.used < budget.held) this.#wake(budget);
      // Others have all of it: ask again after a while.
      else this.#askAgainLater(budget);
      budget.unsure = false;
    } catch (error) {
      for (const waiter of budget.waiting) this.#failed(error, waiter);
      this.#makeSureLater(budget);
    } finally {
      budget.borrowing = false;
    }
  }

  #askAgainLater(budget: Budget): void {
    this.#deps.clock.after(ASK_AGAIN_MS, () => {
      this.#wake(budget);
      this.#giveBackLater(budget);
    });
  }

  /** Whoever came first has all of it: while other processes want some, no process keeps more than its share. */
  #lookAtShareLater(budget: Budget): void {
    if (this.#deps.store.capabilities.singleEngine || budget.held === 0) return;
    budget.shareTimer ??= this.#deps.clock.after(SHARE_LOOK_MS, () => {
      budget.shareTimer = null;
      void this.#lookAtShare(budget);
    });
  }

  async #lookAtShare(budget: Budget): Promise<void> {
    const { store, log } = this.#deps;
    try {
      const parties = await store.borrowers(budget.key);
      const before = budget.share;
      budget.share = parties > 1 && budget.cap !== null ? Math.ceil(budget.cap / parties) : Number.POSITIVE_INFINITY;
      await this.#giveSurplusBack(budget);
      if (budget.share > before) this.#wake(budget);
    } catch (error) {
      log.debug("how many processes want a budget could not be asked", { error: messageOf(error) });
    }
    this.#lookAtShareLater(budget);
  }

  async #giveSurplusBack(budget: Budget): Promise<void> {
    const surplus = budget.held - Math.max(budget.used, budget.share);
    if (surplus <= 0 || budget.borrowing) return;
    budget.held -= surplus;
    await this.#return(budget, surplus);
  }

  /** The next task of the resolver is often on its way: only what stays unused goes back. */
  #giveBackLater(budget: Budget): void {
    if (budget.idleTimer !== null) return;
    budget.idleTimer = this.#deps.clock.after(IDLE_MS, () => {
      budget.idleTimer = null;
      // Who waits wants some nevertheless, and others are to see it.
      if (budget.used === 0 && !(budget.wished && budget.waiting.size > 0)) void this.#giveBack(budget);
    });
  }

  async #giveBack(budget: Budget): Promise<void> {
    const units = budget.held;
    budget.held = 0;
    if (units > 0 || budget.wished) await this.#return(budget, units);
    budget.wished = false;
    this.#forget(budget);
  }

  async #return(budget: Budget, units: number): Promise<void> {
    try {
      await this.#deps.store.giveBack(budget.key, this.#owner, units);
    } catch (error) {
      this.#deps.log.debug("borrowed units may not have been given back; it is looked", { error: messageOf(error) });
      this.#makeSureLater(budget);
    }
  }

  /** What is borrowed and nobody here knows of would be lost to all others for as long as this process lives. */
  #makeSureLater(budget: Budget): void {
    if (budget.unsure) return;
    budget.unsure = true;
    this.#lookAtLoanLater(budget);
  }

  #lookAtLoanLater(budget: Budget): void {
    this.#deps.clock.after(UNSURE_MS, () => void this.#makeSure(budget));
  }

  async #makeSure(budget: Budget): Promise<void> {
    if (!budget.unsure) return;
    if (budget.borrowing) return this.#lookAtLoanLater(budget);
    budget.borrowing = true;
    try {
      budget.held = await this.#deps.store.borrow(budget.key, this.#owner, 0, budget.cap ?? 0);
      budget.unsure = false;
      this.#wake(budget);
      if (budget.used === 0) this.#giveBackLater(budget);
    } catch {
      this.#lookAtLoanLater(budget);
    } finally {
      budget.borrowing = false;
    }
  }

  /** True when it was not in use, nor waited for. */
  #forget({ resolver, held, used, borrowing, waiting, unsure }: Budget): boolean {
    if (held > 0 || used > 0 || borrowing || unsure || waiting.size > 0) return false;
    this.#budgets.delete(resolver);
    return true;
  }

  #wakeLater(budget: Budget): void {
    budget.leftTimer ??= this.#deps.clock.after(WANTED_MS + 1, () => {
      budget.leftTimer = null;
      this.#wake(budget);
    });
  }

  #wake(budget: Budget): void {
    const waiting = [...budget.waiting];
    budget.waiting.clear();
    for (const waiter of waiting) waiter.raise();
  }

  #failed(error: unknown, waiter: Signal): void {
    this.#deps.log.warn("a budget could not be borrowed; it is tried again", { error: messageOf(error) });
    this.#deps.clock.after(1000, () => waiter.raise());
  }
}
