import type { LaneTicket, TicketEnd } from "../../engine/port.ts";
import type { ClaimedTask, LaneGrant } from "../../store/ports/port.ts";
import { type AttemptEnd, attemptTask, givenUp, notStarted } from "./attempt.ts";
import { LaneBudgets } from "../limits/lane-budgets.ts";
import type { OwnerDeps } from "./owner-deps.ts";
import { Pace } from "../limits/pace.ts";
import { ClaimBackoff } from "./claim-backoff.ts";
import { Running } from "./running.ts";
import { SiteNotes } from "./site-notes.ts";
import type { SlotSeeker } from "../limits/slots.ts";
import { Permit } from "./permit.ts";
import { taskContext } from "./task-context.ts";
import { earliest, unlessAborted } from "../limits/waits.ts";
import { PREFETCH, IDLE_RELEASE_MS, Window } from "./window.ts";

export const PATIENCE_MS = 1000;

/**
 * Works on one lane while it has tasks: claims a window, starts them within the lane's limits, and passes the outcomes to
 * the settler. One loop that wakes on every change.
 */
export class LaneOwner implements SlotSeeker {
  readonly #deps: OwnerDeps;
  readonly #ticket: LaneTicket;
  readonly #grant: LaneGrant;
  readonly pace: Pace;
  readonly #window: Window;
  readonly #notes: SiteNotes;
  readonly #running: Running;
  readonly #idleReleaseMs: number;
  #grantedSlots = 0;
  #awaitsSlot = false;
  #lost = false;
  #offersSeen = 0;
  #controlsSeen: number;
  #nextReadyAt: number | null = null;
  /**
   * The shard count of the site changes: this lane ends when its running tasks have, so that the site can be resharded.
   */
  #isResharding = false;
  /** The site was given up at the last claim: tasks of runs with a deadline wait in the store for the next probe. */
  #siteGivenUp = false;
  /** Requeued tasks that are not written yet: until then the store seems to have nothing ready. */
  #requeuing = 0;
  readonly #laneBudgets: LaneBudgets;
  readonly #backoff: ClaimBackoff;

  constructor(deps: OwnerDeps, ticket: LaneTicket, grant: LaneGrant) {
    this.#deps = deps;
    this.#ticket = ticket;
    this.#grant = grant;
    // Workflow steps send no requests to a site: no delay applies.
    const rules = grant.site === null ? { ...deps.rules, minDelayMs: 0 } : deps.rules;
    this.pace = new Pace(grant.site, rules, deps.clock, deps.paces.recall(grant), grant);
    this.#running = new Running(deps.active, grant.lane, deps.clock);
    const sharing = deps.store.capabilities.singleEngine ? "alone" : "shared";
    this.#idleReleaseMs = IDLE_RELEASE_MS[sharing];
    this.#window = new Window(deps.clock, this.pace.concurrency, PREFETCH[sharing]);
    this.#notes = new SiteNotes(deps, grant);
    this.#controlsSeen = ticket.controls();
    this.#laneBudgets = new LaneBudgets(deps.budgets, ticket.changed);
    this.#backoff = new ClaimBackoff(deps.clock);
  }

  get slotsHeld(): number {
    return this.#running.size + this.#grantedSlots;
  }

  slotGranted(): void {
    this.#grantedSlots += 1;
    this.#ticket.changed.raise();
  }

  /** Works until the lane has nothing to do. When this settles, none of its tasks runs any more. */
  async work(): Promise<TicketEnd> {
    const unsubscribe = this.#deps.backpressure.subscribe(this.#ticket.changed);
    try {
      return await this.#finish(await this.#loop());
    } catch (error) {
      await this.#abandon();
      throw error;
    } finally {
      unsubscribe();
    }
  }

  async #loop(): Promise<number | null> {
    const { clock, backpressure } = this.#deps;
    const ticket = this.#ticket;
    let waitMs: number | null = null;
    for (;;) {
      if (ticket.fence.aborted || this.#lost) break;
      this.#checkOffers();
      if (ticket.controls() !== this.#controlsSeen) await this.#checkControls();
      const ending = this.#mustEnd();
      if (ending) {
        this.#releaseSlots();
      } else {
        // Most iterations claim nothing: they start a task without awaiting.
        const limit = this.#wanted();
        if (limit > 0) await this.#claim(limit);
        waitMs = this.#startTasks();
        this.#awaitBudgets();
      }
      this.#reportNotes();
      if (ticket.hurry.aborted) this.#running.abortAll();
      if (this.#running.size === 0) {
        if (ending || this.#lost || (this.#isFinished(waitMs) && !(await this.#reopens()))) break;
        // All claimed tasks ended without being started: there may be more.
        const waits = this.#window.waitsForResolvers || this.#requeuing > 0 || this.#backoff.waitMs !== null;
        if (this.#window.size === 0 && waitMs === null && backpressure.reason === null && !waits)
          ticket.changed.raise();
      }
      const turn = this.#deps.turns.yieldNow();
      if (turn !== null) await turn;
      await ticket.changed.wait(clock, this.#nextCheckMs(ending, waitMs));
    }
    return waitMs;
  }

  /** An outside condition ends this owner's turn. */
  #mustEnd(): boolean {
    const { drain, hurry } = this.#ticket;
    if (!this.#ticket.leaseHolds() || this.#isResharding) return true;
    return drain.aborted || hurry.aborted || this.#ticket.yieldWanted() || this.#deps.backpressure.reason !== null;
  }

  /** No task is running: true if there is nothing to wait for either. */
  #isFinished(waitMs: number | null): boolean {
    if (this.#window.size === 0 && this.#window.isDry && this.#requeuing === 0 && !this.#siteGivenUp) return true;
    return waitMs !== null && waitMs > this.#idleReleaseMs;
  }

  /** Whether ended tasks bring work for this lane, such as the next entry of a list: then the lane is kept. */
  async #reopens(): Promise<boolean> {
    const { settler } = this.#deps;
    if (!settler.isWriting(this.#grant)) return false;
    await unlessAborted(settler.flush(this.#grant), this.#ticket.fence);
    return this.#ticket.offers() !== this.#offersSeen;
  }

  #nextCheckMs(ending: boolean, waitMs: number | null): number | null {
    if (ending) return null;
    // Tasks in the window may wait for a resolver that another site uses; a due retry does not.
    const retryMs =
      this.#nextReadyAt === null || !this.#window.wasEmptied
        ? null
        : Math.max(1, this.#nextReadyAt - this.#deps.clock.now());
    return earliest(earliest(waitMs, retryMs), earliest(this.#backoff.waitMs, this.#notes.dueMs()));
  }

  /** Writes health and waits of the lane's sites periodically; `all`: everything unwritten, now. */
  #reportNotes(all = false): void {
    if (this.#grant.site === null) return;
    this.#notes.see(this.pace.gate(), this.#window, this.#running.size);
    const dueMs = this.#notes.dueMs();
    if (dueMs === 0 || (all && dueMs !== null)) this.#deps.settler.note(this.#grant, this.#notes.take(), this.#onLost);
  }

  #checkOffers(): void {
    const offers = this.#ticket.offers();
    if (offers !== this.#offersSeen) {
      this.#offersSeen = offers;
      this.#window.mayHaveMore();
    }
    if (this.#nextReadyAt !== null && this.#nextReadyAt <= this.#deps.clock.now()) this.#window.mayHaveMore();
    if (this.#siteGivenUp && this.pace.gate().kind !== "give_up") {
      this.#siteGivenUp = false;
      this.#window.mayHaveMore();
    }
  }

  /** Limits, pauses or run states may have changed. */
  async #checkControls(): Promise<void> {
    const { store, budgets, settler, backpressure } = this.#deps;
    const seen = this.#ticket.controls();
    // A run may have been paused or ended: unstarted tasks are requeued, and the next claim decides again.
    for (const task of this.#window.takeAll()) this.#settle({ settled: notStarted(task), aboutSite: undefined });
    // Flushed first, so that a reset of the breaker in the store is not mistaken for old state. While the disk is full this
    // does not resolve: an owner that loses the lane must not wait for it.
    await unlessAborted(settler.flush(this.#grant), this.#ticket.fence);
    if (this.#ticket.fence.aborted) return;
    try {
      await budgets.refresh(seen);
      const site = this.#grant.site === null ? null : await store.site(this.#grant.site.site);
      // The site has joined or left a group: its tasks are in another lane now.
      if (site !== null && site.lane !== this.#grant.site?.lane) return this.#onLost();
      if (site !== null && site.shardCount !== site.targetShardCount) this.#isResharding = true;
      if (site !== null) this.pace.refresh(site, { settling: settler.isWriting(this.#grant) });
      // Fetches of cancelled runs end now.
      await this.#running.abortUnwanted(store);
    } catch (error) {
      if (!backpressure.report(error)) throw error;
      return;
    }
    this.#controlsSeen = seen;
    this.#window.mayHaveMore();
    this.#window.setConcurrency(this.pace.concurrency);
  }

  /** How many tasks to claim now: none while the window is well filled or nothing may start soon. */
  #wanted(): number {
    const gate = this.pace.gate();
    // A lane that cannot start anything must not keep permits from others.
    if (gate.kind === "go") this.#window.seekRoom(this.#laneBudgets);
    else this.#laneBudgets.leaveLine();
    if (this.#backoff.isEarly()) return 0;
    const limit = this.#window.wanted(this.pace.soon);
    if (limit === 0) return 0;
    // Tasks that cannot start soon stay in the store, where others can see and change them.
    if (gate.kind === "wait" && gate.ms === null && gate.why === "paused") return 0;
    return gate.kind === "wait" && gate.ms !== null && gate.ms > PATIENCE_MS ? 0 : limit;
  }

  async #claim(limit: number): Promise<void> {
    const { store, clock, backpressure, settler } = this.#deps;
    const free = this.pace.gate().kind === "go" ? this.pace.free : 0;
    const rules = this.#window.claimRules(this.#laneBudgets, free);
    const endPromise = this.#laneBudgets.promise(rules.resolverRoom);
    try {
      // The store's answer does not include a retry that is not written yet.
      const unwritten = settler.isWriting(this.#grant) ? this.#nextReadyAt : null;
      const withoutDeadline = this.pace.gate().kind === "give_up";
      const options = { limit, soon: this.pace.concurrency, ...rules, withoutDeadline };
      const claim = await store.claim(this.#grant, options, clock.now());
      if (claim === null) return void (this.#lost = true);
      if (claim.opened !== undefined) this.#deps.onOpened(claim.opened);
      this.#nextReadyAt = earliest(claim.nextReadyAt, unwritten);
      // What others have locked says nothing about how much there is.
      if (this.#backoff.report(claim.busy === true)) return;
      this.#window.add(claim.tasks, claim.more, claim.limited);
      this.#siteGivenUp = withoutDeadline;
    } catch (error) {
      if (!backpressure.report(error)) throw error;
    } finally {
      endPromise();
    }
  }

  /** Starts the tasks that may start; returns the wait until the next may, null when it does not depend on time. */
  #startTasks(): number | null {
    const { slots } = this.#deps;
    this.#awaitsSlot = false;
    this.#window.unblock();
    while (this.#window.size > 0 && this.#ticket.leaseHolds()) {
      // The site may have been paused while tasks were claimed.
      if (this.#ticket.controls() !== this.#controlsSeen) break;
      const gate = this.pace.gate();
      if (gate.kind === "give_up") {
        this.#giveUp();
        break;
      }
      if (gate.kind === "wait") {
        this.#releaseSlots();
        return gate.why === "paused" ? Number.POSITIVE_INFINITY : gate.ms;
      }
      // First the slot, then the budget: no permit is acquired for a task that cannot start.
      if (this.#grantedSlots === 0) {
        if (!slots.take(this, Math.min(this.pace.free, this.#window.size))) {
          this.#laneBudgets.leaveLine();
          this.#awaitsSlot = true;
          return null;
        }
        this.#grantedSlots += 1;
      }
      // A probe prefers fresh tasks: a page that is broken itself says nothing about its site.
      const task = this.#window.take(this.#laneBudgets.take, { fresh: this.pace.isProbing });
      if (task === null) break;
      this.#grantedSlots -= 1;
      this.#start(task);
    }
    this.#releaseSlots();
    const gate = this.pace.gate();
    // Nothing was claimed because the site is on hold: the ticket ends until then.
    if (this.#window.size === 0 && gate.kind === "wait")
      return gate.why === "paused" ? Number.POSITIVE_INFINITY : gate.ms;
    return gate.kind === "give_up" && this.#siteGivenUp && this.#window.isDry ? gate.ms : null;
  }

  /** Waits for budgets without free permits; claimed tasks stay claimed. */
  #awaitBudgets(): void {
    if (this.#awaitsSlot || this.pace.gate().kind !== "go") return;
    if (this.#window.awaitRoom(this.#laneBudgets)) this.#ticket.changed.raise();
  }

  /** Tasks of runs with a deadline wait for the next probe; others would wait forever and fail now. */
  #giveUp(): void {
    for (const task of this.#window.takeAll()) {
      const settled = task.hasDeadline ? notStarted(task) : givenUp(this.#deps.attempt, task);
      this.#settle({ settled, aboutSite: undefined });
    }
  }

  #releaseSlots(): void {
    this.#deps.slots.leaveLine(this);
    for (; this.#grantedSlots > 0; this.#grantedSlots -= 1) this.#deps.slots.release();
  }

  #start(task: ClaimedTask): void {
    const { slots, onTask } = this.#deps;
    const signal = this.#running.start(task);
    const site = this.#grant.site === null ? null : (task.site ?? "");
    const permit = new Permit({ slots, pace: this.pace, notes: this.#notes, site, task });
    const name = task.site ?? this.#grant.lane;
    onTask?.(name, "started");
    const lane = { grant: this.#grant, pace: this.pace, notes: this.#notes, changed: this.#ticket.changed };
    const context = {
      ...taskContext(this.#deps, lane, task),
      signal,
      ...permit.handlerSignals,
      leaveSite: (answeredMs: number | null) => {
        permit.leaveSite(answeredMs);
        this.#ticket.changed.raise();
      },
    };
    void attemptTask(this.#deps.attempt, task, context).then((end) => {
      this.#running.end(task);
      const events = permit.end(end);
      onTask?.(name, "ended", end.settled);
      this.#settle(end, events);
      this.#laneBudgets.release(task.resolver, () => this.#written());
      this.#ticket.changed.raise();
    });
  }

  /** All outcomes are in the store, or this lane has another owner. */
  #written(): Promise<unknown> {
    return unlessAborted(this.#deps.settler.flush(this.#grant), this.#ticket.fence);
  }

  readonly #onLost = (): void => {
    this.#lost = true;
    this.#ticket.changed.raise();
  };

  #settle(end: AttemptEnd, events?: ReturnType<Pace["end"]>): void {
    if (this.#ticket.fence.aborted || this.#lost) return;
    const { verdict } = end.settled;
    if (verdict.kind === "retry" || (verdict.kind === "handed_back" && verdict.readyAt !== undefined))
      this.#nextReadyAt = earliest(this.#nextReadyAt, verdict.readyAt ?? null);
    if (verdict.kind === "wait") this.#nextReadyAt = earliest(this.#nextReadyAt, verdict.sleep.until);
    if (verdict.kind === "rate_wait" || verdict.kind === "handed_back") this.#window.mayHaveMore();
    const site = this.#grant.site?.site;
    this.#deps.settler.add(
      this.#grant,
      {
        task: events === undefined || events.length === 0 ? end.settled : { ...end.settled, laneEvents: events },
        politeness: this.pace.takeChange(),
        ...(site === undefined ? {} : { site }),
      },
      this.#onLost,
    );
    if (verdict.kind === "rate_wait" || (verdict.kind === "handed_back" && events !== undefined)) this.#awaitRequeue();
  }

  #awaitRequeue(): void {
    this.#requeuing += 1;
    void this.#deps.settler.flush(this.#grant).then(() => {
      this.#requeuing -= 1;
      this.#window.mayHaveMore();
      this.#ticket.changed.raise();
    });
  }

  /** Requeues unstarted tasks and waits until everything is written. */
  async #finish(waitMs: number | null): Promise<TicketEnd> {
    const { settler, clock, backpressure } = this.#deps;
    this.#releaseSlots();
    this.#laneBudgets.leaveLine({ movesOn: this.#ticket.movesOn() });
    this.#deps.paces.remember(this.#grant, this.pace.memory());
    this.#reportNotes(true);
    const left = this.#window.takeAll();
    for (const task of left) this.#settle({ settled: notStarted(task), aboutSite: undefined });
    if (!this.#ticket.fence.aborted && !this.#lost) await unlessAborted(settler.flush(this.#grant), this.#ticket.fence);
    if (this.#ticket.fence.aborted || this.#lost) {
      await this.#abandon();
      return { more: false, wakeAt: clock.now() + PATIENCE_MS, refused: true };
    }
    const held = waitMs !== null && waitMs > this.#idleReleaseMs;
    const nextStartAt = held && Number.isFinite(waitMs) ? clock.now() + waitMs : null;
    // While the site is given up, a due retry of a run without a deadline fails.
    const wake = nextStartAt === null || this.#siteGivenUp ? earliest(nextStartAt, this.#nextReadyAt) : nextStartAt;
    const more = this.#isResharding || (!held && (left.length > 0 || !this.#window.isDry || this.#siteGivenUp));
    if (backpressure.reason !== null || !this.#ticket.leaseHolds())
      return { more: false, wakeAt: clock.now() + PATIENCE_MS };
    return { more, wakeAt: more ? null : wake };
  }

  /** Aborts running tasks and writes nothing: the next owner of the lane takes them back. */
  async #abandon(): Promise<void> {
    this.#lost = true;
    this.#releaseSlots();
    this.#laneBudgets.leaveLine();
    this.#running.abortAll();
    // Until they end they count towards the site's limit, and the next owner does not know of them.
    while (this.#running.size > 0 && !this.#ticket.fence.aborted)
      await this.#ticket.changed.wait(this.#deps.clock, null);
  }
}
