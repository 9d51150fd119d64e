import { type SpanId, spanIdFrom, spanIdOfTask, traceIdOfRun } from "../domain/run/trace-context.ts";
import type { Store } from "../store/ports/port.ts";
import type { RunRecord } from "../store/records/run-records.ts";

/** The trace of a run. */
export interface RunTrace {
  traceId: string;
  /** The span that the run belongs to: of the caller, or of the workflow step that started it; null: none. */
  parentSpanId: SpanId | null;
  isSampled: boolean;
  /** It has a page of its own, and no others. */
  isOfPage: boolean;
}

const MOST_KEPT = 2000;
/** Workflows that start workflows: deeper ones are traces of their own. */
const MOST_PARENTS = 10;

/** Which trace each run belongs to; read once per run. */
export class RunTraces {
  readonly #store: Pick<Store, "run">;
  readonly #decide: (traceId: string, inherited: boolean | null) => boolean;
  readonly #kept = new Map<string, RunTrace | Promise<RunTrace | null>>();

  constructor(store: Pick<Store, "run">, decide: (traceId: string, inherited: boolean | null) => boolean) {
    this.#store = store;
    this.#decide = decide;
  }

  /** Null: there is no such run. No promise: it is known, as for most tasks. */
  of(runId: string): RunTrace | Promise<RunTrace | null> {
    const kept = this.#kept.get(runId);
    if (kept !== undefined) return kept;
    const found = this.#read(runId).then(
      (trace) => {
        if (trace !== null && this.#kept.has(runId)) this.#kept.set(runId, trace);
        return trace;
      },
      () => {
        // The database is unavailable: not traced now, and read again for the next task.
        this.#kept.delete(runId);
        return null;
      },
    );
    if (this.#kept.size >= MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    this.#kept.set(runId, found);
    return found;
  }

  async #read(runId: string, parents = 0): Promise<RunTrace | null> {
    const run = await this.#store.run(runId);
    return run === null ? null : this.#traceOf(run, parents);
  }

  async #traceOf(run: RunRecord, parents: number): Promise<RunTrace> {
    const isOfPage = run.kind === "page";
    if (run.parent !== null && parents < MOST_PARENTS) {
      const parent = await this.#store.run(run.parent.runId);
      if (parent !== null) {
        const above = await this.#traceOf(parent, parents + 1);
        return { ...above, isOfPage, parentSpanId: spanIdOfTask(run.parent.taskId, parent.generation) };
      }
    }
    const { trace } = run.facts;
    const traceId = trace?.trace_id ?? traceIdOfRun(run.id);
    return {
      traceId,
      parentSpanId: trace === undefined ? null : spanIdFrom(trace.span_id),
      isOfPage,
      isSampled: this.#decide(traceId, trace === undefined ? null : trace.sampled),
    };
  }
}
