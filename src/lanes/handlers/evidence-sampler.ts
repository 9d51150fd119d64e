import type { Failure, FailureReason } from "../../domain/run/failure.ts";

/** A crawl has many pages, and most failures look alike. */
const MOST_ALIKE = 3;

/** Samples the failures of a crawl: a few of each reason keep a screenshot and a copy of the page. */
export class EvidenceSampler {
  readonly #claimed = new Map<FailureReason, Set<number>>();
  readonly #kept = new Set<number>();

  /** Whether evidence of this failure is kept; it counts towards the sample until it is released. */
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
