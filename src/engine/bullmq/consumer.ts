import { type Job, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { type Clock, sleep } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Signal } from "../../base/signal.ts";
import { OutageLogger } from "../../base/outage-logger.ts";
import type { Line } from "./names.ts";

interface ConsumerOptions {
  redis: Redis;
  prefix: string;
  line: Line;
  owner: string;
  clock: Clock;
  log: Log;
  /** A ticket stays a little longer than this with a process that says nothing. */
  heldMs: number;
  /** Whether one more may be taken now. `room` is raised when that may have changed. */
  mayTake(): boolean;
  room: Signal;
  onTicket(ticket: TakenTicket): void;
}

export interface TakenTicket {
  lane: string;
  /** It was used: the lane has none from now on. */
  done(): Promise<void>;
  /** It was used, and comes again at that time. False: it is not there any more. */
  again(at: number): Promise<boolean>;
}

/** A ticket that was fetched and never arrived returns to the queue after this time. */
const MOST_ARRIVAL_MS = 10_000;
const MOST_RENEW_MS = 3000;
/** How often stalled tickets are looked for. */
const MOST_STALLED_MS = 5000;
/** How long to block in Redis for a ticket, in seconds: a ticket handed to a frozen process is looked for after it. */
const MOST_BLOCK_S = 5;
/** BullMQ blocks for ten seconds at most. A fetch that takes longer hangs. */
const SILENT_MS = 25_000;
const AGAIN_MS = 500;
const STOP_MS = 2000;

/** Never runs anything itself: the engine asks it for the next ticket when there is room for one. */
class TicketSource extends Worker<unknown, null, string> {
  #halted = false;

  /** Ends the wait for a ticket. None is taken any more, so that none is lost between Redis and here. */
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
      // It never was connected.
    }
  }

  protected override async moveToActive(token: string, name?: string): Promise<Job<unknown, null, string>> {
    // BullMQ's own type leaves out that there may be none.
    return this.#halted ? (undefined as unknown as Job) : super.moveToActive(token, name);
  }
}

/** Takes tickets of one line from Redis, one after the other, for as long as there is room. */
export class TicketConsumer {
  readonly #options: ConsumerOptions;
  readonly #halting = new AbortController();
  /** Anything still open now is no longer waited for. */
  readonly #halted = new AbortController();
  readonly #closing = new AbortController();
  readonly #outages: OutageLogger;
  /** Tickets in hand, with the tokens that prove it. */
  readonly #held = new Map<string, string>();
  #source: TicketSource;
  #taken = 0;
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

  /** Takes no more tickets. Taken ones stay renewed until `close`. */
  async halt(): Promise<void> {
    this.#halting.abort();
    this.#options.room.raise();
    await this.#source.halt();
    const ended = new AbortController();
    await Promise.race([this.#consuming, sleep(this.#options.clock, STOP_MS, ended.signal)]);
    ended.abort();
    this.#halted.abort();
  }

  close(): void {
    this.#closing.abort();
  }

  #open(): TicketSource {
    const { redis, prefix, line, owner, heldMs } = this.#options;
    const source = new TicketSource(line, null, {
      connection: redis,
      prefix,
      name: owner,
      autorun: false,
      drainDelay: Math.min(MOST_BLOCK_S, heldMs / 1000),
      lockDuration: Math.min(MOST_ARRIVAL_MS, heldMs),
      stalledInterval: Math.min(MOST_STALLED_MS, heldMs / 2),
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
        if (this.#halting.signal.aborted || !mayTake()) await putBack(job);
        else this.#accept(job);
      } catch (error) {
        this.#failed(error);
        await sleep(clock, AGAIN_MS, this.#halting.signal);
        if (!this.#halting.signal.aborted) await this.#openAnew();
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
        // Somebody may have wiped Redis, or taken the ticket for a dead one's: then it is not there to be ended.
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
   * The watchdog: a fetch without an answer is given up, with its connection. So is one that continues when no ticket
   * is wanted: while Redis is unreachable it would never end.
   */
  async #next(): Promise<Job<unknown, null, string> | undefined> {
    const { clock, owner, redis, log, line } = this.#options;
    const token = `${owner}:${(this.#taken += 1)}`;
    const fetched: Promise<Job | undefined> = this.#source.getNextJob(token, { block: true });
    for (;;) {
      const answered = new AbortController();
      const enough = AbortSignal.any([answered.signal, this.#halted.signal]);
      const silence = sleep(clock, SILENT_MS, enough).then(() => "silence" as const);
      const first = await Promise.race([fetched, silence]).finally(() => answered.abort());
      if (first !== "silence") return first;
      // While Redis is unreachable, everything waits for it and resumes by itself.
      if (redis.status === "ready" || this.#halted.signal.aborted) break;
    }
    fetched.then((job) => job && putBack(job)).catch(() => {});
    if (this.#halted.signal.aborted) return undefined;
    log.warn("Redis does not answer about tickets; reconnecting", { line });
    await this.#openAnew();
    return undefined;
  }

  async #openAnew(): Promise<void> {
    const old = this.#source;
    this.#source = this.#open();
    await old.halt();
  }

  async #keepRenewing(): Promise<void> {
    const { clock, heldMs } = this.#options;
    const everyMs = Math.min(MOST_RENEW_MS, heldMs / 4);
    while (!this.#closing.signal.aborted) {
      await sleep(clock, everyMs, this.#closing.signal);
      if (this.#held.size === 0 || this.#closing.signal.aborted) continue;
      try {
        // A missing ticket was wiped; its lane is still ours.
        await this.#source.extendJobLocks([...this.#held.keys()], [...this.#held.values()], heldMs + everyMs);
      } catch (error) {
        this.#failed(error);
      }
    }
  }

  #failed(error: unknown): void {
    if (this.#halting.signal.aborted) return;
    this.#outages.begins("cannot take tickets; lanes at work continue", { error: messageOf(error) });
  }
}

/** BullMQ wakes no consumer for a job with a priority that is requeued, but does when the priority is set again. */
async function putBack(job: Job<unknown, null, string>): Promise<void> {
  await job.moveToWait(job.token);
  await job.changePriority({ priority: job.priority });
}
