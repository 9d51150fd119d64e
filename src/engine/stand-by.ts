import { type Clock, sleep } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { OutageLogger } from "../base/outage-logger.ts";
import type { Engine, EngineRole } from "./port.ts";

/** An engine that can stop without waiting for running tasks. */
export interface HurriedEngine extends Engine {
  hurry(): void;
}

interface StandByOptions {
  engine: HurriedEngine;
  othersWork(): Promise<boolean>;
  /** Stops working when another working process appears, and resumes when that one is gone. */
  givesWay?: boolean;
  clock: Clock;
  log: Log;
  onRole(role: EngineRole): void;
}

const CHECK_MS = 1000;

/**
 * For a process that has submitted work and follows it, where many processes may work at once: it leaves the work to
 * workers, and does it itself when there are none.
 */
export class StandByEngine implements HurriedEngine {
  readonly #options: StandByOptions;
  readonly #stopping = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  #works = false;
  #drained = false;
  /** The work is left to another process. */
  #gaveWay = false;

  constructor(options: StandByOptions) {
    this.#options = options;
  }

  get role(): EngineRole {
    if (this.#works) return this.visibleRole(this.#options.engine.role);
    if (this.#stopping.signal.aborted) return "stopped";
    return this.#drained ? "drained" : "standby";
  }

  /** The role seen from outside: an engine that gave way is a standby, not drained. */
  visibleRole(role: EngineRole): EngineRole {
    return role === "drained" && this.#gaveWay && !this.#drained ? "standby" : role;
  }

  async start(): Promise<void> {
    if (await this.#options.othersWork()) this.#options.onRole("standby");
    else await this.#begin();
    if (!this.#works || this.#options.givesWay === true) this.#watching = this.#watch();
  }

  offer(lanes: Iterable<string>): void {
    this.#options.engine.offer(lanes);
  }

  controlChanged(): void {
    this.#options.engine.controlChanged();
  }

  drain(): void {
    this.#drained = true;
    this.#options.engine.drain();
    if (!this.#works) this.#options.onRole("drained");
  }

  resume(): void {
    this.#drained = false;
    if (!this.#gaveWay) this.#options.engine.resume();
    if (!this.#works) this.#options.onRole("standby");
  }

  leads(): boolean {
    return this.#options.engine.leads();
  }

  hurry(): void {
    this.#stopping.abort();
    this.#options.engine.hurry();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
    await this.#options.engine.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #begin(): Promise<void> {
    await this.#options.engine.start();
    this.#works = true;
  }

  #giveWay(others: boolean): void {
    if (others === this.#gaveWay) return;
    this.#gaveWay = others;
    if (others) this.#options.engine.drain();
    else this.#options.engine.resume();
  }

  async #watch(): Promise<void> {
    const { clock, log, othersWork } = this.#options;
    const outages = new OutageLogger(log);
    while (!this.#stopping.signal.aborted) {
      await sleep(clock, CHECK_MS, this.#stopping.signal);
      if (this.#stopping.signal.aborted || this.#drained) continue;
      try {
        const others = await othersWork();
        if (this.#works) this.#giveWay(others);
        else if (!others) await this.#begin();
        if (this.#works && this.#options.givesWay !== true) return;
        outages.ends("the live workers can be read again");
      } catch (error) {
        outages.begins("cannot read which workers are alive; retrying", { error: messageOf(error) });
      }
    }
  }
}
