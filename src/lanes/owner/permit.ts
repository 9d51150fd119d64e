import { hash } from "node:crypto";
import type { ClaimedTask } from "../../store/ports/port.ts";
import type { AttemptEnd } from "./attempt.ts";
import type { Pace } from "../limits/pace.ts";
import type { SiteNotes } from "./site-notes.ts";
import type { Slots } from "../limits/slots.ts";

interface PermitDeps {
  slots: Slots;
  pace: Pace;
  notes: SiteNotes;
  /** The task's site within the lane; null: the lane has none. */
  site: string | null;
  task: Pick<ClaimedTask, "key" | "url" | "tries">;
}

type LaneEvents = ReturnType<Pace["end"]>;

/** The slots of a started task: one in the process and one at its site. Each is released once. */
export class Permit {
  readonly #deps: PermitDeps;
  #hasSlot = true;
  #isRefused = false;
  #events: LaneEvents | null = null;

  constructor(deps: PermitDeps) {
    this.#deps = deps;
    deps.pace.start();
  }

  /** Signals that the handler may send about its slots. */
  readonly handlerSignals = {
    leaveSlot: () => this.leaveSlot(),
    refused: () => this.refused(),
    refusalRead: () => this.refusalRead(),
  };

  leaveSlot(): void {
    if (this.#hasSlot) this.#deps.slots.release();
    this.#hasSlot = false;
  }

  /** The site rate-limits us; for how long is known once the answer is read, and until then nothing else starts there. */
  refused(): void {
    if (this.#isRefused || this.#events !== null) return;
    this.#isRefused = true;
    this.#deps.pace.beginRefusal();
  }

  refusalRead(): void {
    if (this.#isRefused) this.#deps.pace.endRefusal();
    this.#isRefused = false;
  }

  /** The site has answered; the task's own outcome no longer counts for it. */
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

/** A collision only makes two pages count as one. Calls of one address differ by their keys. */
function pageHash(address: string): string {
  return hash("sha1", address, "base64url").slice(0, 8);
}
