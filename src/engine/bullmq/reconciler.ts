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

interface ReconcilerOptions {
  store: Store;
  producer: TicketProducer;
  redis: Redis;
  clock: Clock;
  log: Log;
  reconcileMs: number;
  timetable: Timetable;
  /** Whether this process is the leader. */
  leads(): boolean;
  /** Limits, pauses or run states changed. */
  onControl(): void;
}

const LOOK_MS = 250;
/**
 * How often the store is asked whether limits, pauses or run states changed without a notification. Only where the
 * store notifies; elsewhere it is asked at every look.
 */
const UNNOTIFIED_LOOK_MS = 5000;
/** How often Redis is asked whether anybody reconciled lately: soon after a wipe, nobody has. */
const WIPED_LOOK_MS = 2000;
/** How often the leader checks that the ticket of the next scheduled time exists and is not too late. */
const TIMES_LOOK_MS = 1000;
/** Several processes are notified at once, and one of them reconciles. */
const SETTLE_MS = 200;
const MOST_PAUSE_MS = 5000;

/**
 * Reissues lost tickets. For every occasion (half a minute has passed, something changed, Redis is back) one process
 * does: the first to claim it in Redis.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #look = new Signal();
  /** Looks still to be made after a notification: the first may have begun before the write. */
  #looksWanted = 2;
  #control = -1;
  /** A notification has arrived, and the store has not been asked since. */
  #notified = true;
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
    this.#looksWanted = 2;
    this.#notified = true;
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
        outages.ends("changes of limits, pauses and run states can be read again");
      } catch (error) {
        outages.begins("cannot read changes of limits, pauses and run states; retrying", {
          error: messageOf(error),
        });
      }
      // Not awaited: an answer of Redis may take as long as Redis is away. When it is back, everything is reconciled.
      if (!this.#issuing && redis.status === "ready") void this.#issue(begun);
      await this.#look.wait(clock, LOOK_MS);
    }
    redis.off("ready", back);
  }

  async #lookAtControl(): Promise<void> {
    const { store, clock } = this.#options;
    const now = clock.monotonic();
    if (store.capabilities.notifies && !this.#notified && now - this.#controlAt < UNNOTIFIED_LOOK_MS) return;
    this.#notified = false;
    let version: number;
    try {
      version = await store.controlVersion();
    } catch (error) {
      this.#notified = true;
      throw error;
    }
    this.#controlAt = now;
    if (version === this.#control) return;
    const isFirst = this.#control === -1;
    this.#control = version;
    this.#looksWanted = 2;
    if (!isFirst) this.#options.onControl();
  }

  async #isOurTurn(now: number): Promise<boolean> {
    const { producer, reconcileMs } = this.#options;
    let ours = false;
    if (this.#looksWanted > 0 && now - this.#askedAt >= this.#pauseMs()) {
      this.#looksWanted -= 1;
      this.#askedAt = now;
      ours = await producer.isFirst("asked", this.#pauseMs());
      // Our own look begins after the write.
      if (ours) this.#looksWanted = 0;
    }
    if (now - this.#wipedLook < WIPED_LOOK_MS) return ours;
    this.#wipedLook = now;
    return (await producer.isFirst("reconciled", reconcileMs)) || ours;
  }

  /** However much changes, reconciling takes all processes together a tenth of one's time. */
  #pauseMs(): number {
    return Math.min(MOST_PAUSE_MS, Math.max(SETTLE_MS, 10 * this.#costMs));
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
      this.#outages.ends("lost tickets can be reissued again");
    } catch (error) {
      this.#outages.begins("cannot reissue lost tickets; retrying", { error: messageOf(error) });
      this.#looksWanted = 1;
    }
    this.#issuing = false;
  }

  async #times(now: number): Promise<LaneWork[]> {
    this.#timesLook = now;
    const next = await this.#options.timetable.nextAt();
    return next === null ? [] : [{ lane: TIMES, readyAt: next }];
  }
}
