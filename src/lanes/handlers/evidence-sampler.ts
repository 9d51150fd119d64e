import type { Failure, FailureReason } from "../../domain/run/failure.ts";

/** Most failures of a crawl look alike. */
const MAX_PER_REASON = 3;

/** Samples the failures of a crawl: a few of each reason keep a screenshot and a copy of the page. */
export class EvidenceSampler {
  readonly #claimed = new Map<FailureReason, Set<number>>();
  readonly #kept = new Set<number>();

  /** Whether evidence of this failure is kept; it counts towards the sample until it is released. */
  claim(task: number, { reason }: Pick<Failure, "reason">): boolean {
    const tasks = this.#claimed.get(reason) ?? new Set();
    if (tasks.has(task)) return true;
    if (tasks.size >= MAX_PER_REASON) return false;
    this.#unclaim(task);
    this.#claimed.set(reason, tasks.add(task));
    return true;
  }

  /** Evidence of the task is stored. */
  keep(task: number): void {
    this.#kept.add(task);
  }

  /** Frees the task's place in the sample. True: evidence of it was stored. */
  leave(task: number): boolean {
    this.#unclaim(task);
    return this.#kept.delete(task);
  }

  #unclaim(task: number): void {
    for (const tasks of this.#claimed.values()) tasks.delete(task);
  }
}
