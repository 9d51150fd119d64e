import { hash } from "node:crypto";
import type { ClaimedTask } from "../../store/ports/port.ts";
import type { AttemptEnd } from "./attempt.ts";
import type { Pace } from "../limits/pace.ts";
import type { SiteNotes } from "./site-notes.ts";
import type { Slots } from "../limits/slots.ts";

interface StayDeps {
  slots: Slots;
  pace: Pace;
  notes: SiteNotes;
  /** Whose it is, of the lane's sites; null: the lane asks no site. */
  site: string | null;
  task: Pick<ClaimedTask, "key" | "url" | "tries">;
}

type LaneEvents = ReturnType<Pace["end"]>;

/** What a task that was started has: a place in the process, and one at its site. Each is given back once, sooner or later. */
export class Permit {
  readonly #deps: StayDeps;
  #hasSlot = true;
  #isRefused = false;
  #events: LaneEvents | null = null;

  constructor(deps: StayDeps) {
    this.#deps = deps;
    deps.pace.start();
  }

  /** What the task itself says of it. */
  readonly told = {
    leaveSlot: () => this.leaveSlot(),
    refused: () => this.refused(),
    refusalRead: () => this.refusalRead(),
  };

  leaveSlot(): void {
    if (this.#hasSlot) this.#deps.slots.release();
    this.#hasSlot = false;
  }

  /** The site asks for patience; for how long is known when the answer was read, and until then nothing begins there. */
  refused(): void {
    if (this.#isRefused || this.#events !== null) return;
    this.#isRefused = true;
    this.#deps.pace.beginRefusal();
  }

  refusalRead(): void {
    if (this.#isRefused) this.#deps.pace.endRefusal();
    this.#isRefused = false;
  }

  /** The site gave what was asked for; how the task ends says nothing about it any more. */
  leaveSite(answeredMs: number | null): void {
    this.end({ aboutSite: null, answeredMs });
  }

  end({ aboutSite, answeredMs }: Pick<AttemptEnd, "aboutSite" | "answeredMs">): LaneEvents {
    this.leaveSlot();
    if (this.#events !== null) return this.#events;
    const { pace, notes, site, task } = this.#deps;
    const about = site === null ? undefined : aboutSite;
    const page = {
      page: pageHash(`${task.url}\n${task.key}`),
      isRetry: task.tries > 0,
      answered: notes.answered(site ?? ""),
    };
    this.refusalRead();
    this.#events = pace.end(about, answeredMs, site ?? "", page);
    notes.ended(site ?? "", about, answeredMs ?? null);
    return this.#events;
  }
}

/** Short: two pages that were taken for one would count once too few. Calls of one address may differ by their keys. */
function pageHash(address: string): string {
  return hash("sha1", address, "base64url").slice(0, 8);
}
