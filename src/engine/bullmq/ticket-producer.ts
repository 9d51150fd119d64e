import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { type Clock, sleep } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { OutageLogger } from "../../base/outage-logger.ts";
import type { LaneWork, OwnerStore } from "../../store/ports/owner-port.ts";
import { Urgency } from "../urgency.ts";
import {
  controlChannel,
  LANE_LINES,
  type LaneLine,
  type Line,
  lineOf,
  LINES,
  ownerChannel,
  scoreOf,
  ticketId,
  timeOfScore,
} from "./names.ts";
import { FIRST_OF_ALL, isOfLastRound, ticketPriority } from "./ticket-priority.ts";

interface TicketProducerOptions {
  store: Pick<OwnerStore, "lanePriorities">;
  redis: Redis;
  /** What all keys of a deployment begin with. */
  prefix: string;
  clock: Clock;
  log: Log;
}

interface Wanted {
  lane: string;
  id: string;
  /** Wall time; 0: now. */
  at: number;
  /** BullMQ's number for its place in the line; 0: there is no line. */
  priority: number;
}

/** A ticket that an owner holds. */
interface HeldTicket {
  line: LaneLine;
  id: string;
  /** Proves that it is held: the name of the owner, and a number. */
  token: string;
  owner: string;
}

/** Only of the expected owner: it may have changed since it was read. */
const UNLOCK = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
const lockOf = (queue: Queue, id: string) => `${queue.toKey(id)}:lock`;

const MOST_AT_ONCE = 500;
const AGAIN_MS = 500;
/** Nobody reads BullMQ's events; they would be the largest thing in Redis. */
const MOST_EVENTS = 100;
/** A ticket for a time that is so little later than wanted stays as it is. */
const CLOSE_MS = 1000;

/**
 * Issues tickets: jobs in Redis that say "this lane has work" and nothing else. A lane has at most one, so Redis holds
 * no more than there are lanes with work. Tickets that cannot be issued now are kept until they can.
 */
export class TicketProducer {
  readonly #options: TicketProducerOptions;
  readonly #queues: Readonly<Record<Line, Queue>>;
  /** Lanes to be offered, and when. */
  readonly #wanted = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #outages: OutageLogger;
  readonly #urgency: Urgency;
  #controlWanted = false;
  #sending: Promise<void> | null = null;

  constructor(options: TicketProducerOptions) {
    this.#options = options;
    this.#outages = new OutageLogger(options.log);
    this.#urgency = new Urgency(options);
    const open = (line: Line) => {
      const queue = new Queue(line, {
        connection: options.redis,
        prefix: options.prefix,
        // redis.ts reports problems of this Redis: BullMQ's check would write to the console.
        skipVersionCheck: true,
        streams: { events: { maxLen: MOST_EVENTS } },
      });
      queue.on("error", (error) => this.#failed(error));
      return queue;
    };
    this.#queues = { sites: open("sites"), steps: open("steps"), times: open("times") };
  }

  /** Lanes have work; existing tickets stay, and the owners of their lanes are notified. */
  offer(lanes: Iterable<string>): void {
    for (const lane of lanes) this.offerAt(lane, 0);
  }

  offerAt(lane: string, at: number): void {
    if (this.#closing.signal.aborted) return;
    // Redis counts in whole milliseconds.
    this.#wanted.set(lane, Math.min(Math.ceil(at), this.#wanted.get(lane) ?? Number.POSITIVE_INFINITY));
    this.#sending ??= this.#send();
  }

  /** Resolves when the ticket is queued: the next fetch finds it if it is the first. */
  async offerNow(lane: string): Promise<void> {
    try {
      await this.#issue(lineOf(lane), [[lane, 0]]);
    } catch {
      this.offerAt(lane, 0);
    }
  }

  /** Resolves when everything offered so far is in Redis; false: not in time, and it is still retried. */
  async issued(timeoutMs: number): Promise<boolean> {
    if (this.#sending === null) return true;
    const late = new AbortController();
    const sent = this.#sending.then(() => true);
    const timer = sleep(this.#options.clock, timeoutMs, late.signal).then(() => false);
    const inTime = await Promise.race([sent, timer]);
    late.abort();
    return inTime;
  }

  /** Announces to all owners that limits, pauses or run states changed. */
  announceControl(): void {
    if (this.#closing.signal.aborted) return;
    this.#controlWanted = true;
    this.#sending ??= this.#send();
  }

  /** Lanes that wait for a turn, and could have it now. */
  async waiting(): Promise<number> {
    const { redis, clock } = this.#options;
    const due = scoreOf(clock.now() + 1) - 1;
    const counts = await Promise.all(
      LANE_LINES.flatMap((line) => {
        const { keys } = this.#queues[line];
        return [
          redis.llen(keys["wait"] as string),
          redis.zcard(keys["prioritized"] as string),
          redis.zcount(keys["delayed"] as string, 0, due),
        ];
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /**
   * The reconciler's part: issues tickets for lanes with work that have none, or one that is later than necessary.
   * Lanes that have waited since the last round go first.
   */
  async issueMissing(work: readonly LaneWork[]): Promise<void> {
    const { redis, clock } = this.#options;
    for (let first = 0; first < work.length; first += MOST_AT_ONCE) {
      const part = work.slice(first, first + MOST_AT_ONCE);
      const asking = redis.pipeline();
      for (const { lane } of part) {
        const queue = this.#queues[lineOf(lane)];
        asking.hmget(queue.toKey(ticketId(lane)), "name", "priority");
        asking.zscore(queue.keys["delayed"] as string, ticketId(lane));
      }
      const answers = ((await asking.exec()) ?? []).map(([error, answer]) => {
        if (error !== null) throw error;
        return answer;
      });
      for (const [n, { lane, readyAt }] of part.entries()) {
        const [name, priority] = answers[2 * n] as [string | null, string | null];
        const score = answers[2 * n + 1] as string | null;
        const isLate = score !== null && timeOfScore(Number(score)) > Math.max(readyAt, clock.now()) + CLOSE_MS;
        if (name === null || isLate) this.offerAt(lane, readyAt);
        else if (score === null && isOfLastRound(Number(priority), clock.now()))
          await this.#queues[lineOf(lane)].backend.changePriority(ticketId(lane), FIRST_OF_ALL).catch(() => {});
      }
    }
  }

  /** Held tickets and their owners. */
  async heldTickets(): Promise<HeldTicket[]> {
    const held: HeldTicket[] = [];
    for (const line of LANE_LINES) {
      const queue = this.#queues[line];
      const ids = await this.#options.redis.lrange(queue.keys["active"] as string, 0, -1);
      for (let first = 0; first < ids.length; first += MOST_AT_ONCE) {
        const part = ids.slice(first, first + MOST_AT_ONCE);
        const tokens = await this.#options.redis.mget(part.map((id) => lockOf(queue, id)));
        for (const [n, id] of part.entries()) {
          const token = tokens[n] ?? null;
          // BullMQ itself detects stalled jobs without a token.
          if (token !== null) held.push({ line, id, token, owner: token.slice(0, token.indexOf(":")) });
        }
      }
    }
    return held;
  }

  /** Its holder is dead: the lane gets another ticket. */
  async takeBack({ line, id, token }: HeldTicket): Promise<void> {
    const { redis } = this.#options;
    const queue = this.#queues[line];
    const lane = await redis.hget(queue.toKey(id), "name");
    const unlocked = await redis.eval(UNLOCK, 1, lockOf(queue, id), token);
    if (unlocked !== 1 || lane === null) return;
    await queue.remove(id);
    this.offerAt(lane, 0);
  }

  /** Whether this is the first of all processes to say so within that time. */
  async isFirst(what: string, withinMs: number): Promise<boolean> {
    const { redis, prefix } = this.#options;
    return (await redis.set(`${prefix}:once:${what}`, "", "PX", Math.ceil(withinMs), "NX")) === "OK";
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(LINES.map((line) => this.#queues[line].close().catch(() => {})));
  }

  /** While one batch is on its way, the next one grows. */
  async #send(): Promise<void> {
    const { clock, redis, prefix } = this.#options;
    // Offers made one by one are sent together.
    await Promise.resolve();
    while ((this.#wanted.size > 0 || this.#controlWanted) && !this.#closing.signal.aborted) {
      const batch = [...this.#wanted].slice(0, MOST_AT_ONCE);
      for (const [lane] of batch) this.#wanted.delete(lane);
      const control = this.#controlWanted;
      this.#controlWanted = false;
      try {
        if (control) await redis.publish(controlChannel(prefix), "");
        for (const line of LINES) await this.#issue(line, batch);
        this.#outages.ends("tickets for lanes can be issued again");
      } catch (error) {
        for (const [lane, at] of batch)
          this.#wanted.set(lane, Math.min(at, this.#wanted.get(lane) ?? Number.POSITIVE_INFINITY));
        this.#controlWanted ||= control;
        this.#failed(error);
        await sleep(clock, AGAIN_MS, this.#closing.signal);
      }
    }
    this.#sending = null;
  }

  #failed(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    this.#outages.begins("Redis cannot be used; lanes at work go on, others wait until it can", {
      error: messageOf(error),
    });
  }

  async #issue(line: Line, batch: readonly (readonly [string, number])[]): Promise<void> {
    const { clock } = this.#options;
    const queue = this.#queues[line];
    const ofLine = batch.filter(([lane]) => lineOf(lane) === line);
    if (ofLine.length === 0) return;
    // Steps have none.
    const priorities = line === "sites" ? await this.#urgency.of(ofLine.map(([lane]) => lane)) : [];
    const now = clock.now();
    const tickets = ofLine.map(([lane, at], n): Wanted => {
      const priority = line === "times" ? 0 : ticketPriority(Math.max(at, now), priorities[n] ?? 0);
      return { lane, id: ticketId(lane), at, priority };
    });
    await queue.addBulk(
      tickets.map(({ lane, id, at, priority }) => ({
        name: lane,
        data: {},
        // By the clock of all, and not by this machine's.
        opts: { jobId: id, priority, timestamp: now, ...(at > now ? { delay: at - now } : {}) },
      })),
    );
    await this.#wakeThere(queue, tickets, now);
  }

  /** Lanes that already had a ticket: it is moved forward, or its owner is notified. */
  async #wakeThere(queue: Queue, tickets: readonly Wanted[], now: number): Promise<void> {
    const { redis, prefix } = this.#options;
    const asking = redis.pipeline();
    for (const { id } of tickets) {
      asking.zscore(queue.keys["delayed"] as string, id);
      asking.hmget(queue.toKey(id), "pb", "priority");
    }
    const answers = ((await asking.exec()) ?? []).map(([error, answer]) => {
      if (error !== null) throw error;
      return answer;
    });
    const owned = new Map<string, string[]>();
    const moves: Promise<void>[] = [];
    for (const [n, { lane, id, at, priority }] of tickets.entries()) {
      const score = answers[2 * n] as string | null;
      const [owner, present] = answers[2 * n + 1] as [string | null, string | null];
      if (present !== null && priority < Number(present)) moves.push(queue.backend.changePriority(id, priority));
      if (score === null) {
        if (owner !== null && at <= now) owned.set(owner, [...(owned.get(owner) ?? []), lane]);
      } else if (at <= now) moves.push(queue.backend.promote(id));
      else if (timeOfScore(Number(score)) > at + CLOSE_MS) moves.push(queue.backend.changeDelay(id, at - now));
    }
    // A ticket taken in between needs no move: its owner sees what was written before.
    await Promise.allSettled(moves);
    await Promise.all(
      [...owned].map(([owner, lanes]) => redis.publish(ownerChannel(prefix, owner), JSON.stringify(lanes))),
    );
  }
}
