import type { Redis } from "ioredis";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { OwnerStore } from "../../store/ports/owner-port.ts";
import { TicketProducer } from "./ticket-producer.ts";
import { redisAt } from "./redis.ts";

interface TicketClientOptions {
  store: Pick<OwnerStore, "lanePriorities">;
  redisUrl: string;
  /** Prefix of all keys of a deployment. */
  prefix: string;
  clock: Clock;
  log: Log;
}

/** A caller that has written work must not wait longer than this for the notification. */
const POKE_MS = 500;

/** Notifies workers from a process that is no worker. Connects on first use. */
export class TicketClient {
  readonly #options: TicketClientOptions;
  #open: { redis: Redis; producer: TicketProducer } | null = null;

  constructor(options: TicketClientOptions) {
    this.#options = options;
  }

  /**
   * Lanes have work; null: limits, pauses or run states changed. False: not sent yet; this process keeps retrying, and the
   * reconciler finds the work in the store anyway.
   */
  async poke(lanes: readonly string[] | null): Promise<boolean> {
    const { producer } = (this.#open ??= this.#connect());
    if (lanes === null) producer.announceControl();
    else producer.offer(lanes);
    return producer.issued(POKE_MS);
  }

  async close(): Promise<void> {
    await this.#open?.producer.close();
    this.#open?.redis.disconnect();
  }

  #connect(): { redis: Redis; producer: TicketProducer } {
    const redis = redisAt(this.#options.redisUrl);
    return { redis, producer: new TicketProducer({ ...this.#options, redis }) };
  }
}
