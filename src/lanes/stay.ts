import type { AttemptEnd } from "./attempt.ts";
import type { Pace } from "./pace.ts";
import type { SiteNotes } from "./site-notes.ts";
import type { Slots } from "./slots.ts";

interface StayDeps {
  slots: Slots;
  pace: Pace;
  notes: SiteNotes;
  /** Whose it is, of the lane's sites; null: the lane asks no site. */
  site: string | null;
}

type LaneEvents = ReturnType<Pace["end"]>;

/** What a task that was started has: a place in the process, and one at its site. Each is given back once, sooner or later. */
export class Stay {
  readonly #deps: StayDeps;
  #hasSlot = true;
  #events: LaneEvents | null = null;

  constructor(deps: StayDeps) {
    this.#deps = deps;
    deps.pace.start();
  }

  leaveSlot(): void {
    if (this.#hasSlot) this.#deps.slots.release();
    this.#hasSlot = false;
  }

  /** The site gave what was asked for; how the task ends says nothing about it any more. */
  leaveSite(answeredMs: number | null): void {
    this.end({ aboutSite: null, answeredMs });
  }

  end({ aboutSite, answeredMs }: Pick<AttemptEnd, "aboutSite" | "answeredMs">): LaneEvents {
    this.leaveSlot();
    if (this.#events !== null) return this.#events;
    const { pace, notes, site } = this.#deps;
    const about = site === null ? undefined : aboutSite;
    this.#events = pace.end(about, answeredMs, site ?? "");
    notes.ended(site ?? "", about, answeredMs ?? null);
    return this.#events;
  }
}
