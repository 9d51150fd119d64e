import { NO_TASKS } from "../../../domain/run/run-end.ts";
import type { TaskState } from "../../../domain/run/states.ts";
import type { Context } from "../kernel/context.ts";
import { changeAllCounters, type Counted, type CounterChange } from "../kernel/counters.ts";
import { CrawlThroughput } from "../crawls/crawl-throughput.ts";

/** Counter changes, gathered so that each stream's row is written once per transaction. */
export class CounterDeltas {
  /** Tasks (by row) that were not there to be written: somebody else has them, or their outcome was written before. */
  readonly missed: number[] = [];
  readonly pace = new CrawlThroughput();
  readonly #deltas = new Map<number, Required<CounterChange>>();
  #last: { stream: number; delta: Required<CounterChange> } | null = null;

  move(from: number, to: number, state: TaskState, unfetched: boolean): void {
    this.add(from, "running", -1);
    this.add(to, state, 1);
    if (unfetched) this.add(to, "unfetched", 1);
  }

  /** Of tasks that nobody has in hand. */
  shift(from: number, before: TaskState, to: number, after: TaskState, count = 1): void {
    this.add(from, before, -count);
    this.add(to, after, count);
  }

  add(stream: number, state: TaskState | "unfetched", by: number): void {
    // Most of a batch belongs to one stream.
    let delta = stream === this.#last?.stream ? this.#last.delta : this.#deltas.get(stream);
    if (delta === undefined) this.#deltas.set(stream, (delta = { ...NO_TASKS, unfetched: 0 }));
    if (stream !== this.#last?.stream) this.#last = { stream, delta };
    delta[state] += by;
  }

  /** Writes the counters and says what was touched. */
  apply(context: Context): Counted {
    // In order of id, as every writer does it: on a store with row locks this is what prevents deadlocks.
    return changeAllCounters(
      context,
      [...this.#deltas].toSorted((a, b) => a[0] - b[0]),
    );
  }
}
