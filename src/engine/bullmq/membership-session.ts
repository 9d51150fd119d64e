import type { Redis } from "ioredis";
import { messageOf } from "../../base/errors.ts";
import { Signal } from "../../base/signal.ts";
import { OutageLogger } from "../../base/outage-logger.ts";
import { sleep } from "../../base/clock.ts";
import { drainWithin } from "../drain-within.ts";
import { LanesAtWork, type Turn } from "../lanes-at-work.ts";
import type { Lease } from "../lease.ts";
import { RevokeChannel } from "./channel.ts";
import { type TakenTicket, TicketConsumer } from "./consumer.ts";
import { DeadOwners } from "./dead-owners.ts";
import type { Leader } from "./leader.ts";
import { LANE_QUEUES, type QueueName, TIMES } from "./names.ts";
import type { TicketProducer } from "./ticket-producer.ts";
import type { BullmqEngineOptions } from "./options.ts";
import { Reconciler } from "./reconciler.ts";
import { Share } from "./share.ts";

interface MembershipOptions extends BullmqEngineOptions {
  redis: Redis;
  producer: TicketProducer;
  owner: string;
  lease: Lease;
  leader: Leader;
  reconcileMs: number;
  stopping: AbortSignal;
}

type MembershipEnd = "lost" | "left";

/** How long completing and reissuing tickets may take when a session ends. */
const FLUSH_TIMEOUT_MS = 2000;
/** A silent process loses the schedule ticket after this time: schedules must not wait. */
const TIMES_LOCK_MS = 3000;
const TIMES_RETRY_MS = 500;

/** The period in which a process owns lanes under one name. */
export class MembershipSession {
  readonly #options: MembershipOptions;
  readonly #lanes: LanesAtWork;
  readonly #share: Share;
  readonly #lost = new AbortController();
  readonly #drained = new AbortController();
  readonly #reconciler: Reconciler;
  /** Tickets being completed in Redis. */
  readonly #ending = new Set<Promise<void>>();

  constructor(options: MembershipOptions) {
    this.#options = options;
    const { store, producer, clock, log, host, owner, leaseTtlMs, lease, maxActiveLanes } = options;
    this.#share = new Share({ store, producer, host, clock, log, maxActive: maxActiveLanes });
    this.#lanes = new LanesAtWork({
      host,
      clock,
      log,
      owner,
      ttlMs: leaseTtlMs,
      leaseHolds: () => lease.holds(),
      movesOn: () => this.#share.isExceeded,
      shouldYield: (name, forMs) => this.#share.shouldYield(name, forMs),
    });
    this.#reconciler = new Reconciler({
      ...options,
      leads: () => options.leader.holds(),
      onControl: () => this.#lanes.controlChanged(),
    });
  }

  /** Notifies a lane at work here; false: it is not. */
  offer(lane: string): boolean {
    return this.#lanes.offer(lane);
  }

  controlChanged(): void {
    this.#lanes.controlChanged();
    this.#reconciler.reconcileSoon();
  }

  hold(): void {
    this.#lanes.hold(() => this.#drained.abort());
  }

  resume(): void {
    this.#lanes.resume();
    this.#share.changed();
  }

  hurry(): void {
    this.#lanes.hurry();
  }

  /** Works until stopped, until a drain has finished, or until the lease is lost. */
  async serve(): Promise<MembershipEnd> {
    const { clock, graceMs, stopping, owner, lease, leader, store } = this.#options;
    const over = AbortSignal.any([this.#lost.signal, this.#drained.signal, stopping]);
    const ended = new AbortController();
    const channel = this.#openChannel();
    const unwatch = store.watch((what) => what === "control" && this.controlChanged());
    const { leaseTtlMs } = this.#options;
    const consumers = [
      ...LANE_QUEUES.map((queue) => this.#consumer(queue, leaseTtlMs, (ticket) => this.#work(ticket))),
      this.#consumer("times", Math.min(TIMES_LOCK_MS, leaseTtlMs), (ticket) => this.#startTimes(ticket)),
    ];
    const loops = [
      lease.keep(owner, this.#lost),
      this.#share.keep(this.#lanes, ended.signal),
      this.#reconciler.keep(ended.signal),
      new DeadOwners(this.#options).keep(ended.signal),
      this.#keepLeader(over),
    ];
    for (const consumer of consumers) consumer.start();
    await new Promise<void>((resolve) => {
      if (over.aborted) resolve();
      else over.addEventListener("abort", () => resolve(), { once: true });
    });
    const lost = this.#lost.signal.aborted;
    if (lost) leader.lost();
    const halted = Promise.all(consumers.map((consumer) => consumer.halt()));
    if (lost) await this.#lanes.fence();
    else await drainWithin(this.#lanes, clock, graceMs, this.#lost.signal);
    await halted;
    await this.#flush();
    ended.abort();
    this.#lost.abort();
    unwatch();
    channel.close();
    for (const consumer of consumers) consumer.close();
    await Promise.all(loops);
    return lost ? "lost" : "left";
  }

  #openChannel(): RevokeChannel {
    const { redis, prefix, owner, log } = this.#options;
    const channel = new RevokeChannel({
      redis,
      prefix,
      owner,
      log,
      // A lane whose turn has just ended needs no notification: it is looked up in the store.
      onLanes: (lanes) => {
        for (const lane of lanes) this.#lanes.offer(lane);
      },
      onControl: () => this.controlChanged(),
    });
    channel.open();
    return channel;
  }

  #consumer(queue: QueueName, lockMs: number, onTicket: (ticket: TakenTicket) => void): TicketConsumer {
    const { redis, prefix, owner, clock, log } = this.#options;
    return new TicketConsumer({
      redis,
      prefix,
      queue,
      owner,
      clock,
      log,
      lockMs,
      mayTake: () => this.#share.mayTake(queue),
      room: this.#share.room[queue],
      onTicket,
    });
  }

  #work(ticket: TakenTicket): void {
    // Two tickets for one lane: Redis was wiped, or our ticket counted as stalled.
    if (this.#lanes.has(ticket.lane)) {
      this.#lanes.offer(ticket.lane);
      return this.#end(ticket, null);
    }
    this.#share.taken();
    void this.#lanes.work(ticket.lane, (turn) => this.#end(ticket, turn));
  }

  #end(ticket: TakenTicket, turn: Turn | null): void {
    this.#track(this.#complete(ticket, turn));
  }

  #track(end: Promise<void>): void {
    const ending = end.finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #startTimes(ticket: TakenTicket): void {
    this.#track(this.#runTimes(ticket));
  }

  /** The ticket exists while anything is scheduled: if this process dies, the next one gets it. */
  async #runTimes(ticket: TakenTicket): Promise<void> {
    const { timetable, lease, producer, clock, log } = this.#options;
    let next: number | null = 0;
    try {
      // A process that was frozen must renew its lease first.
      if (lease.holds()) next = await timetable.keep();
    } catch (error) {
      log.warn("scheduled work failed; retrying", { error: messageOf(error) });
    }
    if (next === null) return ticket.done();
    const at = Math.max(next, clock.now() + TIMES_RETRY_MS);
    if (!(await ticket.again(at))) producer.offerAt(TIMES, at);
  }

  /**
   * An offer made while the lane's ticket was held created no new ticket, and its notification may have come too late. The
   * work was written before the offer, so the store is asked once more when the ticket is gone and offers create a new one.
   */
  async #complete(ticket: TakenTicket, turn: Turn | null): Promise<void> {
    const { producer, store, log, lease } = this.#options;
    const { lane } = ticket;
    if (turn?.end.refused === true) lease.doubt();
    if (turn !== null && (turn.end.more || turn.offered)) {
      await ticket.done();
      await producer.offerNow(lane);
      // Only now: the lane may be more urgent than those that wait.
      return this.#share.changed();
    }
    this.#share.changed();
    await ticket.done();
    if (turn === null) return;
    if (turn.end.wakeAt !== null) producer.offerAt(lane, turn.end.wakeAt);
    try {
      const work = await store.laneWork(lane);
      if (work !== null) producer.offerAt(lane, work.readyAt);
    } catch (error) {
      log.warn("cannot read whether a lane has more work; the reconciler checks it later", {
        lane,
        error: messageOf(error),
      });
    }
  }

  async #flush(): Promise<void> {
    const { clock, producer } = this.#options;
    const flushed = new AbortController();
    await Promise.race([Promise.all(this.#ending), sleep(clock, FLUSH_TIMEOUT_MS, flushed.signal)]);
    flushed.abort();
    await producer.issued(FLUSH_TIMEOUT_MS);
  }

  async #keepLeader(over: AbortSignal): Promise<void> {
    const { leader, owner, clock, log } = this.#options;
    const outages = new OutageLogger(log);
    const check = new Signal();
    over.addEventListener("abort", () => check.raise(), { once: true });
    while (!over.aborted) {
      try {
        await leader.check(owner);
        outages.ends("the leader can be read from the store again");
      } catch (error) {
        outages.begins("cannot read the leader from the store; retrying", { error: messageOf(error) });
      }
      await check.wait(clock, leader.checkMs);
    }
  }
}
