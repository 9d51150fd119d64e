import type { Redis } from "ioredis";
import { sleep } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { Trouble } from "../../base/trouble.ts";
import { Lease } from "../lease.ts";
import type { Engine, EngineRole } from "../port.ts";
import { Standing } from "../standing.ts";
import { Leader } from "./leader.ts";
import { TicketOffice } from "./office.ts";
import type { BullmqEngineOptions } from "./options.ts";
import { redisAt, requireRedis } from "./redis.ts";
import { Term } from "./term.ts";

const PATIENCE_MS = 10_000;
const RECONCILE_MS = 30_000;
const AGAIN_MS = 1000;

interface Means {
  redis: Redis;
  office: TicketOffice;
}

/**
 * The engine of many machines: every process works on lanes, which it finds by tickets in Redis, and one of them leads.
 * Who owns a lane stands in the store alone; Redis may be away, wiped or wrong about it, and nothing is lost or done twice.
 */
export class BullmqEngine implements Engine {
  readonly #options: BullmqEngineOptions;
  readonly #lease: Lease;
  readonly #leader: Leader;
  readonly #standing: Standing;
  #redis: Redis | null = null;
  #office: TicketOffice | null = null;
  #term: Term | null = null;
  #loop: Promise<void> | null = null;

  constructor(options: BullmqEngineOptions) {
    this.#options = options;
    this.#standing = new Standing(options);
    this.#lease = new Lease({ ...options, ttlMs: options.leaseTtlMs });
    this.#leader = new Leader({ ...options, onLead: (leads) => options.onLead?.(leads) });
  }

  get role(): EngineRole {
    return this.#standing.role;
  }

  leads(): boolean {
    return this.#leader.holds();
  }

  /** Throws when there is no Redis, or none that tickets are safe in; resolves when this process may work. */
  async start(): Promise<void> {
    const { store, clock, log, prefix, redisUrl } = this.#options;
    const redis = redisAt(redisUrl);
    try {
      await requireRedis(redis, clock, PATIENCE_MS);
      const owner = await this.#join();
      const office = new TicketOffice({ store, redis, prefix, clock, log });
      [this.#redis, this.#office] = [redis, office];
      this.#loop = this.#live({ redis, office }, owner);
    } catch (error) {
      redis.disconnect();
      throw error;
    }
  }

  offer(lanes: Iterable<string>): void {
    const others = [...lanes].filter((lane) => this.#term?.offer(lane) !== true);
    this.#office?.offer(others);
  }

  controlChanged(): void {
    this.#term?.controlChanged();
    this.#office?.tellControl();
  }

  drain(): void {
    if (this.#standing.askToDrain(true)) this.#term?.hold();
  }

  resume(): void {
    if (this.#standing.askToDrain(false)) this.#term?.goOn();
  }

  /** Finishes or hands back what runs within the grace period, then leaves the others to it. */
  async stop(): Promise<void> {
    this.#standing.stop();
    await this.#loop;
    await this.#office?.close();
    this.#redis?.disconnect();
    this.#standing.role = "stopped";
  }

  /** Does not wait for what runs: it is handed back. */
  hurry(): void {
    this.#standing.stop();
    this.#term?.hurry();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #live(means: Means, firstOwner: string): Promise<void> {
    const { clock, log } = this.#options;
    const trouble = new Trouble(log);
    let owner: string | null = firstOwner;
    while (!this.#standing.stopping.aborted) {
      try {
        if (owner !== null) {
          trouble.ends("the engine can use the store again");
          await this.#serve(means, owner);
        } else await this.#standing.rest();
        owner = null;
        if (this.#standing.stopping.aborted) return;
        if (!this.#standing.drainAsked) owner = await this.#join();
      } catch (error) {
        owner = null;
        this.#standing.role = "standby";
        trouble.begins("the engine cannot use the store; it tries again", { error: messageOf(error) });
        await sleep(clock, AGAIN_MS, this.#standing.stopping);
        // What was lost is joined again under another name.
        if (!this.#standing.drainAsked && !this.#standing.stopping.aborted)
          owner = await this.#join().catch(() => null);
      }
    }
    if (owner !== null) await this.#leave(owner);
  }

  /** Under a new name each time: nobody, not even this process itself, inherits the leases of an earlier term. */
  async #join(): Promise<string> {
    const { store, random, leaseTtlMs } = this.#options;
    const owner = random.uuid();
    this.#lease.asked();
    await store.joinOwners(owner, leaseTtlMs);
    return owner;
  }

  async #leave(owner: string): Promise<void> {
    try {
      await this.#leader.release(owner);
      await this.#options.store.leaveOwners(owner);
    } catch (error) {
      this.#options.log.warn("this process could not take its leave of the store; its lease ends by itself", {
        error: messageOf(error),
      });
    }
  }

  /** One term as an owner of lanes: until stopped or drained, or until its lease is lost. */
  async #serve(means: Means, owner: string): Promise<void> {
    const { log, reconcileMs = RECONCILE_MS } = this.#options;
    const term = new Term({
      ...this.#options,
      ...means,
      owner,
      lease: this.#lease,
      leader: this.#leader,
      reconcileMs,
      stopping: this.#standing.stopping,
    });
    this.#term = term;
    this.#standing.role = "engine";
    if (this.#standing.drainAsked) term.hold();
    const end = await term.serve();
    this.#term = null;
    if (end === "lost") {
      log.warn("this process lost its lanes: others may have them, or the store could not be reached");
      this.#standing.role = "standby";
    } else await this.#leave(owner);
  }
}
