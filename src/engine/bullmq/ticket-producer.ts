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
  LANE_QUEUES,
  type LaneQueueName,
  type QueueName,
  queueOf,
  QUEUES,
  ownerChannel,
  scoreOf,
  ticketId,
  timeOfScore,
} from "./names.ts";
import { HIGHEST, isOfLastRound, ticketPriority } from "./ticket-priority.ts";

interface TicketProducerOptions {
  store: Pick<OwnerStore, "lanePriorities">;
  redis: Redis;
  /** Prefix of all keys of a deployment. */
  prefix: string;
  clock: Clock;
  log: Log;
}

interface Ticket {
  lane: string;
  id: string;
  /** Wall time; 0: now. */
  at: number;
  /** BullMQ's priority; 0: unordered. */
  priority: number;
}

/** A ticket that an owner holds. */
interface HeldTicket {
  queueName: LaneQueueName;
  id: string;
  /** Lock token: the owner's name and a number. */
  token: string;
  owner: string;
}

/** Compare and delete: the holder may have changed since it was read. */
const UNLOCK = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
const lockOf = (queue: Queue, id: string) => `${queue.toKey(id)}:lock`;

const BATCH_SIZE = 500;
const RETRY_MS = 500;
/** BullMQ's events are not used; unlimited, they would be the largest key in Redis. */
const MAX_EVENTS = 100;
/** A delayed ticket that is at most this much later than wanted is not moved. */
const TOLERANCE_MS = 1000;

/**
 * Issues tickets: jobs in Redis that say "this lane has work" and nothing else. A lane has at most one, so Redis holds
 * no more than there are lanes with work. Tickets that cannot be issued now are kept until they can.
 */
export class TicketProducer {
  readonly #options: TicketProducerOptions;
  readonly #queues: Readonly<Record<QueueName, Queue>>;
  /** Lanes to offer, and when. */
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
    const open = (queueName: QueueName) => {
      const queue = new Queue(queueName, {
        connection: options.redis,
        prefix: options.prefix,
        // redis.ts checks the version; BullMQ would write to the console.
        skipVersionCheck: true,
        streams: { events: { maxLen: MAX_EVENTS } },
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

  /** Resolves when the ticket is in the queue. */
  async offerNow(lane: string): Promise<void> {
    try {
      await this.#issue(queueOf(lane), [[lane, 0]]);
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

  /** The number of lanes that wait for a turn now. */
  async waiting(): Promise<number> {
    const { redis, clock } = this.#options;
    const due = scoreOf(clock.now() + 1) - 1;
    const counts = await Promise.all(
      LANE_QUEUES.flatMap((queueName) => {
        const { keys } = this.#queues[queueName];
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
   * For the reconciler: issues tickets for lanes with work that have none, or one that is too late. Lanes that have waited
   * since the last round go first.
   */
  async issueMissing(work: readonly LaneWork[]): Promise<void> {
    const { redis, clock } = this.#options;
    for (let first = 0; first < work.length; first += BATCH_SIZE) {
      const part = work.slice(first, first + BATCH_SIZE);
      const pipeline = redis.pipeline();
      for (const { lane } of part) {
        const queue = this.#queues[queueOf(lane)];
        pipeline.hmget(queue.toKey(ticketId(lane)), "name", "priority");
        pipeline.zscore(queue.keys["delayed"] as string, ticketId(lane));
      }
      const answers = ((await pipeline.exec()) ?? []).map(([error, answer]) => {
        if (error !== null) throw error;
        return answer;
      });
      for (const [n, { lane, readyAt }] of part.entries()) {
        const [name, priority] = answers[2 * n] as [string | null, string | null];
        const score = answers[2 * n + 1] as string | null;
        const isLate = score !== null && timeOfScore(Number(score)) > Math.max(readyAt, clock.now()) + TOLERANCE_MS;
        if (name === null || isLate) this.offerAt(lane, readyAt);
        else if (score === null && isOfLastRound(Number(priority), clock.now()))
          await this.#queues[queueOf(lane)].backend.changePriority(ticketId(lane), HIGHEST).catch(() => {});
      }
    }
  }

  /** Held tickets and their owners. */
  async heldTickets(): Promise<HeldTicket[]> {
    const held: HeldTicket[] = [];
    for (const queueName of LANE_QUEUES) {
      const queue = this.#queues[queueName];
      const ids = await this.#options.redis.lrange(queue.keys["active"] as string, 0, -1);
      for (let first = 0; first < ids.length; first += BATCH_SIZE) {
        const part = ids.slice(first, first + BATCH_SIZE);
        const tokens = await this.#options.redis.mget(part.map((id) => lockOf(queue, id)));
        for (const [n, id] of part.entries()) {
          const token = tokens[n] ?? null;
          // BullMQ itself detects stalled jobs without a token.
          if (token !== null) held.push({ queueName, id, token, owner: token.slice(0, token.indexOf(":")) });
        }
      }
    }
    return held;
  }

  /** The holder is dead: the lane gets another ticket. */
  async reissue({ queueName, id, token }: HeldTicket): Promise<void> {
    const { redis } = this.#options;
    const queue = this.#queues[queueName];
    const lane = await redis.hget(queue.toKey(id), "name");
    const unlocked = await redis.eval(UNLOCK, 1, lockOf(queue, id), token);
    if (unlocked !== 1 || lane === null) return;
    await queue.remove(id);
    this.offerAt(lane, 0);
  }

  /** Whether this is the first process of the deployment to claim `what` within that time. */
  async isFirst(what: string, withinMs: number): Promise<boolean> {
    const { redis, prefix } = this.#options;
    return (await redis.set(`${prefix}:once:${what}`, "", "PX", Math.ceil(withinMs), "NX")) === "OK";
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(QUEUES.map((queueName) => this.#queues[queueName].close().catch(() => {})));
  }

  /** Offers made while a batch is being sent go into the next one. */
  async #send(): Promise<void> {
    const { clock, redis, prefix } = this.#options;
    // Offers made one by one are sent together.
    await Promise.resolve();
    while ((this.#wanted.size > 0 || this.#controlWanted) && !this.#closing.signal.aborted) {
      const batch = [...this.#wanted].slice(0, BATCH_SIZE);
      for (const [lane] of batch) this.#wanted.delete(lane);
      const control = this.#controlWanted;
      this.#controlWanted = false;
      try {
        if (control) await redis.publish(controlChannel(prefix), "");
        for (const queueName of QUEUES) await this.#issue(queueName, batch);
        this.#outages.ends("tickets for lanes can be issued again");
      } catch (error) {
        for (const [lane, at] of batch)
          this.#wanted.set(lane, Math.min(at, this.#wanted.get(lane) ?? Number.POSITIVE_INFINITY));
        this.#controlWanted ||= control;
        this.#failed(error);
        await sleep(clock, RETRY_MS, this.#closing.signal);
      }
    }
    this.#sending = null;
  }

  #failed(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    this.#outages.begins("Redis cannot be used; lanes at work continue, others wait for it", {
      error: messageOf(error),
    });
  }

  async #issue(queueName: QueueName, batch: readonly (readonly [string, number])[]): Promise<void> {
    const { clock } = this.#options;
    const queue = this.#queues[queueName];
    const ofQueue = batch.filter(([lane]) => queueOf(lane) === queueName);
    if (ofQueue.length === 0) return;
    // Only sites have priorities.
    const priorities = queueName === "sites" ? await this.#urgency.of(ofQueue.map(([lane]) => lane)) : [];
    const now = clock.now();
    const tickets = ofQueue.map(([lane, at], n): Ticket => {
      const priority = queueName === "times" ? 0 : ticketPriority(Math.max(at, now), priorities[n] ?? 0);
      return { lane, id: ticketId(lane), at, priority };
    });
    await queue.addBulk(
      tickets.map(({ lane, id, at, priority }) => ({
        name: lane,
        data: {},
        // The deployment's clock, not this machine's.
        opts: { jobId: id, priority, timestamp: now, ...(at > now ? { delay: at - now } : {}) },
      })),
    );
    await this.#updateExisting(queue, tickets, now);
  }

  /** For lanes that already had a ticket: moves it forward, or notifies its owner. */
  async #updateExisting(queue: Queue, tickets: readonly Ticket[], now: number): Promise<void> {
    const { redis, prefix } = this.#options;
    const pipeline = redis.pipeline();
    for (const { id } of tickets) {
      pipeline.zscore(queue.keys["delayed"] as string, id);
      pipeline.hmget(queue.toKey(id), "pb", "priority");
    }
    const answers = ((await pipeline.exec()) ?? []).map(([error, answer]) => {
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
      else if (timeOfScore(Number(score)) > at + TOLERANCE_MS) moves.push(queue.backend.changeDelay(id, at - now));
    }
    // A ticket taken in between needs no move: its owner sees everything written before.
    await Promise.allSettled(moves);
    await Promise.all(
      [...owned].map(([owner, lanes]) => redis.publish(ownerChannel(prefix, owner), JSON.stringify(lanes))),
    );
  }
}
