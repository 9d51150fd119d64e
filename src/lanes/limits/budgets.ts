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
/** So many tasks a process begins with each unit before it has looked whether others want it. */
const MOST_IN_ROW = 2;
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
      // A wish that nobody has any more would keep the next unit from others until it ends by itself.
      const { held, used, wished, borrowing, waiting } = budget;
      if (wished && held + used === 0 && !borrowing && !waiting.isAwaited) void this.#giveBack(budget);
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
    // What is left for others is free again when they do not come for it.
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
    return configuredLimit(this.#deps.caps, resolver);
  }

  async #learn(resolver: string, waiter: Signal): Promise<void> {
    try {
      const cap = await this.#cap(resolver);
      if (!this.#budgets.has(resolver)) {
        const budget = newBudget(resolver, cap, this.#deps.clock);
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
      if (budget.held === 0) budget.inRow = 0;
      const before = budget.held;
      budget.held = await this.#deps.store.borrow(budget.key, this.#owner, wanted, cap);
      budget.wished = budget.held === 0;
      this.#lookAtShareLater(budget);
      // Those that the look for others keeps back would only ask for the same again.
      const isKept = budget.looking && budget.held <= before;
      if (budget.used < budget.held && !isKept) this.#wake(budget);
      // Others have all of it: ask again after a while.
      else this.#askAgainLater(budget);
      budget.unsure = false;
    } catch (error) {
      this.#deps.log.warn("a budget could not be borrowed; it is tried again", { error: messageOf(error) });
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
    budget.wished = budget.held === 0 && budget.waiting.isAwaited;
    await this.#return(budget, 1, budget.wished);
    budget.borrowing = false;
    this.#wake(budget);
  }

  /** Of a small cap every task could be the one that others wait for. */
  async #lookForOthers(budget: Budget): Promise<void> {
    const { store, log, clock } = this.#deps;
    const { cap, key } = budget;
    if (store.capabilities.singleEngine || cap === null || cap > SCARCE || budget.looking) return;
    budget.looking = true;
    try {
      for (;;) {
        budget.contended = (await store.borrowers(key)) > cap;
        if (budget.contended || clock.monotonic() >= budget.expectedUntil) break;
        await sleep(clock, ASK_SCARCE_AGAIN_MS);
      }
    } catch (error) {
      log.debug("how many processes want a budget could not be asked", { error: messageOf(error) });
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
      // Who waits wants some nevertheless, and others are to see it.
      if (budget.borrowing || (budget.wished && budget.waiting.isAwaited)) this.#giveBackLater(budget);
      else void this.#giveBack(budget);
    });
  }

  async #giveBack(budget: Budget): Promise<void> {
    const { held, wished } = budget;
    [budget.held, budget.wished] = [0, false];
    if (held > 0 || wished) await this.#return(budget, held);
    this.#forget(budget);
  }

  async #return(budget: Budget, units: number, wantsAgain = false): Promise<void> {
    try {
      await this.#deps.store.giveBack(budget.key, this.#owner, units, wantsAgain);
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

  readonly #wake = ({ waiting }: Budget): void => waiting.wake();

  #failed(error: unknown, waiter: Signal): void {
    this.#deps.log.warn("a budget could not be borrowed; it is tried again", { error: messageOf(error) });
    this.#deps.clock.after(1000, () => waiter.raise());
  }
}
