import type { Random } from "../../../src/base/random.ts";
import { retryDelay } from "../../../src/domain/lane/backoff.ts";
import { holdsSite } from "../../../src/domain/run/classify.ts";
import type { Failure } from "../../../src/domain/run/failure.ts";
import { PATIENCE_MS } from "../../../src/lanes/owner/owner.ts";
import { ClaimBackoff } from "../../../src/lanes/owner/claim-backoff.ts";
import { Pace } from "../../../src/lanes/limits/pace.ts";
import type { PaceMemories } from "../../../src/lanes/limits/pace-memories.ts";
import type { Slots, SlotSeeker } from "../../../src/lanes/limits/slots.ts";
import { earliest } from "../../../src/lanes/limits/waits.ts";
import { PREFETCH, Window } from "../../../src/lanes/owner/window.ts";
import type { ClaimedTask, LaneGrant, LaneHold } from "../../../src/store/ports/port.ts";
import type { ClaimTurns } from "../../../src/store/postgres/claim-turns.ts";
import type { Turn } from "../../../src/store/ports/claim-port.ts";
import { RETRY_MS } from "../../../src/lanes/owner/settler.ts";
import type { Database, Transaction } from "./database.ts";
import type { Lane, Page } from "./lane.ts";
import { RULES } from "./plan.ts";
import type { Settler, Settling } from "./settling.ts";
import type { Being, Timeline } from "./timeline.ts";
import type { Turns } from "./turns.ts";
import type { Web } from "./web.ts";

export interface OwnerWorld {
  by: Being;
  timeline: Timeline;
  random: Random;
  database: Database;
  web: Web;
  slots: Slots;
  paces: PaceMemories;
  settler: Settler;
  claimTurns: ClaimTurns;
  turns: Turns;
  leaseHolds(): boolean;
  yieldWanted(lane: Lane, forMs: number): boolean;
  /** The lane is given back, or lost; `waitMs`: it may not go on before. */
  ended(owner: Owner, end: { lost: boolean; waitMs: number | null }): void;
  started(lane: Lane): void;
  /** A write failed because the store is busy: claims pause until a probe succeeds. */
  busy(): void;
  readonly isBusy: boolean;
}

/** One lane at work: the loop of the product's owner, around the product's own pace, window and slots. */
export class Owner implements SlotSeeker, Settling {
  readonly lane: Lane;
  readonly hold: LaneHold;
  readonly #world: OwnerWorld;
  readonly #grant: LaneGrant;
  readonly #pace: Pace;
  readonly #window: Window;
  readonly #backoff: ClaimBackoff;
  readonly #since: number;
  #running = 0;
  /** Its sockets count for the site: it can close them. */
  #isSeen = true;
  #granted = 0;
  #claiming = false;
  #dry = false;
  #finishing = false;
  #over = false;
  #looksAt = Number.POSITIVE_INFINITY;

  constructor(world: OwnerWorld, lane: Lane, hold: LaneHold) {
    this.#world = world;
    this.lane = lane;
    this.hold = hold;
    this.#grant = { ...hold, lane: lane.site.lane, site: { ...lane.site }, recovered: 0 };
    this.#pace = new Pace(this.#grant.site, RULES, world.timeline, world.paces.recall(this.#grant));
    this.#window = new Window(world.timeline, this.#pace.concurrency, PREFETCH.shared);
    this.#backoff = new ClaimBackoff({ monotonic: () => world.timeline.now() });
    this.#since = world.timeline.now();
    this.#lookIn(0);
  }

  get slotsHeld(): number {
    return this.#running + this.#granted;
  }

  slotGranted(): void {
    this.#granted += 1;
    this.#lookIn(0);
  }

  readonly onLost = (): void => {
    if (this.#over) return;
    this.stop();
    this.#world.ended(this, { lost: true, waitMs: null });
  };

  /** Everything under way is cut off, and nothing is written any more. */
  stop(): void {
    this.#over = true;
    this.#giveSlotsBack();
    for (let left = this.#running; left > 0; left -= 1) this.#world.slots.release();
    this.hide();
    this.#running = 0;
  }

  /** Killed or frozen: its sockets are closed, or nobody can be blamed for them. */
  hide(): void {
    if (this.#isSeen) this.#world.web.gone(this.lane, this.#running);
    this.#isSeen = false;
  }

  show(): void {
    if (!this.#isSeen) this.#world.web.back(this.lane, this.#running);
    this.#isSeen = true;
  }

  #lookIn(ms: number): void {
    const { timeline, by } = this.#world;
    const at = timeline.now() + ms;
    if (at >= this.#looksAt) return;
    this.#looksAt = at;
    timeline.at(ms, by, () => {
      if (this.#looksAt !== at) return;
      this.#looksAt = Number.POSITIVE_INFINITY;
      this.#look();
    });
  }

  #look(): void {
    if (this.#over || this.#finishing) return;
    const { timeline } = this.#world;
    const ending = !this.#world.leaseHolds() || this.#world.yieldWanted(this.lane, timeline.now() - this.#since);
    let waitMs: number | null = null;
    if (ending) this.#giveSlotsBack();
    else {
      const retryAt = this.lane.nextRetryAt;
      if (retryAt !== null && retryAt <= timeline.now()) this.#dry = false;
      if (!this.#claiming) this.#claim();
      if (!this.#claiming) waitMs = this.#startSome();
    }
    if (this.#running === 0 && !this.#claiming && (ending || this.#isFinished(waitMs))) return this.#finish(waitMs);
    if (ending) return;
    const retryAt = this.#dry ? this.lane.nextRetryAt : null;
    const next = earliest(
      earliest(waitMs, this.#backoff.waitMs),
      retryAt === null ? null : Math.max(1, retryAt - timeline.now()),
    );
    // No timer is finer than a millisecond, and a wait below what the clock can show would never pass.
    if (next !== null) this.#lookIn(Math.max(1, next));
  }

  #isFinished(waitMs: number | null): boolean {
    return (this.#window.size === 0 && this.#dry) || (waitMs !== null && waitMs > PATIENCE_MS);
  }

  /** First without waiting for runs that others have locked; if there are no others, it waits for them a little. */
  #claim(): void {
    if (this.#dry || this.#world.isBusy || this.#backoff.isEarly()) return;
    const limit = this.#window.wanted(this.#pace.soon);
    const gate = this.#pace.gate();
    if (limit === 0 || (gate.kind === "wait" && gate.ms !== null && gate.ms > PATIENCE_MS)) return;
    this.#claimIn("try", limit);
  }

  #claimIn(turn: Turn, limit: number): void {
    const { database, timeline, turns, by } = this.#world;
    let pages: Page[] | null = null;
    let missed = false;
    const work = ({ lockedRuns, missedRuns }: Transaction) => {
      missed = missedRuns;
      pages = this.lane.claim(this.hold, limit, timeline.now(), lockedRuns);
      return pages?.length ?? 0;
    };
    this.#claiming = true;
    const failed = () => {
      this.#claiming = false;
      if (turn === "try") return this.#world.busy();
      this.#world.claimTurns.end(true);
      this.#backoff.report(true);
      this.#look();
    };
    const done = () => {
      this.#claiming = false;
      if (turn !== "try") this.#world.claimTurns.end(false);
      if (this.#over) return;
      if (pages === null) return this.onLost();
      const isBusy = missed && pages.length === 0;
      if (isBusy) {
        const waitMs = this.#world.claimTurns.begin();
        if (waitMs !== null) return this.#claimIn({ waitMs }, limit);
      }
      this.#backoff.report(isBusy);
      if (isBusy) return this.#look();
      // A window asks a task for its resolver alone.
      this.#window.add(pages as unknown as ClaimedTask[]);
      this.#dry = !this.lane.hasReady;
      this.#look();
    };
    const runs = () => this.lane.runsOf("ready");
    const write = { verb: "claim", runs, lanes: [this.lane.index], work, done, failed } as const;
    if (turn === "try") turns.claim(write);
    else database.write(by, { ...write, turn });
  }

  /** The store accepts writes again. */
  goOn(): void {
    this.#lookIn(0);
  }

  #startSome(): number | null {
    const { slots } = this.#world;
    while (this.#window.size > 0 && this.#world.leaseHolds() && !this.#world.isBusy) {
      const gate = this.#pace.gate();
      if (gate.kind === "give_up") throw new Error(`${this.lane.site.site} is given up, although it answers`);
      if (gate.kind === "wait") {
        this.#giveSlotsBack();
        return gate.ms;
      }
      if (this.#granted === 0) {
        if (!slots.take(this, Math.min(this.#pace.free, this.#window.size))) return null;
        this.#granted += 1;
      }
      this.#granted -= 1;
      this.#start(this.#window.take(() => true) as unknown as Page);
    }
    this.#giveSlotsBack();
    const gate = this.#pace.gate();
    return this.#window.size === 0 && gate.kind === "wait" ? gate.ms : null;
  }

  #giveSlotsBack(): void {
    this.#world.slots.leaveLine(this);
    for (; this.#granted > 0; this.#granted -= 1) this.#world.slots.release();
  }

  #start(page: Page): void {
    const { timeline, web, by } = this.#world;
    this.#running += 1;
    this.#pace.start();
    const { afterMs, failure } = web.ask(this.lane);
    this.#world.started(this.lane);
    timeline.at(afterMs, by, () => this.#end(page, failure, afterMs));
  }

  #end(page: Page, failure: Failure | null, answeredMs: number): void {
    if (this.#over) return;
    const { timeline, web, slots, settler, random } = this.#world;
    this.#running -= 1;
    this.#pace.end(failure, answeredMs);
    if (this.#isSeen) web.gone(this.lane);
    slots.release();
    const outcome = { page, verdict: { kind: "ended" as "ended" | "again" } };
    if (failure !== null && holdsSite(failure)) outcome.verdict.kind = "again";
    else if (failure !== null && (page.tries += 1) < RULES.retry.maxAttempts) {
      const readyAt = timeline.now() + retryDelay(RULES.retry.backoff, page.tries, random);
      settler.add(this, { page, verdict: { kind: "retry", readyAt } }, this.#pace.takeChange());
      return this.#look();
    }
    settler.add(this, outcome, this.#pace.takeChange());
    if (outcome.verdict.kind === "again")
      settler.flush(this, () => {
        this.#dry = false;
        this.#lookIn(0);
      });
    this.#look();
  }

  #finish(waitMs: number | null): void {
    const { settler, paces } = this.#world;
    this.#finishing = true;
    this.#giveSlotsBack();
    paces.remember(this.#grant, this.#pace.memory());
    for (const page of this.#window.takeAll() as unknown as Page[])
      settler.add(this, { page, verdict: { kind: "again" } }, null);
    settler.flush(this, () => {
      if (this.#over) return;
      this.#release(waitMs);
    });
  }

  #release(waitMs: number | null): void {
    const { database, by, timeline } = this.#world;
    const work = () => (this.lane.release(this.hold) ? 1 : 0);
    const done = () => {
      if (this.#over) return;
      this.#over = true;
      this.#world.ended(this, { lost: false, waitMs });
    };
    const failed = () => {
      this.#world.busy();
      timeline.at(RETRY_MS, by, () => !this.#over && this.#release(waitMs));
    };
    database.write(by, { verb: "release", lanes: [this.lane.index], work, done, failed });
  }
}
