import { NO_TASKS } from "../../../domain/run/run-end.ts";
import type { TaskState } from "../../../domain/run/states.ts";
import type { Context } from "../kernel/context.ts";
import { changeAllCounters, type CounterEffects, type CounterChange } from "../kernel/counters.ts";
import { CrawlThroughput } from "../crawls/crawl-throughput.ts";

/** Collects counter changes, so that each stream's row is written once per transaction. */
export class CounterDeltas {
  /** Rows of tasks that were not written: another owner has them, or their outcome was written before. */
  readonly missed: number[] = [];
  readonly throughput = new CrawlThroughput();
  readonly #deltas = new Map<number, Required<CounterChange>>();
  #last: { stream: number; delta: Required<CounterChange> } | null = null;

  move(from: number, to: number, state: TaskState, unfetched: boolean): void {
    this.add(from, "running", -1);
    this.add(to, state, 1);
    if (unfetched) this.add(to, "unfetched", 1);
  }

  /** For tasks that are not claimed. */
  shift(from: number, before: TaskState, to: number, after: TaskState, count = 1): void {
    this.add(from, before, -count);
    this.add(to, after, count);
  }

  add(stream: number, state: TaskState | "unfetched", by: number): void {
    // Most of a batch belongs to one stream: saves the map lookup.
    let delta = stream === this.#last?.stream ? this.#last.delta : this.#deltas.get(stream);
    if (delta === undefined) this.#deltas.set(stream, (delta = { ...NO_TASKS, unfetched: 0 }));
    if (stream !== this.#last?.stream) this.#last = { stream, delta };
    delta[state] += by;
  }

  /** Writes the counters and returns what they affect. */
  apply(context: Context): CounterEffects {
    // In order of id, like every writer: with row locks this prevents deadlocks.
    return changeAllCounters(
      context,
      [...this.#deltas].toSorted((a, b) => a[0] - b[0]),
    );
  }
}
