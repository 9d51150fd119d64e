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
import { LANE_LINES, type Line, TIMES } from "./names.ts";
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

/** How long tickets may take to be ended and issued again when a term ends. */
const LAST_WORDS_MS = 2000;
/** A process that holds the schedule ticket and is silent for this long loses it: schedules do not wait. */
const TIMES_HELD_MS = 3000;
/** Scheduled work that failed is retried after this time. */
const TIMES_AGAIN_MS = 500;

/** The time in which a process owns lanes under one name. */
export class MembershipSession {
  readonly #options: MembershipOptions;
  readonly #lanes: LanesAtWork;
  readonly #share: Share;
  readonly #lost = new AbortController();
  readonly #rested = new AbortController();
  readonly #reconciler: Reconciler;
  /** Tickets whose turn is over, and who are being ended in Redis. */
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

  /** Notifies a lane that works here; false: it does not. */
  offer(lane: string): boolean {
    return this.#lanes.offer(lane);
  }

  controlChanged(): void {
    this.#lanes.controlChanged();
    this.#reconciler.lookAtAll();
  }

  hold(): void {
    this.#lanes.hold(() => this.#rested.abort());
  }

  goOn(): void {
    this.#lanes.goOn();
    this.#share.changed();
  }

  hurry(): void {
    this.#lanes.hurry();
  }

  /** Works until it is to stop, until a drain has come to its end, or until the lease is lost. */
  async serve(): Promise<MembershipEnd> {
    const { clock, graceMs, stopping, owner, lease, leader, store } = this.#options;
    const over = AbortSignal.any([this.#lost.signal, this.#rested.signal, stopping]);
    const ended = new AbortController();
    const channel = this.#listen();
    const unwatch = store.watch((what) => what === "control" && this.controlChanged());
    const { leaseTtlMs } = this.#options;
    const consumers = [
      ...LANE_LINES.map((line) => this.#consumer(line, leaseTtlMs, (ticket) => this.#work(ticket))),
      this.#consumer("times", Math.min(TIMES_HELD_MS, leaseTtlMs), (ticket) => this.#lookAtTimes(ticket)),
    ];
    const duties = [
      lease.keep(owner, this.#lost),
      this.#share.keep(this.#lanes, ended.signal),
      this.#reconciler.keep(ended.signal),
      new DeadOwners(this.#options).keep(ended.signal),
      this.#keepLooking(over),
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
    await this.#lastWords();
    ended.abort();
    this.#lost.abort();
    unwatch();
    channel.close();
    for (const consumer of consumers) consumer.close();
    await Promise.all(duties);
    return lost ? "lost" : "left";
  }

  #listen(): RevokeChannel {
    const { redis, prefix, owner, log } = this.#options;
    const channel = new RevokeChannel({
      redis,
      prefix,
      owner,
      log,
      // A lane whose turn has just ended needs no notification: the store is asked about it.
      onLanes: (lanes) => {
        for (const lane of lanes) this.#lanes.offer(lane);
      },
      onControl: () => this.controlChanged(),
    });
    channel.open();
    return channel;
  }

  #consumer(line: Line, heldMs: number, onTicket: (ticket: TakenTicket) => void): TicketConsumer {
    const { redis, prefix, owner, clock, log } = this.#options;
    return new TicketConsumer({
      redis,
      prefix,
      line,
      owner,
      clock,
      log,
      heldMs,
      mayTake: () => this.#share.mayTake(line),
      room: this.#share.room[line],
      onTicket,
    });
  }

  #work(ticket: TakenTicket): void {
    // Two tickets for one lane: Redis was wiped, or thought us dead.
    if (this.#lanes.has(ticket.lane)) {
      this.#lanes.offer(ticket.lane);
      return this.#end(ticket, null);
    }
    this.#share.taken();
    void this.#lanes.work(ticket.lane, (turn) => this.#end(ticket, turn));
  }

  #end(ticket: TakenTicket, turn: Turn | null): void {
    this.#note(this.#giveBack(ticket, turn));
  }

  #note(end: Promise<void>): void {
    const ending = end.finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #lookAtTimes(ticket: TakenTicket): void {
    this.#note(this.#keepTimes(ticket));
  }

  /** The ticket exists while anything is scheduled: if this process dies, the next one gets it. */
  async #keepTimes(ticket: TakenTicket): Promise<void> {
    const { timetable, lease, producer, clock, log } = this.#options;
    let next: number | null = 0;
    try {
      // A process that was frozen first finds out what it has missed.
      if (lease.holds()) next = await timetable.keep();
    } catch (error) {
      log.warn("scheduled work failed; retrying", { error: messageOf(error) });
    }
    if (next === null) return ticket.done();
    const at = Math.max(next, clock.now() + TIMES_AGAIN_MS);
    if (!(await ticket.again(at))) producer.offerAt(TIMES, at);
  }

  /**
   * An offer made while the lane's ticket was in use created no new one, and its notification may have come too late.
   * The work was written before, so the store is asked once more when the ticket is gone and every offer creates a new
   * one.
   */
  async #giveBack(ticket: TakenTicket, turn: Turn | null): Promise<void> {
    const { producer, store, log, lease } = this.#options;
    const { lane } = ticket;
    if (turn?.end.refused === true) lease.doubt();
    if (turn !== null && (turn.end.more || turn.offered)) {
      await ticket.done();
      await producer.offerNow(lane);
      // Not earlier: it may be more urgent than the lanes that wait.
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
      log.warn("whether a lane has more to do could not be asked; it is looked at later", {
        lane,
        error: messageOf(error),
      });
    }
  }

  async #lastWords(): Promise<void> {
    const { clock, producer } = this.#options;
    const said = new AbortController();
    await Promise.race([Promise.all(this.#ending), sleep(clock, LAST_WORDS_MS, said.signal)]);
    said.abort();
    await producer.issued(LAST_WORDS_MS);
  }

  async #keepLooking(over: AbortSignal): Promise<void> {
    const { leader, owner, clock, log } = this.#options;
    const outages = new OutageLogger(log);
    const look = new Signal();
    over.addEventListener("abort", () => look.raise(), { once: true });
    while (!over.aborted) {
      try {
        await leader.look(owner);
        outages.ends("who leads can be asked again");
      } catch (error) {
        outages.begins("cannot read the leader from the store; retrying", { error: messageOf(error) });
      }
      await look.wait(clock, leader.lookMs);
    }
  }
}
