import type { Redis } from "ioredis";
import { sleep } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { OutageLogger } from "../../base/outage-logger.ts";
import { Lease } from "../lease.ts";
import type { Engine, EngineRole } from "../port.ts";
import { EngineLifecycle } from "../lifecycle.ts";
import { Leader } from "./leader.ts";
import { TicketProducer } from "./ticket-producer.ts";
import type { BullmqEngineOptions } from "./options.ts";
import { redisAt, requireRedis } from "./redis.ts";
import { MembershipSession } from "./membership-session.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const RECONCILE_MS = 30_000;
const RETRY_MS = 1000;

interface Connections {
  redis: Redis;
  producer: TicketProducer;
}

/**
 * The engine for many machines: every process works on lanes, found by tickets in Redis, and one of them is the leader.
 * Only the store knows who owns a lane: if Redis is down, wiped or wrong, nothing is lost or done twice.
 */
export class BullmqEngine implements Engine {
  readonly #options: BullmqEngineOptions;
  readonly #lease: Lease;
  readonly #leader: Leader;
  readonly #lifecycle: EngineLifecycle;
  #redis: Redis | null = null;
  #producer: TicketProducer | null = null;
  #membership: MembershipSession | null = null;
  #loop: Promise<void> | null = null;

  constructor(options: BullmqEngineOptions) {
    this.#options = options;
    this.#lifecycle = new EngineLifecycle(options);
    this.#lease = new Lease({ ...options, ttlMs: options.leaseTtlMs });
    this.#leader = new Leader({ ...options, onLead: (leads) => options.onLead?.(leads) });
  }

  get role(): EngineRole {
    return this.#lifecycle.role;
  }

  leads(): boolean {
    return this.#leader.holds();
  }

  /** Throws when Redis is unreachable or unsafe for tickets; resolves when this process may work. */
  async start(): Promise<void> {
    const { store, clock, log, prefix, redisUrl } = this.#options;
    const redis = redisAt(redisUrl);
    try {
      await requireRedis(redis, clock, CONNECT_TIMEOUT_MS);
      const owner = await this.#join();
      const producer = new TicketProducer({ store, redis, prefix, clock, log });
      [this.#redis, this.#producer] = [redis, producer];
      this.#loop = this.#run({ redis, producer }, owner);
    } catch (error) {
      redis.disconnect();
      throw error;
    }
  }

  offer(lanes: Iterable<string>): void {
    const others = [...lanes].filter((lane) => this.#membership?.offer(lane) !== true);
    this.#producer?.offer(others);
  }

  controlChanged(): void {
    this.#membership?.controlChanged();
    this.#producer?.announceControl();
  }

  drain(): void {
    if (this.#lifecycle.setDrain(true)) this.#membership?.hold();
  }

  resume(): void {
    if (this.#lifecycle.setDrain(false)) this.#membership?.resume();
  }

  /** Finishes or requeues running tasks within the grace period, then leaves the deployment. */
  async stop(): Promise<void> {
    this.#lifecycle.stop();
    await this.#loop;
    await this.#producer?.close();
    this.#redis?.disconnect();
    this.#lifecycle.role = "stopped";
  }

  /** Requeues running tasks instead of waiting for them. */
  hurry(): void {
    this.#lifecycle.stop();
    this.#membership?.hurry();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #run(connections: Connections, firstOwner: string): Promise<void> {
    const { clock, log } = this.#options;
    const outages = new OutageLogger(log);
    let owner: string | null = firstOwner;
    while (!this.#lifecycle.stopping.aborted) {
      try {
        if (owner !== null) {
          outages.ends("the engine can use the store again");
          await this.#serve(connections, owner);
        } else await this.#lifecycle.rest();
        owner = null;
        if (this.#lifecycle.stopping.aborted) return;
        if (!this.#lifecycle.drainRequested) owner = await this.#join();
      } catch (error) {
        owner = null;
        this.#lifecycle.role = "standby";
        outages.begins("the engine cannot use the store; retrying", { error: messageOf(error) });
        await sleep(clock, RETRY_MS, this.#lifecycle.stopping);
        if (!this.#lifecycle.drainRequested && !this.#lifecycle.stopping.aborted)
          owner = await this.#join().catch(() => null);
      }
    }
    if (owner !== null) await this.#leave(owner);
  }

  /** Joins under a new name: no process, this one included, inherits the leases of an earlier membership. */
  async #join(): Promise<string> {
    const { store, random, leaseTtlMs, identity } = this.#options;
    const owner = random.uuid();
    await this.#lease.obtain(owner, () => store.joinOwners(owner, leaseTtlMs, identity));
    return owner;
  }

  async #leave(owner: string): Promise<void> {
    try {
      await this.#leader.release(owner);
      await this.#options.store.leaveOwners(owner);
    } catch (error) {
      this.#options.log.warn("cannot deregister this process from the store; its lease will expire", {
        error: messageOf(error),
      });
    }
  }

  /** One membership: until stopped or drained, or until its lease is lost. */
  async #serve(connections: Connections, owner: string): Promise<void> {
    const { log, reconcileMs = RECONCILE_MS } = this.#options;
    const membership = new MembershipSession({
      ...this.#options,
      ...connections,
      owner,
      lease: this.#lease,
      leader: this.#leader,
      reconcileMs,
      stopping: this.#lifecycle.stopping,
    });
    this.#membership = membership;
    this.#lifecycle.role = "engine";
    if (this.#lifecycle.drainRequested) membership.hold();
    const end = await membership.serve();
    this.#membership = null;
    if (end === "lost") {
      log.warn("this process lost its lanes: others may have them, or the store could not be reached");
      this.#lifecycle.role = "standby";
    } else await this.#leave(owner);
  }
}
