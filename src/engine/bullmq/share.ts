import { type Clock, sleep } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { Signal } from "../../base/signal.ts";
import { OutageLogger } from "../../base/outage-logger.ts";
import { evenLaneShare, laneShare, shouldYieldLane } from "../../domain/lane/lane-share.ts";
import type { Store } from "../../store/ports/port.ts";
import type { LanesAtWork } from "../lanes-at-work.ts";
import type { LaneHost } from "../port.ts";
import { LANE_LINES, type Line, lineOf } from "./names.ts";
import type { TicketProducer } from "./ticket-producer.ts";

interface ShareOptions {
  store: Store;
  producer: TicketProducer;
  host: LaneHost;
  clock: Clock;
  log: Log;
  maxActive: number;
}

/** While lanes are at work, how often their distribution is checked. */
const LOOK_MS = 1000;
/** Sooner when there is no room for a ticket, because many lanes may just have been opened; but not sooner than that. */
const EAGER_MS = 250;

/** How many lanes this process takes, so that all processes take part; and which it gives back. */
export class Share {
  readonly #options: ShareOptions;
  readonly #look = new Signal();
  /** Raised when one more lane may be allowed; one for each queue. */
  readonly room = { sites: new Signal(), steps: new Signal(), times: new Signal() };
  /** Before the first check, one lane is allowed. */
  #most = 1;
  /** Lanes to keep, if checked since the last one was taken: more may have become available since. */
  #even: number | null = null;
  #waiting = 0;
  #lanes: LanesAtWork | null = null;

  constructor(options: ShareOptions) {
    this.#options = options;
  }

  /** Steps may have half of the places: a long list of them, which may take hours, keeps no site waiting. */
  mayTake(line: Line): boolean {
    const lanes = this.#lanes;
    if (lanes === null || lanes.closed) return false;
    // Scheduled work takes no share.
    if (line === "times") return true;
    // A lane that would be released at once is left to others.
    if (this.#options.host.resting) return false;
    if (lanes.size >= this.#most) {
      if (this.#most < this.#options.maxActive) this.#look.raise();
      return false;
    }
    if (line === "sites") return true;
    const steps = [...lanes.names()].filter((name) => lineOf(name) === "steps").length;
    return steps < Math.max(1, Math.floor(this.#options.maxActive / 2));
  }

  /** To be said before a lane begins. */
  taken(): void {
    if (this.#lanes?.size === 0) this.#look.raise();
    this.#waiting = Math.max(0, this.#waiting - 1);
    this.#even = null;
  }

  changed(): void {
    for (const room of Object.values(this.room)) room.raise();
  }

  /** This process has more lanes than its even share. */
  get isExceeded(): boolean {
    return this.#lanes !== null && this.#lanes.size > (this.#even ?? this.#most);
  }

  /** Those that began first go first, and no more of them than others gain by. */
  shouldYield(name: string, forMs: number): boolean {
    if (this.#lanes === null) return false;
    let held = this.#lanes.size;
    for (const other of this.#lanes.names()) {
      if (other === name) break;
      held -= 1;
    }
    return shouldYieldLane({ forMs, held, most: this.#even ?? this.#most, othersWait: this.#waiting > 0 });
  }

  /** Checks until aborted. */
  async keep(lanes: LanesAtWork, over: AbortSignal): Promise<void> {
    const { store, producer, host, clock, log, maxActive } = this.#options;
    this.#lanes = lanes;
    const unwatch = LANE_LINES.map((line) => host.watchRest(this.room[line]));
    const [asking, counting] = [new OutageLogger(log), new OutageLogger(log)];
    over.addEventListener("abort", () => this.#look.raise(), { once: true });
    let counted = true;
    while (!over.aborted) {
      const begun = clock.monotonic();
      try {
        const shares = await store.laneShares();
        this.#most = Math.min(maxActive, laneShare(shares));
        this.#even = Math.min(maxActive, evenLaneShare(shares));
        asking.ends("the distribution of lanes can be read again");
      } catch (error) {
        asking.begins("cannot read the distribution of lanes; keeping the present one", { error: messageOf(error) });
      }
      this.changed();
      // Not waited for: an answer of Redis may take as long as Redis is away.
      if (counted && lanes.size >= this.#most) {
        counted = false;
        producer
          .waiting()
          .then(
            (count) => {
              this.#waiting = count;
              counting.ends("waiting lanes can be counted again");
              if (count > 0) lanes.lookUp();
            },
            (error: unknown) => counting.begins("cannot count waiting lanes", { error: messageOf(error) }),
          )
          .finally(() => (counted = true));
      }
      if (lanes.size > (this.#even ?? this.#most)) lanes.lookUp();
      // Raised in a row, as by every ticket that finds no room, it is not looked more often than that.
      await sleep(clock, Math.min(LOOK_MS, Math.max(EAGER_MS, 10 * (clock.monotonic() - begun))), over);
      if (!over.aborted) await this.#look.wait(clock, lanes.size === 0 ? null : LOOK_MS);
    }
    for (const end of unwatch) end();
  }
}
