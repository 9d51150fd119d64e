import type { Clock, Timer } from "../../base/clock.ts";
import type { Store } from "../../store/ports/port.ts";

interface PendingRelease {
  owner: string;
  trying: Promise<boolean> | null;
}

const RETRY_MS = 1000;

/**
 * Lanes that the store may count as ours although nothing here works on them: releasing one failed, or the reply to taking
 * it was lost. Our heartbeats keep all others from them, so they are released as soon as the store is writable.
 */
export class PendingReleases {
  readonly #deps: { store: Store; clock: Clock; onLeft: (lane: string) => void };
  readonly #lanes = new Map<string, PendingRelease>();
  #timer: Timer | null = null;
  #stopped = false;

  constructor(deps: { store: Store; clock: Clock; onLeft: (lane: string) => void }) {
    this.#deps = deps;
  }

  add(lane: string, owner: string): void {
    this.#lanes.set(lane, { owner, trying: null });
    this.#tryLater();
  }

  /** Releases the lane now if it is pending. Call this before the lane is taken again. */
  async leave(lane: string): Promise<void> {
    const left = this.#lanes.get(lane);
    if (left === undefined) return;
    this.#lanes.delete(lane);
    try {
      if ((await left.trying) !== true) await this.#deps.store.leaveLane(lane, left.owner);
    } catch (error) {
      this.add(lane, left.owner);
      throw error;
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #tryLater(): void {
    if (this.#stopped || this.#timer !== null || this.#lanes.size === 0) return;
    this.#timer = this.#deps.clock.after(RETRY_MS, () => void this.#tryAll());
  }

  async #tryAll(): Promise<void> {
    for (const [lane, left] of [...this.#lanes]) {
      if (this.#lanes.get(lane) !== left) continue;
      left.trying = this.#deps.store.leaveLane(lane, left.owner).then(
        () => true,
        () => false,
      );
      if (!(await left.trying) || this.#lanes.get(lane) !== left) continue;
      this.#lanes.delete(lane);
      this.#deps.onLeft(lane);
    }
    this.#timer = null;
    this.#tryLater();
  }
}
