import { type Clock, sleep } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { Signal } from "../../base/signal.ts";
import { OutageLogger } from "../../base/outage-logger.ts";
import { evenLaneShare, laneShare, shouldYieldLane } from "../../domain/lane/lane-share.ts";
import type { Store } from "../../store/ports/port.ts";
import type { LanesAtWork } from "../lanes-at-work.ts";
import type { LaneHost } from "../port.ts";
import { LANE_QUEUES, type QueueName, queueOf } from "./names.ts";
import type { TicketProducer } from "./ticket-producer.ts";

interface ShareOptions {
  store: Store;
  producer: TicketProducer;
  host: LaneHost;
  clock: Clock;
  log: Log;
  maxActive: number;
}

/** How often the distribution of lanes is checked while lanes are at work. */
const CHECK_MS = 1000;
/** Minimum interval when a ticket finds no room, because many lanes may just have been opened. */
const MIN_CHECK_MS = 250;

/** How many lanes this process takes, so that all processes get a share, and which it releases. */
export class Share {
  readonly #options: ShareOptions;
  readonly #check = new Signal();
  /** Raised when one more lane may be allowed, per queue. */
  readonly room = { sites: new Signal(), steps: new Signal(), times: new Signal() };
  /** Before the first check, one lane is allowed. */
  #maxLanes = 1;
  /** Lanes to keep; null: a lane was taken since the last check. */
  #evenShare: number | null = null;
  #waiting = 0;
  #lanes: LanesAtWork | null = null;

  constructor(options: ShareOptions) {
    this.#options = options;
  }

  /** Steps, which may take hours, get at most half of the lanes, so that sites do not wait for them. */
  mayTake(queue: QueueName): boolean {
    const lanes = this.#lanes;
    if (lanes === null || lanes.closed) return false;
    // Scheduled work takes no share.
    if (queue === "times") return true;
    // This process would release the lane at once.
    if (this.#options.host.resting) return false;
    if (lanes.size >= this.#maxLanes) {
      if (this.#maxLanes < this.#options.maxActive) this.#check.raise();
      return false;
    }
    if (queue === "sites") return true;
    const steps = [...lanes.names()].filter((name) => queueOf(name) === "steps").length;
    return steps < Math.max(1, Math.floor(this.#options.maxActive / 2));
  }

  /** Call this before a lane begins. */
  taken(): void {
    if (this.#lanes?.size === 0) this.#check.raise();
    this.#waiting = Math.max(0, this.#waiting - 1);
    this.#evenShare = null;
  }

  changed(): void {
    for (const room of Object.values(this.room)) room.raise();
  }

  /** This process has more lanes than its even share. */
  get isExceeded(): boolean {
    return this.#lanes !== null && this.#lanes.size > (this.#evenShare ?? this.#maxLanes);
  }

  /** The oldest lanes yield first, and no more of them than other processes can use. */
  shouldYield(name: string, forMs: number): boolean {
    if (this.#lanes === null) return false;
    let held = this.#lanes.size;
    for (const other of this.#lanes.names()) {
      if (other === name) break;
      held -= 1;
    }
    return shouldYieldLane({ forMs, held, most: this.#evenShare ?? this.#maxLanes, othersWait: this.#waiting > 0 });
  }

  async keep(lanes: LanesAtWork, over: AbortSignal): Promise<void> {
    const { store, producer, host, clock, log, maxActive } = this.#options;
    this.#lanes = lanes;
    const unwatch = LANE_QUEUES.map((queue) => host.watchRest(this.room[queue]));
    const [asking, counting] = [new OutageLogger(log), new OutageLogger(log)];
    over.addEventListener("abort", () => this.#check.raise(), { once: true });
    let counted = true;
    while (!over.aborted) {
      const startedAt = clock.monotonic();
      try {
        const shares = await store.laneShares();
        this.#maxLanes = Math.min(maxActive, laneShare(shares));
        this.#evenShare = Math.min(maxActive, evenLaneShare(shares));
        asking.ends("the distribution of lanes can be read again");
      } catch (error) {
        asking.begins("cannot read the distribution of lanes; keeping the present one", { error: messageOf(error) });
      }
      this.changed();
      // Not awaited: Redis may be down.
      if (counted && lanes.size >= this.#maxLanes) {
        counted = false;
        producer
          .waiting()
          .then(
            (count) => {
              this.#waiting = count;
              counting.ends("waiting lanes can be counted again");
              if (count > 0) lanes.wakeAll();
            },
            (error: unknown) => counting.begins("cannot count waiting lanes", { error: messageOf(error) }),
          )
          .finally(() => (counted = true));
      }
      if (lanes.size > (this.#evenShare ?? this.#maxLanes)) lanes.wakeAll();
      // Limits the checks when every ticket without room raises the signal.
      await sleep(clock, Math.min(CHECK_MS, Math.max(MIN_CHECK_MS, 10 * (clock.monotonic() - startedAt))), over);
      if (!over.aborted) await this.#check.wait(clock, lanes.size === 0 ? null : CHECK_MS);
    }
    for (const end of unwatch) end();
  }
}
