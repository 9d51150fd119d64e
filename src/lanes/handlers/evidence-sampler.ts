import type { Failure, FailureReason } from "../../domain/run/failure.ts";

/** The pages of a crawl are many, and most of those that fail do so alike. */
const MOST_ALIKE = 3;

/** Of a crawl's failures, those that a picture and a copy of the page are kept of: a few of each reason. */
export class EvidenceSampler {
  readonly #claimed = new Map<FailureReason, Set<number>>();
  readonly #kept = new Set<number>();

  /** Whether this one is to be shown; if so it is one of the few until it is left. */
  claim(task: number, { reason }: Pick<Failure, "reason">): boolean {
    const alike = this.#claimed.get(reason) ?? new Set();
    if (alike.has(task)) return true;
    if (alike.size >= MOST_ALIKE) return false;
    this.#unclaim(task);
    this.#claimed.set(reason, alike.add(task));
    return true;
  }

  /** Something of it is kept. */
  keep(task: number): void {
    this.#kept.add(task);
  }

  /** Another one may be shown in its place. Says whether something of it was kept. */
  leave(task: number): boolean {
    this.#unclaim(task);
    return this.#kept.delete(task);
  }

  #unclaim(task: number): void {
    for (const alike of this.#claimed.values()) alike.delete(task);
  }
}
