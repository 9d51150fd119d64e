import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { messageOf } from "../base/errors.ts";
import { formatTraceparent, spanIdOfRun, textOfSpanId } from "../domain/run/trace-context.ts";
import { TERMINAL_RUN_STATES } from "../domain/run/states.ts";
import { shownUrl } from "../domain/text/url.ts";
import { followAll } from "../events/follow.ts";
import type { Store } from "../store/ports/port.ts";
import type { RunTraces } from "./run-traces.ts";
import type { Span } from "./span.ts";

interface RunTracerDeps {
  store: Store;
  clock: Clock;
  log: Log;
  traces: RunTraces;
  add: (span: Span) => void;
}

/**
 * Spans of runs, made when they end, by whatever process. One process does this, from its start on: a run that ends while
 * none does has no span of its own, and its tasks still share its trace.
 */
export class RunTracer {
  readonly #deps: RunTracerDeps;
  #stop: AbortController | null = null;
  #following: Promise<void> = Promise.resolve();

  constructor(deps: RunTracerDeps) {
    this.#deps = deps;
  }

  /** Null: there is no such run, or it is not traced. */
  readonly traceparentOf = async (runId: string): Promise<string | null> => {
    const run = await this.#deps.store.run(runId);
    const trace = run === null ? null : await this.#deps.traces.of(runId);
    if (run === null || trace === null) return null;
    const spanId = textOfSpanId(spanIdOfRun(runId, run.generation));
    return formatTraceparent({ traceId: trace.traceId, spanId, sampled: trace.isSampled });
  };

  start(): void {
    if (this.#stop !== null) return;
    this.#stop = new AbortController();
    this.#following = this.#follow(this.#stop.signal);
  }

  async stop(): Promise<void> {
    this.#stop?.abort();
    this.#stop = null;
    await this.#following;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    try {
      for await (const event of followAll(this.#deps, null, signal, { ends: true })) await this.#end(event.runId);
    } catch (error) {
      this.#deps.log.warn("runs are no longer traced by this process", { error: messageOf(error) });
    }
  }

  async #end(runId: string): Promise<void> {
    const { store, traces, add } = this.#deps;
    const run = await store.run(runId);
    if (run === null || run.finishedAt === null || !TERMINAL_RUN_STATES.includes(run.status)) return;
    const trace = await traces.of(runId);
    if (trace === null || !trace.isSampled) return;
    add({
      traceId: trace.traceId,
      spanId: spanIdOfRun(run.id, run.generation),
      parentSpanId: trace.parentSpanId,
      name: `run ${run.kind}`,
      kind: "internal",
      startMs: run.generation > 1 ? (run.startedAt ?? run.createdAt) : run.createdAt,
      endMs: run.finishedAt,
      attributes: {
        "orb.run.id": run.id,
        "orb.run.kind": run.kind,
        "orb.run.name": run.name,
        "orb.run.status": run.status,
        "orb.run.generation": run.generation,
        "orb.job.id": run.jobId,
        "url.full": run.url === null ? null : shownUrl(run.url),
        "error.type": run.facts.failure_reason,
      },
      error: run.status === "failed" ? (run.message ?? "the run failed") : null,
    });
  }
}
