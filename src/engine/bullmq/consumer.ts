import { type Job, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { type Clock, sleep } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Signal } from "../../base/signal.ts";
import { OutageLogger } from "../../base/outage-logger.ts";
import type { QueueName } from "./names.ts";

interface ConsumerOptions {
  redis: Redis;
  prefix: string;
  queue: QueueName;
  owner: string;
  clock: Clock;
  log: Log;
  /** A silent process keeps its ticket a little longer than this. */
  lockMs: number;
  /** Whether one more ticket may be taken now. `room` is raised when that may have changed. */
  mayTake(): boolean;
  room: Signal;
  onTicket(ticket: TakenTicket): void;
}

export interface TakenTicket {
  lane: string;
  /** Completes the ticket: the lane has none any more. */
  done(): Promise<void>;
  /** Delays the ticket until that time. False: it no longer exists. */
  again(at: number): Promise<boolean>;
}

/** A ticket that was fetched but never arrived returns to the queue after this time. */
const MAX_ARRIVAL_MS = 10_000;
const MAX_RENEW_MS = 3000;
const MAX_STALLED_CHECK_MS = 5000;
/** Maximum blocking fetch, in seconds: a ticket fetched by a frozen process is detected after it. */
const MAX_BLOCK_S = 5;
/** BullMQ blocks for ten seconds at most: a fetch that takes this long hangs. */
const SILENT_MS = 25_000;
const RETRY_MS = 500;
const HALT_TIMEOUT_MS = 2000;

/** A BullMQ worker that runs nothing: the engine fetches the next ticket when there is room. */
class TicketSource extends Worker<unknown, null, string> {
  #halted = false;

  /** Ends the blocking fetch. No further ticket is taken, so that none is lost on the way. */
  async halt(): Promise<void> {
    this.#halted = true;
    // Not awaited: a connection that was never established never reports its end.
    void this.#stayClosed();
    await this.close(true);
  }

  /** BullMQ reconnects a connection that was closed while it was connecting, and never closes it again. */
  async #stayClosed(): Promise<void> {
    try {
      const blocking = await this.backend.blockingClient;
      if (blocking !== undefined) blocking.connect = () => Promise.reject(new Error("Connection is closed."));
    } catch {
      // It was never connected.
    }
  }

  protected override async moveToActive(token: string, name?: string): Promise<Job<unknown, null, string>> {
    // BullMQ's type omits undefined.
    return this.#halted ? (undefined as unknown as Job) : super.moveToActive(token, name);
  }
}

/** Takes tickets of one queue, one after the other, while there is room. */
export class TicketConsumer {
  readonly #options: ConsumerOptions;
  readonly #halting = new AbortController();
  /** Aborted when open fetches are no longer awaited. */
  readonly #halted = new AbortController();
  readonly #closing = new AbortController();
  readonly #outages: OutageLogger;
  /** Lock tokens of the held tickets, by id. */
  readonly #held = new Map<string, string>();
  #source: TicketSource;
  #fetches = 0;
  #consuming: Promise<void> = Promise.resolve();

  constructor(options: ConsumerOptions) {
    this.#options = options;
    this.#outages = new OutageLogger(options.log);
    this.#source = this.#open();
  }

  start(): void {
    this.#consuming = this.#consume();
    void this.#keepRenewing();
  }

  /** Takes no more tickets. Held ones are renewed until `close`. */
  async halt(): Promise<void> {
    this.#halting.abort();
    this.#options.room.raise();
    await this.#source.halt();
    const ended = new AbortController();
    await Promise.race([this.#consuming, sleep(this.#options.clock, HALT_TIMEOUT_MS, ended.signal)]);
    ended.abort();
    this.#halted.abort();
  }

  close(): void {
    this.#closing.abort();
  }

  #open(): TicketSource {
    const { redis, prefix, queue, owner, lockMs } = this.#options;
    const source = new TicketSource(queue, null, {
      connection: redis,
      prefix,
      name: owner,
      autorun: false,
      drainDelay: Math.min(MAX_BLOCK_S, lockMs / 1000),
      lockDuration: Math.min(MAX_ARRIVAL_MS, lockMs),
      stalledInterval: Math.min(MAX_STALLED_CHECK_MS, lockMs / 2),
      // A lane may outlive any number of processes.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    source.on("error", (error) => this.#failed(error));
    source.startStalledCheckTimer().catch((error: unknown) => this.#failed(error));
    return source;
  }

  async #consume(): Promise<void> {
    const { clock, mayTake, room } = this.#options;
    while (!this.#halting.signal.aborted) {
      if (!mayTake()) {
        await room.wait(clock, null);
        continue;
      }
      try {
        const job = await this.#next();
        if (job === undefined) continue;
        this.#outages.ends("tickets can be taken again");
        if (this.#halting.signal.aborted || !mayTake()) await requeue(job);
        else this.#accept(job);
      } catch (error) {
        this.#failed(error);
        await sleep(clock, RETRY_MS, this.#halting.signal);
        if (!this.#halting.signal.aborted) await this.#reopen();
      }
    }
  }

  #accept(job: Job<unknown, null, string>): void {
    const id = job.id ?? "";
    const token = job.token ?? "";
    this.#held.set(id, token);
    this.#options.onTicket({
      lane: job.name,
      done: async () => {
        this.#held.delete(id);
        // The ticket may be gone: Redis was wiped, or another process took us for dead.
        await job.moveToCompleted(null, token, false).catch(() => {});
      },
      again: async (at) => {
        this.#held.delete(id);
        return job.moveToDelayed(at, token).then(
          () => true,
          () => false,
        );
      },
    });
  }

  /**
   * The watchdog: a fetch without an answer is given up with its connection. So is one that is still open after `halt`:
   * while Redis is unreachable it would never end.
   */
  async #next(): Promise<Job<unknown, null, string> | undefined> {
    const { clock, owner, redis, log, queue } = this.#options;
    const token = `${owner}:${(this.#fetches += 1)}`;
    const fetched: Promise<Job | undefined> = this.#source.getNextJob(token, { block: true });
    for (;;) {
      const answered = new AbortController();
      const stopWaiting = AbortSignal.any([answered.signal, this.#halted.signal]);
      const silence = sleep(clock, SILENT_MS, stopWaiting).then(() => "silence" as const);
      const first = await Promise.race([fetched, silence]).finally(() => answered.abort());
      if (first !== "silence") return first;
      // While Redis is unreachable, the fetch waits and resumes by itself.
      if (redis.status === "ready" || this.#halted.signal.aborted) break;
    }
    fetched.then((job) => job && requeue(job)).catch(() => {});
    if (this.#halted.signal.aborted) return undefined;
    log.warn("Redis does not answer about tickets; reconnecting", { queue });
    await this.#reopen();
    return undefined;
  }

  async #reopen(): Promise<void> {
    const old = this.#source;
    this.#source = this.#open();
    await old.halt();
  }

  async #keepRenewing(): Promise<void> {
    const { clock, lockMs } = this.#options;
    const everyMs = Math.min(MAX_RENEW_MS, lockMs / 4);
    while (!this.#closing.signal.aborted) {
      await sleep(clock, everyMs, this.#closing.signal);
      if (this.#held.size === 0 || this.#closing.signal.aborted) continue;
      try {
        // A missing ticket was wiped; the lane is still ours.
        await this.#source.extendJobLocks([...this.#held.keys()], [...this.#held.values()], lockMs + everyMs);
      } catch (error) {
        this.#failed(error);
      }
    }
  }

  #failed(error: unknown): void {
    if (this.#halting.signal.aborted) return;
    this.#outages.begins("cannot take tickets; running lanes continue", { error: messageOf(error) });
  }
}

/** BullMQ wakes no consumer for a requeued job with a priority, but does when the priority is set again. */
async function requeue(job: Job<unknown, null, string>): Promise<void> {
  await job.moveToWait(job.token);
  await job.changePriority({ priority: job.priority });
}
