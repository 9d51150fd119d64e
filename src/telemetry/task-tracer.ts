/** Spans of tasks: the task, its attempts, what happens within them, and the write of the outcome. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { type OpenSpan, type SpanAttributes, type SpanParent, withSpanParent } from "../base/tracing.ts";
import { formatTraceparent, spanIdOfRun, spanIdOfTask } from "../domain/run/trace-context.ts";
import { shownUrl } from "../domain/text/url.ts";
import type { Asleep, HandlerLookup, TaskHandler } from "../lanes/handlers/handler.ts";
import type { Handled } from "../domain/run/outcome.ts";
import type { ClaimedTask, SettledTask } from "../store/ports/port.ts";
import type { RunTrace, RunTraces } from "./run-traces.ts";
import type { Span } from "./span.ts";

interface TaskTracerDeps {
  clock: Clock;
  traces: RunTraces;
  add: (span: Span) => void;
}

interface Traced {
  trace: RunTrace;
  endedMs: number;
}

/** The site is asked, and our own work is done, within these; the field names are those of OpenTelemetry. */
const CLIENT_SPANS = new Set(["fetch"]);

const ENDS_TASK = new Set(["completed", "skipped", "failed"]);

export class TaskTracer {
  readonly #deps: TaskTracerDeps;
  /** Tasks whose outcome is not written yet. */
  readonly #traced = new WeakMap<ClaimedTask, Traced>();

  constructor(deps: TaskTracerDeps) {
    this.#deps = deps;
  }

  /** The same handlers, traced. */
  around(lookup: HandlerLookup): HandlerLookup {
    const wrapped = new WeakMap<TaskHandler, TaskHandler>();
    return (name) => {
      const handler = lookup(name);
      if (handler === undefined) return undefined;
      let traced = wrapped.get(handler);
      if (traced === undefined) wrapped.set(handler, (traced = this.#wrap(handler)));
      return traced;
    };
  }

  #wrap(handler: TaskHandler): TaskHandler {
    return {
      strategy: handler.strategy,
      run: (task, context) => this.#attempt(task, handler.strategy, () => handler.run(task, context)),
      ...(handler.retryRules === undefined ? {} : { retryRules: (usual) => handler.retryRules!(usual) }),
      ...(handler.onFailed === undefined ? {} : { onFailed: (task, failure) => handler.onFailed!(task, failure) }),
      onWritten: (settled) => {
        this.#written(settled);
        handler.onWritten?.(settled);
      },
    };
  }

  async #attempt(
    task: ClaimedTask,
    strategy: string,
    work: () => Promise<Handled | Asleep>,
  ): Promise<Handled | Asleep> {
    const trace = await this.#deps.traces.of(task.runId);
    if (trace === null || !trace.isSampled) return work();
    const taskSpanId = spanIdOfTask(task.id, task.generation);
    const span = this.#open(trace.traceId, taskSpanId, "attempt");
    let ended: Handled | Asleep | null = null;
    let error: unknown;
    try {
      return (ended = await withSpanParent(span.parent, work));
    } catch (thrown) {
      error = thrown;
      throw thrown;
    } finally {
      const about = { ...urlOf(task), "orb.attempt": task.attempts.length + 1, ...aboutEnd(ended, strategy) };
      span.end(about, error ?? failureOf(ended));
      this.#traced.set(task, { trace, endedMs: this.#deps.clock.now() });
    }
  }

  #open(traceId: string, parentSpanId: string, name: string, given: SpanAttributes = {}): OpenSpan {
    const { clock, add } = this.#deps;
    const spanId = newSpanId();
    const startMs = clock.now();
    const begun = clock.monotonic();
    const parent: SpanParent = {
      traceparent: formatTraceparent({ traceId, spanId, sampled: true }),
      open: (child, attributes) => this.#open(traceId, spanId, child, attributes),
    };
    return {
      parent,
      end: (attributes = {}, error) => {
        const endMs = startMs + (clock.monotonic() - begun);
        const kind = CLIENT_SPANS.has(name) ? "client" : "internal";
        const all = { ...given, ...attributes };
        const problem = error === undefined || error === null ? null : messageOf(error);
        add({ traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes: all, error: problem });
      },
    };
  }

  /** The outcome is committed: the write, and with the last attempt the task itself. */
  #written({ task, attempt, verdict }: SettledTask): void {
    const traced = this.#traced.get(task);
    if (traced === undefined) return;
    this.#traced.delete(task);
    const { clock, add } = this.#deps;
    const { traceId } = traced.trace;
    const nowMs = clock.now();
    const spanId = spanIdOfTask(task.id, task.generation);
    const common = { traceId, kind: "internal", error: null } as const;
    const written = newSpanId();
    add({
      ...common,
      spanId: written,
      parentSpanId: spanId,
      name: "settle",
      startMs: traced.endedMs,
      endMs: nowMs,
      attributes: {},
    });
    if (!ENDS_TASK.has(verdict.kind)) return;
    const first = task.attempts[0]?.started_at ?? attempt?.started_at;
    const error = verdict.kind === "failed" ? verdict.failure.message : null;
    const attributes = {
      ...urlOf(task),
      "orb.run.id": task.runId,
      "orb.task.id": task.id,
      "orb.task.outcome": verdict.kind,
      "orb.task.attempts": task.attempts.length + (attempt === null ? 0 : 1),
      "orb.site": task.site,
      ...(verdict.kind === "failed" ? { "error.type": verdict.failure.reason } : {}),
    };
    const startMs = first === undefined ? traced.endedMs : Date.parse(first);
    const parentSpanId = spanIdOfRun(task.runId, task.generation);
    add({ ...common, spanId, parentSpanId, name: "task", startMs, endMs: nowMs, attributes, error });
  }
}

/** The last 16 digits of a UUID, 62 of their bits random: Node makes them in advance, and `randomBytes` costs a call each. */
function newSpanId(): string {
  const uuid = randomUUID();
  return uuid.slice(19, 23) + uuid.slice(24);
}

function urlOf(task: ClaimedTask): SpanAttributes {
  const url = task.nextUrl ?? task.url;
  return url === null ? {} : { "url.full": shownUrl(url) };
}

function aboutEnd(ended: Handled | Asleep | null, strategy: string): SpanAttributes {
  if (ended === null || ended.kind === "asleep") return { "orb.outcome": ended?.kind ?? "error" };
  const status =
    "failure" in ended ? ended.failure.httpStatus : ended.kind === "handed_back" ? undefined : ended.httpStatus;
  return {
    "orb.outcome": ended.kind,
    "orb.strategy": ended.report?.strategy ?? strategy,
    "http.response.status_code": status,
    ...("failure" in ended ? { "error.type": ended.failure.reason } : {}),
  };
}

function failureOf(ended: Handled | Asleep | null): unknown {
  return ended !== null && "failure" in ended ? new Error(ended.failure.message) : undefined;
}
