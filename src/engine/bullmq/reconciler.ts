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

const CHECK_MS = 250;
/**
 * How often the control version is read without a notification, where the store notifies; elsewhere it is read at every
 * check.
 */
const UNNOTIFIED_CHECK_MS = 5000;
/** How often Redis is checked for a recent reconciliation: after a wipe there is none. */
const WIPE_CHECK_MS = 2000;
/** How often the leader checks that the schedule ticket exists and is not too late. */
const TIMES_CHECK_MS = 1000;
/** A notification reaches several processes, and one of them reconciles. */
const SETTLE_MS = 200;
const MAX_PAUSE_MS = 5000;

/**
 * Reissues lost tickets. For every trigger (half a minute has passed, something changed, Redis is back) one process does:
 * the first to claim it in Redis.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #wake = new Signal();
  /** Reconciliations still wanted after a notification: the first may have begun before the write. */
  #pendingRounds = 2;
  #control = -1;
  /** A notification has arrived, and the control version has not been read since. */
  #notified = true;
  #controlAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #wipeCheckedAt = Number.NEGATIVE_INFINITY;
  #timesCheckedAt = Number.NEGATIVE_INFINITY;
  #averageMs = 0;
  #issuing = false;
  readonly #outages: OutageLogger;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#outages = new OutageLogger(options.log);
  }

  reconcileSoon(): void {
    this.#pendingRounds = 2;
    this.#notified = true;
    this.#wake.raise();
  }

  async keep(over: AbortSignal): Promise<void> {
    const { clock, log, redis } = this.#options;
    const outages = new OutageLogger(log);
    const onReady = () => this.reconcileSoon();
    redis.on("ready", onReady);
    over.addEventListener("abort", () => this.#wake.raise(), { once: true });
    while (!over.aborted) {
      const startedAt = clock.monotonic();
      try {
        await this.#checkControl();
        outages.ends("changes of limits, pauses and run states can be read again");
      } catch (error) {
        outages.begins("cannot read changes of limits, pauses and run states; retrying", {
          error: messageOf(error),
        });
      }
      // Not awaited: Redis may be down. When it is back, everything is reconciled.
      if (!this.#issuing && redis.status === "ready") void this.#issue(startedAt);
      await this.#wake.wait(clock, CHECK_MS);
    }
    redis.off("ready", onReady);
  }

  async #checkControl(): Promise<void> {
    const { store, clock } = this.#options;
    const now = clock.monotonic();
    if (store.capabilities.notifies && !this.#notified && now - this.#controlAt < UNNOTIFIED_CHECK_MS) return;
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
    this.#pendingRounds = 2;
    if (!isFirst) this.#options.onControl();
  }

  async #isOurTurn(now: number): Promise<boolean> {
    const { producer, reconcileMs } = this.#options;
    let ours = false;
    if (this.#pendingRounds > 0 && now - this.#askedAt >= this.#pauseMs()) {
      this.#pendingRounds -= 1;
      this.#askedAt = now;
      ours = await producer.isFirst("asked", this.#pauseMs());
      // Our own reconciliation begins after the write.
      if (ours) this.#pendingRounds = 0;
    }
    if (now - this.#wipeCheckedAt < WIPE_CHECK_MS) return ours;
    this.#wipeCheckedAt = now;
    return (await producer.isFirst("reconciled", reconcileMs)) || ours;
  }

  /** However much changes, reconciling takes at most a tenth of one process's time in the whole deployment. */
  #pauseMs(): number {
    return Math.min(MAX_PAUSE_MS, Math.max(SETTLE_MS, 10 * this.#averageMs));
  }

  async #issue(now: number): Promise<void> {
    const { store, producer, clock, leads } = this.#options;
    this.#issuing = true;
    try {
      if (await this.#isOurTurn(now)) {
        const startedAt = clock.monotonic();
        await producer.issueMissing([...(await store.lanesWithWork()), ...(await this.#times(now))]);
        // Averaged: the first one is slow, because nothing is warm.
        this.#averageMs = (this.#averageMs + clock.monotonic() - startedAt) / 2;
      } else if (leads() && now - this.#timesCheckedAt >= TIMES_CHECK_MS)
        await producer.issueMissing(await this.#times(now));
      this.#outages.ends("lost tickets can be reissued again");
    } catch (error) {
      this.#outages.begins("cannot reissue lost tickets; retrying", { error: messageOf(error) });
      this.#pendingRounds = 1;
    }
    this.#issuing = false;
  }

  async #times(now: number): Promise<LaneWork[]> {
    this.#timesCheckedAt = now;
    const next = await this.#options.timetable.nextAt();
    return next === null ? [] : [{ lane: TIMES, readyAt: next }];
  }
}
