import type { Redis } from "ioredis";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { Signal } from "../../base/signal.ts";
import { OutageLogger } from "../../base/outage-logger.ts";
import type { LaneWork } from "../../store/ports/owner-port.ts";
import type { Store } from "../../store/ports/port.ts";
import type { Timetable } from "../port.ts";
import { TIMES } from "./names.ts";
import type { TicketProducer } from "./ticket-producer.ts";

export interface ReconcilerOptions {
  store: Store;
  producer: TicketProducer;
  redis: Redis;
  clock: Clock;
  log: Log;
  reconcileMs: number;
  timetable: Timetable;
  /** Whether this process does what is to be done once. */
  leads(): boolean;
  /** Limits, pauses or run states changed. */
  onControl(): void;
}

const LOOK_MS = 250;
/**
 * How often the store is asked whether limits, pauses or run states changed, although nobody has told: at every look, but
 * where the store tells by itself, and sees to it that nothing is missed.
 */
const UNTOLD_LOOK_MS = 5000;
/** How often it is asked in Redis whether all work was looked at of late: soon after a wipe, nobody has. */
const WIPED_LOOK_MS = 2000;
/** How often the one that leads looks whether the ticket for the next time of a schedule is there, and not too late. */
const TIMES_LOOK_MS = 1000;
/** Several who hear of the same thing at once: one of them looks. */
const ALL_HEARD_MS = 200;
const MOST_PAUSE_MS = 5000;

/**
 * Issues again what was lost. All processes are ready to, and for every occasion (half a minute has passed, something
 * changed, Redis is back) one of them does: the first to say so in Redis.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #look = new Signal();
  /** How often it is still to be looked because somebody said so: the first look may have begun before they wrote. */
  #asked = 2;
  #control = -1;
  /** Somebody said that something changed, and the store has not been asked since. */
  #told = true;
  #controlAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #wipedLook = Number.NEGATIVE_INFINITY;
  #timesLook = Number.NEGATIVE_INFINITY;
  #costMs = 0;
  #issuing = false;
  readonly #outages: OutageLogger;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#outages = new OutageLogger(options.log);
  }

  lookAtAll(): void {
    this.#asked = 2;
    this.#told = true;
    this.#look.raise();
  }

  async keep(over: AbortSignal): Promise<void> {
    const { clock, log, redis } = this.#options;
    const outages = new OutageLogger(log);
    const back = () => this.lookAtAll();
    redis.on("ready", back);
    over.addEventListener("abort", () => this.#look.raise(), { once: true });
    while (!over.aborted) {
      const begun = clock.monotonic();
      try {
        await this.#lookAtControl();
        outages.ends("changes of limits, pauses and run states are seen again");
      } catch (error) {
        outages.begins("changes of limits, pauses and run states cannot be seen; it is tried again", {
          error: messageOf(error),
        });
      }
      // Not waited for: an answer of Redis may take as long as Redis is away. When it is back, everything is looked at.
      if (!this.#issuing && redis.status === "ready") void this.#issue(begun);
      await this.#look.wait(clock, LOOK_MS);
    }
    redis.off("ready", back);
  }

  async #lookAtControl(): Promise<void> {
    const { store, clock } = this.#options;
    const now = clock.monotonic();
    if (store.capabilities.notifies && !this.#told && now - this.#controlAt < UNTOLD_LOOK_MS) return;
    this.#told = false;
    let version: number;
    try {
      version = await store.controlVersion();
    } catch (error) {
      this.#told = true;
      throw error;
    }
    this.#controlAt = now;
    if (version === this.#control) return;
    const isFirst = this.#control === -1;
    this.#control = version;
    this.#asked = 2;
    if (!isFirst) this.#options.onControl();
  }

  async #isOurTurn(now: number): Promise<boolean> {
    const { producer, reconcileMs } = this.#options;
    let ours = false;
    if (this.#asked > 0 && now - this.#askedAt >= this.#pauseMs()) {
      this.#asked -= 1;
      this.#askedAt = now;
      ours = await producer.isFirst("asked", this.#pauseMs());
      // A look of our own begins after they wrote.
      if (ours) this.#asked = 0;
    }
    if (now - this.#wipedLook < WIPED_LOOK_MS) return ours;
    this.#wipedLook = now;
    return (await producer.isFirst("reconciled", reconcileMs)) || ours;
  }

  /** However much changes, looking takes all processes together a tenth of one's time. */
  #pauseMs(): number {
    return Math.min(MOST_PAUSE_MS, Math.max(ALL_HEARD_MS, 10 * this.#costMs));
  }

  async #issue(now: number): Promise<void> {
    const { store, producer, clock, leads } = this.#options;
    this.#issuing = true;
    try {
      if (await this.#isOurTurn(now)) {
        const begun = clock.monotonic();
        await producer.issueMissing([...(await store.lanesWithWork()), ...(await this.#times(now))]);
        // The first one is slower than others, because nothing is warm.
        this.#costMs = (this.#costMs + clock.monotonic() - begun) / 2;
      } else if (leads() && now - this.#timesLook >= TIMES_LOOK_MS) await producer.issueMissing(await this.#times(now));
      this.#outages.ends("lost tickets can be issued again");
    } catch (error) {
      this.#outages.begins("lost tickets cannot be issued; it is tried again", { error: messageOf(error) });
      this.#asked = 1;
    }
    this.#issuing = false;
  }

  async #times(now: number): Promise<LaneWork[]> {
    this.#timesLook = now;
    const next = await this.#options.timetable.nextAt();
    return next === null ? [] : [{ lane: TIMES, readyAt: next }];
  }
}
