import { type Clock, sleep } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Signal } from "../../base/signal.ts";
import { configuredLimit, resolverKey } from "../../domain/lane/lane.ts";
import type { Store } from "../../store/ports/port.ts";
import { type Budget, expectOther, fairShare, newBudget, promisePermits } from "./budget.ts";

const IDLE_RELEASE_MS = 1000;
const RETRY_MS = 200;
/** With a cap up to this, processes may have to take turns. */
const SCARCE_CAP = 16;
/** With a scarce cap, a released permit must not stay idle for long. */
const SCARCE_RETRY_MS = 50;
/** A process starts at most this many tasks per permit before it checks whether others want the permit. */
const MAX_STARTS_PER_PERMIT = 2;
/** Delay before `held` is read again after a lost reply. */
const RECHECK_HELD_MS = 1000;
/** How often a process checks whether others want permits. */
const SHARE_CHECK_MS = 2000;
/** The part of a cap that a process without permits in use may acquire at once. */
const INSIGNIFICANT_SHARE = 1 / 32;
/** A lane that has not asked for this long wants no permit any more. */
const REQUEST_TTL_MS = 1000;

/**
 * Concurrency limits shared by several lanes. Permits are acquired from the store, so that the cap holds across machines;
 * unused permits are released. A task whose resolver has no cap needs no permit.
 */
export class Budgets {
  readonly #deps: { store: Store; clock: Clock; log: Log; caps: Readonly<Record<string, number>> };
  /** Budgets in use or used recently; every crawl has its own resolver. */
  readonly #budgets = new Map<string, Budget>();
  /** The budgets that each lane may be waiting for. */
  readonly #waitingBudgets = new WeakMap<Signal, Set<Budget>>();
  #owner = "";
  #refreshed: { controls: number; done: Promise<void> } | null = null;

  constructor(deps: { store: Store; clock: Clock; log: Log; caps: Readonly<Record<string, number>> }) {
    this.#deps = deps;
  }

  /** A new term of the engine starts without permits; one in use still counts until its task ends. */
  setOwner(owner: string): void {
    if (owner === this.#owner) return;
    this.#owner = owner;
    // The new owner counts control changes from zero.
    this.#refreshed = null;
    for (const budget of this.#budgets.values())
      [budget.held, budget.requested, budget.heldUnknown] = [0, false, false];
  }

  /** Takes a permit; false: `waiter` is raised when it is worth asking again. */
  take(resolver: string, waiter: Signal): boolean {
    const budget = this.#budgets.get(resolver);
    if (budget === undefined) {
      void this.#loadCap(resolver, waiter);
      return false;
    }
    // Without a cap no permit is acquired, but running tasks are counted: a cap may be set at any moment.
    if (this.#available(budget, waiter) < 1) {
      this.#enqueue(budget, waiter);
      return false;
    }
    budget.used += 1;
    budget.startedInTurn += 1;
    budget.usedByLane.set(waiter, (budget.usedByLane.get(waiter) ?? 0) + 1);
    budget.requestedAt.delete(waiter);
    budget.waiting.leave(waiter);
    budget.idleTimer?.cancel();
    budget.idleTimer = null;
    return true;
  }

  /** Promises permits to tasks that a lane claims now; the returned function ends the promise. */
  promise(rooms: Readonly<Record<string, number | null>>): () => void {
    return promisePermits(this.#budgets, rooms);
  }

  /** How many tasks of the resolver a lane may claim; infinite without a cap, 0 while the cap is unknown. */
  claimable(resolver: string, lane: Signal): number {
    const budget = this.#budgets.get(resolver);
    return budget === undefined ? 0 : this.#available(budget, lane);
  }

  /**
   * With a small cap, users notice two tasks in progress where one is allowed: the next task starts only when the end of
   * the previous one is in the store.
   */
  isSmall(resolver: string): boolean {
    const cap = this.#budgets.get(resolver)?.cap ?? null;
    return cap !== null && cap <= SCARCE_CAP;
  }

  /** The lane has tasks that it may not claim now: `lane` is raised when it is worth asking again. */
  wait(resolver: string, lane: Signal): void {
    const budget = this.#budgets.get(resolver);
    if (budget === undefined) void this.#loadCap(resolver, lane);
    else this.#enqueue(budget, lane);
  }

  /** The lane could not use a permit now: the next one in line gets it. */
  leaveLine(lane: Signal, movesOn = false): void {
    const budgets = this.#waitingBudgets.get(lane);
    if (budgets === undefined) return;
    this.#waitingBudgets.delete(lane);
    for (const budget of budgets) {
      if (!budget.waiting.leave(lane)) continue;
      if (movesOn) expectOther(budget, this.#deps.clock);
      this.#grantNext(budget);
      // An abandoned request would block the next unit for others until it expires.
      const { held, used, requested, acquiring, waiting } = budget;
      if (requested && held + used === 0 && !acquiring && !waiting.isAwaited) void this.#releaseAll(budget);
    }
  }

  /** How many more tasks the lane may start. */
  #available(budget: Budget, lane: Signal): number {
    const { cap, held, share, usedByLane, waiting } = budget;
    const used = budget.used + budget.promised;
    if (cap === null) return Number.POSITIVE_INFINITY;
    if (budget.checkingContention && budget.startedInTurn >= MAX_STARTS_PER_PERMIT * cap) return 0;
    const most = Math.min(held, cap, share);
    const entitled = (other: Signal) =>
      fairShare(budget, other, most, this.#deps.clock.monotonic() - REQUEST_TTL_MS) - (usedByLane.get(other) ?? 0);
    const free = most - used - waiting.ahead(lane, (other) => entitled(other) > 0);
    return Math.max(0, Math.min(free, entitled(lane)));
  }

  #enqueue(budget: Budget, lane: Signal): void {
    const { cap, held, share, used } = budget;
    // Permits left for other lanes are free again if none takes them.
    if (used < Math.min(held, cap ?? held, share)) this.#wakeLater(budget);
    budget.waiting.join(lane);
    const budgets = this.#waitingBudgets.get(lane);
    if (budgets === undefined) this.#waitingBudgets.set(lane, new Set([budget]));
    else budgets.add(budget);
    budget.requestedAt.set(lane, this.#deps.clock.monotonic());
    if (cap !== null && held < Math.min(cap, share) && !budget.acquiring) void this.#acquire(budget, cap);
  }

  release(resolver: string, lane: Signal): void {
    const budget = this.#budgets.get(resolver);
    if (budget === undefined) return;
    budget.used -= 1;
    const share = (budget.usedByLane.get(lane) ?? 0) - 1;
    if (share > 0) budget.usedByLane.set(lane, share);
    else {
      budget.usedByLane.delete(lane);
      // Links of its page are about to be added: without this, a hanging site would take the last permit before.
      budget.requestedAt.set(lane, this.#deps.clock.monotonic());
    }
    if (this.#mustYield(budget)) void this.#yieldPermit(budget);
    else {
      void this.#releaseSurplus(budget);
      void this.#checkContention(budget);
      this.#wake(budget);
    }
    // Waiting lanes may not use it: their sites may be on hold by now.
    if (budget.used === 0) this.#releaseLater(budget);
  }

  /** Caps may have changed. Every lane of the process calls this; the first call reads the caps for all. */
  refresh(controls: number): Promise<void> {
    if (this.#refreshed?.controls !== controls) {
      const done = this.#refreshAll();
      this.#refreshed = { controls, done };
      // After a failure the next lane reads them again.
      done.catch(() => {
        if (this.#refreshed?.done === done) this.#refreshed = null;
      });
    }
    return this.#refreshed.done;
  }

  async #refreshAll(): Promise<void> {
    for (const budget of [...this.#budgets.values()]) {
      // The cap of an unused budget is read again when it is needed.
      if (this.#dropIfUnused(budget)) continue;
      // Running tasks finish under a lowered cap.
      budget.cap = await this.#cap(budget.resolver);
      this.#wake(budget);
    }
  }

  async #cap(resolver: string): Promise<number | null> {
    const stored = await this.#deps.store.budgetCap(resolverKey(resolver));
    if (stored !== null) return stored;
    return configuredLimit(this.#deps.caps, resolver);
  }

  async #loadCap(resolver: string, waiter: Signal): Promise<void> {
    try {
      const cap = await this.#cap(resolver);
      if (!this.#budgets.has(resolver)) {
        const budget = newBudget(resolver, cap, this.#deps.clock);
        this.#budgets.set(resolver, budget);
        // The caller may never use it.
        this.#releaseLater(budget);
      }
      waiter.raise();
    } catch (error) {
      this.#failed(error, waiter);
    }
  }

  async #acquire(budget: Budget, cap: number): Promise<void> {
    budget.acquiring = true;
    try {
      const { singleEngine } = this.#deps.store.capabilities;
      const most = Math.min(cap, budget.share) - budget.held;
      // Other processes may want permits as well: at most double the permits in use, one per waiting lane, or an
      // insignificant share of a large cap.
      const few = Math.max(1, budget.used, budget.waiting.size, Math.floor(cap * INSIGNIFICANT_SHARE));
      const wanted = singleEngine ? most : Math.min(most, few);
      if (budget.held === 0) budget.startedInTurn = 0;
      const before = budget.held;
      budget.held = await this.#deps.store.acquirePermits(budget.key, this.#owner, wanted, cap);
      budget.requested = budget.held === 0;
      this.#checkShareLater(budget);
      // Lanes that wait for the contention check would only repeat the same request.
      const isKept = budget.checkingContention && budget.held <= before;
      if (budget.used < budget.held && !isKept) this.#wake(budget);
      // Others have all permits.
      else this.#retryLater(budget);
      budget.heldUnknown = false;
    } catch (error) {
      this.#deps.log.warn("cannot acquire permits of a shared limit; retrying", { error: messageOf(error) });
      this.#deps.clock.after(1000, () => this.#wake(budget));
      this.#markHeldUnknown(budget);
    } finally {
      budget.acquiring = false;
    }
  }

  #retryLater(budget: Budget): void {
    const scarce = budget.cap !== null && budget.cap <= SCARCE_CAP;
    this.#deps.clock.after(scarce ? SCARCE_RETRY_MS : RETRY_MS, () => {
      this.#wake(budget);
      this.#releaseLater(budget);
    });
  }

  /** The first process may hold everything: while others want permits, none keeps more than its share. */
  #checkShareLater(budget: Budget): void {
    if (this.#deps.store.capabilities.singleEngine || budget.held === 0) return;
    budget.shareTimer ??= this.#deps.clock.after(SHARE_CHECK_MS, () => {
      budget.shareTimer = null;
      void this.#checkShare(budget);
    });
  }

  async #checkShare(budget: Budget): Promise<void> {
    const { store, log } = this.#deps;
    try {
      const contenders = await store.permitContenders(budget.key);
      const { cap, share: before } = budget;
      budget.share = contenders > 1 && cap !== null ? Math.ceil(cap / contenders) : Number.POSITIVE_INFINITY;
      await this.#releaseSurplus(budget);
      if (budget.share > before) this.#wake(budget);
    } catch (error) {
      log.debug("cannot read which processes want permits of a shared limit", { error: messageOf(error) });
    }
    this.#checkShareLater(budget);
  }

  /** Another process wants the free permit, and this one has used its turn or has no waiting lane. */
  #mustYield({ contended, acquiring, held, used, promised, startedInTurn, waiting }: Budget): boolean {
    if (!contended || acquiring || held <= used + promised) return false;
    return startedInTurn >= MAX_STARTS_PER_PERMIT * held || !waiting.isAwaited;
  }

  /** More processes want permits than there are: this one goes to the process that has waited longest. */
  async #yieldPermit(budget: Budget): Promise<void> {
    // No acquisition before the permit is released: its reply would still count this one as ours.
    budget.acquiring = true;
    budget.held -= 1;
    budget.startedInTurn = 0;
    // Releasing and requesting is one transaction: otherwise the next process sees no waiter and keeps the permit.
    budget.requested = budget.held === 0 && budget.waiting.isAwaited;
    await this.#releasePermits(budget, 1, budget.requested);
    budget.acquiring = false;
    this.#wake(budget);
  }

  /** With a scarce cap, every permit may be the one that another process waits for. */
  async #checkContention(budget: Budget): Promise<void> {
    const { store, log, clock } = this.#deps;
    const { cap, key } = budget;
    if (store.capabilities.singleEngine || cap === null || cap > SCARCE_CAP || budget.checkingContention) return;
    budget.checkingContention = true;
    try {
      for (;;) {
        budget.contended = (await store.permitContenders(key)) > cap;
        if (budget.contended || clock.monotonic() >= budget.expectedUntil) break;
        await sleep(clock, SCARCE_RETRY_MS);
      }
    } catch (error) {
      log.debug("cannot read which processes want permits of a shared limit", { error: messageOf(error) });
    }
    budget.checkingContention = false;
    if (!budget.contended) budget.startedInTurn = Math.min(budget.startedInTurn, budget.used);
    // The turn may have ended before the reply arrived.
    this.#grantNext(budget);
  }

  /** A free permit goes to another process or to the next lane in line. */
  #grantNext(budget: Budget): void {
    if (this.#mustYield(budget)) void this.#yieldPermit(budget);
    else this.#wake(budget);
  }

  async #releaseSurplus(budget: Budget): Promise<void> {
    const surplus = budget.held - Math.max(budget.used + budget.promised, budget.share);
    if (surplus <= 0 || budget.acquiring) return;
    budget.held -= surplus;
    await this.#releasePermits(budget, surplus);
  }

  /** The next task of the resolver often follows at once: only permits that stay unused are released. */
  #releaseLater(budget: Budget): void {
    if (budget.idleTimer !== null) return;
    budget.idleTimer = this.#deps.clock.after(IDLE_RELEASE_MS, () => {
      budget.idleTimer = null;
      if (budget.used > 0) return;
      if (budget.promised > 0) return this.#releaseLater(budget);
      // Waiting lanes keep the request alive, so that other processes see it.
      if (budget.acquiring || (budget.requested && budget.waiting.isAwaited)) this.#releaseLater(budget);
      else void this.#releaseAll(budget);
    });
  }

  async #releaseAll(budget: Budget): Promise<void> {
    const { held, requested } = budget;
    [budget.held, budget.requested] = [0, false];
    if (held > 0 || requested) await this.#releasePermits(budget, held);
    this.#dropIfUnused(budget);
  }

  async #releasePermits(budget: Budget, permits: number, requestsAgain = false): Promise<void> {
    try {
      await this.#deps.store.releasePermits(budget.key, this.#owner, permits, requestsAgain);
    } catch (error) {
      this.#deps.log.debug("permits of a shared limit may not have been released; checking", {
        error: messageOf(error),
      });
      this.#markHeldUnknown(budget);
    }
  }

  /** A permit that the store counts as ours and we do not would be lost to all processes while this one lives. */
  #markHeldUnknown(budget: Budget): void {
    if (budget.heldUnknown) return;
    budget.heldUnknown = true;
    this.#recheckHeldLater(budget);
  }

  #recheckHeldLater(budget: Budget): void {
    this.#deps.clock.after(RECHECK_HELD_MS, () => void this.#recheckHeld(budget));
  }

  async #recheckHeld(budget: Budget): Promise<void> {
    if (!budget.heldUnknown) return;
    if (budget.acquiring) return this.#recheckHeldLater(budget);
    budget.acquiring = true;
    try {
      budget.held = await this.#deps.store.acquirePermits(budget.key, this.#owner, 0, budget.cap ?? 0);
      budget.heldUnknown = false;
      this.#wake(budget);
      if (budget.used === 0) this.#releaseLater(budget);
    } catch {
      this.#recheckHeldLater(budget);
    } finally {
      budget.acquiring = false;
    }
  }

  /** False: it is in use or waited for. */
  #dropIfUnused({ resolver, held, used, acquiring, waiting, heldUnknown }: Budget): boolean {
    if (held > 0 || used > 0 || acquiring || heldUnknown || waiting.size > 0) return false;
    this.#budgets.delete(resolver);
    return true;
  }

  #wakeLater(budget: Budget): void {
    budget.retryTimer ??= this.#deps.clock.after(REQUEST_TTL_MS + 1, () => {
      budget.retryTimer = null;
      this.#wake(budget);
    });
  }

  readonly #wake = ({ waiting }: Budget): void => waiting.wake();

  #failed(error: unknown, waiter: Signal): void {
    this.#deps.log.warn("cannot acquire permits of a shared limit; retrying", { error: messageOf(error) });
    this.#deps.clock.after(1000, () => waiter.raise());
  }
}
