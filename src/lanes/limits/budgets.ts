import { type Clock, sleep } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Signal } from "../../base/signal.ts";
import { configuredLimit, resolverKey } from "../../domain/lane/lane.ts";
import type { Store } from "../../store/ports/port.ts";
import { type Budget, expectOther, newBudget } from "./budget.ts";

const IDLE_MS = 1000;
const ASK_AGAIN_MS = 200;
/** Of a cap up to this, processes may have to take turns. */
const SCARCE = 16;
/** Where they do, a unit that comes back is not to lie idle for long. */
const ASK_SCARCE_AGAIN_MS = 50;
/** A process begins at most this many tasks with each unit before it checks whether others want it. */
const MOST_IN_ROW = 2;
/** Delay before `held` is read again after a lost answer. */
const UNSURE_MS = 1000;
/** How often it is checked whether other processes want units. */
const SHARE_LOOK_MS = 2000;
/** The part of a cap that a process without units in use may borrow at once. */
const UNMISSED = 1 / 32;
/** A lane that has not asked for this long does not want any more. */
const WANTED_MS = 1000;

/**
 * Concurrency limits shared by several lanes. Units are borrowed from the store, so that the cap holds across machines;
 * unused units go back. A task without a cap on its resolver needs no unit.
 */
export class Budgets {
  readonly #deps: { store: Store; clock: Clock; log: Log; caps: Readonly<Record<string, number>> };
  /** Budgets in use, and for a moment longer: every crawl has its own resolver. */
  readonly #budgets = new Map<string, Budget>();
  /** The budgets in whose line each lane may be. */
  readonly #waitedFor = new WeakMap<Signal, Set<Budget>>();
  #owner = "";
  #refreshed: { controls: number; done: Promise<void> } | null = null;

  constructor(deps: { store: Store; clock: Clock; log: Log; caps: Readonly<Record<string, number>> }) {
    this.#deps = deps;
  }

  /** A new term of the engine starts with nothing borrowed; a unit in use keeps its place until it is released. */
  setOwner(owner: string): void {
    if (owner === this.#owner) return;
    this.#owner = owner;
    // The new owner counts its changes from zero.
    this.#refreshed = null;
    for (const budget of this.#budgets.values()) [budget.held, budget.requested, budget.unsure] = [0, false, false];
  }

  /** Takes a unit, or promises to raise `waiter` when it is worth asking again. */
  take(resolver: string, waiter: Signal): boolean {
    const budget = this.#budgets.get(resolver);
    if (budget === undefined) {
      void this.#learn(resolver, waiter);
      return false;
    }
    // Without a cap nothing is borrowed, but running tasks are counted: a cap may be set at any moment.
    if (this.#room(budget, waiter) < 1) {
      this.#wait(budget, waiter);
      return false;
    }
    budget.used += 1;
    budget.inRow += 1;
    budget.shares.set(waiter, (budget.shares.get(waiter) ?? 0) + 1);
    budget.wanted.delete(waiter);
    budget.waiting.leave(waiter);
    budget.idleTimer?.cancel();
    budget.idleTimer = null;
    return true;
  }

  /** How many tasks of the resolver a lane may claim; infinite where nothing limits it, none while that is not known. */
  claimable(resolver: string, lane: Signal): number {
    const budget = this.#budgets.get(resolver);
    return budget === undefined ? 0 : this.#room(budget, lane);
  }

  /**
   * Of so small a limit it is seen that two are in progress where one may be: the next task begins when the end of this one
   * is in the store.
   */
  isSmall(resolver: string): boolean {
    const cap = this.#budgets.get(resolver)?.cap ?? null;
    return cap !== null && cap < SCARCE;
  }

  /** The lane has tasks of the resolver that it may not claim: `lane` is raised when it is worth asking again. */
  wait(resolver: string, lane: Signal): void {
    const budget = this.#budgets.get(resolver);
    if (budget === undefined) void this.#learn(resolver, lane);
    else this.#wait(budget, lane);
  }

  /** The lane could not use a unit now if it got one: the next in line is not to wait for it. */
  leaveLine(lane: Signal, movesOn = false): void {
    const budgets = this.#waitedFor.get(lane);
    if (budgets === undefined) return;
    this.#waitedFor.delete(lane);
    for (const budget of budgets) {
      if (!budget.waiting.leave(lane)) continue;
      if (movesOn) expectOther(budget, this.#deps.clock);
      this.#giveNext(budget);
      // An abandoned request would block the next unit for others until it expires.
      const { held, used, requested, borrowing, waiting } = budget;
      if (requested && held + used === 0 && !borrowing && !waiting.isAwaited) void this.#giveBack(budget);
    }
  }

  /** How many more the lane may begin. */
  #room(budget: Budget, lane: Signal): number {
    const { cap, held, share, used, shares, waiting } = budget;
    if (cap === null) return Number.POSITIVE_INFINITY;
    if (budget.looking && budget.inRow >= MOST_IN_ROW * cap) return 0;
    const most = Math.min(held, cap, share);
    const entitled = (other: Signal) => this.#fairShare(budget, other, most) - (shares.get(other) ?? 0);
    const free = most - used - waiting.ahead(lane, (other) => entitled(other) > 0);
    return Math.max(0, Math.min(free, entitled(lane)));
  }

  #wait(budget: Budget, lane: Signal): void {
    const { cap, held, share, used } = budget;
    // Units left for others are free again if nobody takes them.
    if (used < Math.min(held, cap ?? held, share)) this.#wakeLater(budget);
    budget.waiting.join(lane);
    const budgets = this.#waitedFor.get(lane);
    if (budgets === undefined) this.#waitedFor.set(lane, new Set([budget]));
    else budgets.add(budget);
    budget.wanted.set(lane, this.#deps.clock.monotonic());
    if (cap !== null && held < Math.min(cap, share) && !budget.borrowing) void this.#borrow(budget, cap);
  }

  /** A site that takes its time would have all of it in the end: while others want some, no lane has more than its share. */
  #fairShare({ shares, wanted }: Budget, lane: Signal, most: number): number {
    const since = this.#deps.clock.monotonic() - WANTED_MS;
    for (const [other, at] of wanted) if (at < since) wanted.delete(other);
    const rivals = wanted.size - (wanted.has(lane) ? 1 : 0);
    if (rivals === 0) return most;
    const parties = new Set([lane, ...shares.keys(), ...wanted.keys()]).size;
    return Math.max(1, Math.floor(most / parties));
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
    if (this.#isOthersTurn(budget)) void this.#passOn(budget);
    else {
      void this.#giveSurplusBack(budget);
      void this.#lookForOthers(budget);
      this.#wake(budget);
    }
    // Lanes that wait may not come for it: their sites may have to wait by now.
    if (budget.used === 0) this.#giveBackLater(budget);
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
      // Unused budgets are dropped: the cap is read again when it is needed.
      if (this.#forget(budget)) continue;
      // A cap that was lowered lets what runs finish.
      budget.cap = await this.#cap(budget.resolver);
      this.#wake(budget);
    }
  }

  async #cap(resolver: string): Promise<number | null> {
    const stored = await this.#deps.store.budgetCap(resolverKey(resolver));
    if (stored !== null) return stored;
    return configuredLimit(this.#deps.caps, resolver);
  }

  async #learn(resolver: string, waiter: Signal): Promise<void> {
    try {
      const cap = await this.#cap(resolver);
      if (!this.#budgets.has(resolver)) {
        const budget = newBudget(resolver, cap, this.#deps.clock);
        this.#budgets.set(resolver, budget);
        // The caller may never use it.
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
      // Other processes may want units as well: borrow at most twice the units in use, one per waiting lane, or an
      // insignificant part of a large cap.
      const few = Math.max(1, budget.used, budget.waiting.size, Math.floor(cap * UNMISSED));
      const wanted = singleEngine ? most : Math.min(most, few);
      if (budget.held === 0) budget.inRow = 0;
      const before = budget.held;
      budget.held = await this.#deps.store.acquirePermits(budget.key, this.#owner, wanted, cap);
      budget.requested = budget.held === 0;
      this.#lookAtShareLater(budget);
      // Those that the look for others keeps back would only ask for the same again.
      const isKept = budget.looking && budget.held <= before;
      if (budget.used < budget.held && !isKept) this.#wake(budget);
      // Others have all of it: ask again after a while.
      else this.#askAgainLater(budget);
      budget.unsure = false;
    } catch (error) {
      this.#deps.log.warn("cannot borrow units of a shared limit; retrying", { error: messageOf(error) });
      this.#deps.clock.after(1000, () => this.#wake(budget));
      this.#makeSureLater(budget);
    } finally {
      budget.borrowing = false;
    }
  }

  #askAgainLater(budget: Budget): void {
    const scarce = budget.cap !== null && budget.cap <= SCARCE;
    this.#deps.clock.after(scarce ? ASK_SCARCE_AGAIN_MS : ASK_AGAIN_MS, () => {
      this.#wake(budget);
      this.#giveBackLater(budget);
    });
  }

  /** The first process may have borrowed everything: while others want units, no process keeps more than its share. */
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
      const parties = await store.permitContenders(budget.key);
      const before = budget.share;
      budget.share = parties > 1 && budget.cap !== null ? Math.ceil(budget.cap / parties) : Number.POSITIVE_INFINITY;
      await this.#giveSurplusBack(budget);
      if (budget.share > before) this.#wake(budget);
    } catch (error) {
      log.debug("cannot read the borrowers of a shared limit", { error: messageOf(error) });
    }
    this.#lookAtShareLater(budget);
  }

  /** Others are known to want the free unit, and this process has had its row, or no lane of it waits. */
  #isOthersTurn({ contended, borrowing, held, used, inRow, waiting }: Budget): boolean {
    if (!contended || borrowing || held <= used) return false;
    return inRow >= MOST_IN_ROW * held || !waiting.isAwaited;
  }

  /** There are fewer units than processes that want one: this one goes to the process that has waited longest. */
  async #passOn(budget: Budget): Promise<void> {
    // Nothing is borrowed before the unit is back: the answer would count it as ours.
    budget.borrowing = true;
    budget.held -= 1;
    budget.inRow = 0;
    // Returning the unit and asking again is one transaction: otherwise the next process sees nobody waiting and keeps it.
    budget.requested = budget.held === 0 && budget.waiting.isAwaited;
    await this.#return(budget, 1, budget.requested);
    budget.borrowing = false;
    this.#wake(budget);
  }

  /** With a small cap, every unit may be the one that another process waits for. */
  async #lookForOthers(budget: Budget): Promise<void> {
    const { store, log, clock } = this.#deps;
    const { cap, key } = budget;
    if (store.capabilities.singleEngine || cap === null || cap > SCARCE || budget.looking) return;
    budget.looking = true;
    try {
      for (;;) {
        budget.contended = (await store.permitContenders(key)) > cap;
        if (budget.contended || clock.monotonic() >= budget.expectedUntil) break;
        await sleep(clock, ASK_SCARCE_AGAIN_MS);
      }
    } catch (error) {
      log.debug("cannot read the borrowers of a shared limit", { error: messageOf(error) });
    }
    budget.looking = false;
    if (!budget.contended) budget.inRow = Math.min(budget.inRow, budget.used);
    // The row may have ended before the answer came.
    this.#giveNext(budget);
  }

  /** A free unit goes to another process or to the next lane in line. */
  #giveNext(budget: Budget): void {
    if (this.#isOthersTurn(budget)) void this.#passOn(budget);
    else this.#wake(budget);
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
      if (budget.used > 0) return;
      // Waiting lanes keep the request alive, so that other processes see it.
      if (budget.borrowing || (budget.requested && budget.waiting.isAwaited)) this.#giveBackLater(budget);
      else void this.#giveBack(budget);
    });
  }

  async #giveBack(budget: Budget): Promise<void> {
    const { held, requested } = budget;
    [budget.held, budget.requested] = [0, false];
    if (held > 0 || requested) await this.#return(budget, held);
    this.#forget(budget);
  }

  async #return(budget: Budget, units: number, wantsAgain = false): Promise<void> {
    try {
      await this.#deps.store.releasePermits(budget.key, this.#owner, units, wantsAgain);
    } catch (error) {
      this.#deps.log.debug("units of a shared limit may not have been returned; checking", { error: messageOf(error) });
      this.#makeSureLater(budget);
    }
  }

  /** Units that are borrowed but unknown here would be lost to all others for as long as this process lives. */
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
      budget.held = await this.#deps.store.acquirePermits(budget.key, this.#owner, 0, budget.cap ?? 0);
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

  readonly #wake = ({ waiting }: Budget): void => waiting.wake();

  #failed(error: unknown, waiter: Signal): void {
    this.#deps.log.warn("cannot borrow units of a shared limit; retrying", { error: messageOf(error) });
    this.#deps.clock.after(1000, () => waiter.raise());
  }
}
