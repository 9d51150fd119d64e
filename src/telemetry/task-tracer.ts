/** Spans of tasks: the task, its attempts, what happens within them, and the write of the outcome. */
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { systemRandom } from "../base/random.ts";
import { type SpanAttributes, type SpanParent, withSpanParent } from "../base/tracing.ts";
import {
  formatTraceparent,
  type SpanId,
  spanId,
  spanIdOfRun,
  spanIdOfTask,
  textOfSpanId,
} from "../domain/run/trace-context.ts";
import { STEP_HANDLER } from "../domain/workflow/definition.ts";
import { shownUrl } from "../domain/text/url.ts";
import type { Asleep, HandlerLookup, TaskHandler } from "../lanes/handlers/handler.ts";
import type { Handled } from "../domain/run/outcome.ts";
import type { ClaimedTask, SettledTask } from "../store/ports/port.ts";
import type { RunTrace, RunTraces } from "./run-traces.ts";
import type { TaskLimit } from "./task-limit.ts";
import type { Span } from "./span.ts";

interface TaskTracerDeps {
  clock: Clock;
  traces: RunTraces;
  /** Tasks that may be traced in full now. */
  limit: TaskLimit;
  add: (span: Span) => void;
}

interface Traced {
  traceId: string;
  endedMs: number;
}

/** The site is asked, and our own work is done, within these; the field names are those of OpenTelemetry. */
const CLIENT_SPANS = new Set(["fetch"]);

/** Beyond the limit, attempts with other verdicts still have spans. */
const PLAIN = new Set(["completed", "skipped", "handed_back", "moved"]);
/** Beyond this, a task that was handed back may lose the spans of its next attempt. */
const MOST_HANDED_BACK = 1000;
const ENDS_TASK = new Set(["completed", "skipped", "failed"]);
const NOTHING: SpanAttributes = {};

/** Five spans a page, thousands of pages a second: what is done here for each of them is kept small (`npm run bench -- crawl --part telemetry`). */
export class TaskTracer {
  readonly #deps: TaskTracerDeps;
  /** Tasks whose outcome is not written yet. */
  readonly #traced = new WeakMap<ClaimedTask, Traced>();
  readonly #newSpanId = spanIds();
  /** Ids of tasks that were traced and then handed back: their next attempt looks like the first. */
  readonly #handedBack = new Set<string>();
  #thinned = 0;
  /** Of the last task: mostly that of the next one, too. */
  #run = { id: "", generation: 0, spanId: spanId(0, 0) };

  constructor(deps: TaskTracerDeps) {
    this.#deps = deps;
  }

  /** Tasks without spans, because the limit was reached. */
  get thinned(): number {
    return this.#thinned;
  }

  /** The same handlers, traced. */
  around(lookup: HandlerLookup): HandlerLookup {
    const wrapped = new WeakMap<TaskHandler, TaskHandler>();
    return (name) => {
      const handler = lookup(name);
      if (handler === undefined) return undefined;
      let traced = wrapped.get(handler);
      if (traced === undefined) wrapped.set(handler, (traced = this.#wrap(handler, name === STEP_HANDLER)));
      return traced;
    };
  }

  /** `always`: the limit does not apply. Steps of workflows are few, and what they call gets the `traceparent`. */
  #wrap(handler: TaskHandler, always: boolean): TaskHandler {
    return {
      strategy: handler.strategy,
      run: (task, context) => {
        const trace = this.#deps.traces.of(task.runId);
        const attempt = (found: RunTrace | null) => {
          const work = () => handler.run(task, context);
          if (found?.isSampled !== true) return work();
          // What a traced attempt began is traced to its end.
          const isBegun = task.attempts.length > 0 || task.nextUrl !== null || this.#handedBack.delete(task.id);
          const isFull = always || found.isOfPage || isBegun || this.#deps.limit.take();
          return isFull ? this.#attempt(found.traceId, task, handler.strategy, work) : work();
        };
        return trace instanceof Promise ? trace.then(attempt) : attempt(trace);
      },
      ...(handler.retryRules === undefined ? {} : { retryRules: (usual) => handler.retryRules!(usual) }),
      ...(handler.onFailed === undefined ? {} : { onFailed: (task, failure) => handler.onFailed!(task, failure) }),
      onWritten: (settled) => {
        this.#written(settled);
        handler.onWritten?.(settled);
      },
    };
  }

  async #attempt(
    traceId: string,
    task: ClaimedTask,
    strategy: string,
    work: () => Promise<Handled | Asleep>,
  ): Promise<Handled | Asleep> {
    const { clock, add } = this.#deps;
    const attempt = new AttemptSpan(traceId, this.#newSpanId(), clock, add, this.#newSpanId);
    let ended: Handled | Asleep | null = null;
    let error: unknown;
    try {
      return (ended = await withSpanParent(attempt, work));
    } catch (thrown) {
      error = thrown;
      throw thrown;
    } finally {
      const endMs = attempt.time();
      add({
        traceId,
        spanId: attempt.spanId,
        parentSpanId: spanIdOfTask(task.id, task.generation),
        name: "attempt",
        kind: "internal",
        startMs: attempt.startMs,
        endMs,
        attributes: aboutAttempt(task, ended, strategy),
        error: problemOf(error ?? failureOf(ended)),
      });
      this.#traced.set(task, { traceId, endedMs: endMs });
    }
  }

  /** The outcome is committed: the write, and with the last attempt the task itself. */
  #written(settled: SettledTask): void {
    const { task, attempt, verdict } = settled;
    const traced = this.#traced.get(task) ?? this.#thin(settled);
    if (traced === null) return;
    this.#traced.delete(task);
    if (verdict.kind === "handed_back") this.#remember(task.id);
    const { clock, add } = this.#deps;
    const { traceId, endedMs } = traced;
    const taskSpanId = spanIdOfTask(task.id, task.generation);
    const nowMs = clock.now();
    add({
      traceId,
      spanId: this.#newSpanId(),
      parentSpanId: taskSpanId,
      name: "settle",
      kind: "internal",
      startMs: endedMs,
      endMs: nowMs,
      attributes: NOTHING,
      error: null,
    });
    if (!ENDS_TASK.has(verdict.kind)) return;
    const first = task.attempts[0]?.started_at ?? attempt?.started_at;
    const isFailed = verdict.kind === "failed";
    add({
      traceId,
      spanId: taskSpanId,
      parentSpanId: this.#spanIdOfRun(task.runId, task.generation),
      name: "task",
      kind: "internal",
      startMs: first === undefined ? endedMs : Date.parse(first),
      endMs: nowMs,
      attributes: {
        "url.full": urlOf(task),
        "orb.run.id": task.runId,
        "orb.task.id": task.id,
        "orb.task.outcome": verdict.kind,
        "orb.task.attempts": task.attempts.length + (attempt === null ? 0 : 1),
        "orb.site": task.site,
        "error.type": isFailed ? verdict.failure.reason : undefined,
      },
      error: isFailed ? verdict.failure.message : null,
    });
  }

  /** A task beyond the limit: if it fails, its attempt gets a span now, from its record. Null: it has no spans. */
  #thin({ task, attempt, verdict }: SettledTask): Traced | null {
    const trace = this.#deps.traces.of(task.runId);
    if (trace instanceof Promise || trace?.isSampled !== true) return null;
    if (attempt === null || PLAIN.has(verdict.kind)) {
      // A task that was given up was never tried.
      if (attempt !== null && ENDS_TASK.has(verdict.kind)) this.#thinned += 1;
      return null;
    }
    const { traceId } = trace;
    const startMs = Date.parse(attempt.started_at);
    const endedMs = startMs + attempt.duration_ms;
    const failure = "failure" in verdict ? verdict.failure : null;
    this.#deps.add({
      traceId,
      spanId: this.#newSpanId(),
      parentSpanId: spanIdOfTask(task.id, task.generation),
      name: "attempt",
      kind: "internal",
      startMs,
      endMs: endedMs,
      attributes: {
        "url.full": urlOf(task),
        "orb.attempt": task.attempts.length + 1,
        "orb.outcome": verdict.kind === "retry" ? "failed" : verdict.kind,
        "orb.strategy": attempt.strategy,
        "http.response.status_code": attempt.http_status,
        "error.type": failure?.reason,
      },
      error: failure?.message ?? null,
    });
    return { traceId, endedMs };
  }

  #remember(taskId: string): void {
    if (this.#handedBack.size >= MOST_HANDED_BACK) this.#handedBack.delete(this.#handedBack.values().next().value!);
    this.#handedBack.add(taskId);
  }

  #spanIdOfRun(id: string, generation: number): SpanId {
    if (this.#run.id !== id || this.#run.generation !== generation)
      this.#run = { id, generation, spanId: spanIdOfRun(id, generation) };
    return this.#run.spanId;
  }
}

class AttemptSpan implements SpanParent {
  readonly traceId: string;
  readonly spanId: SpanId;
  readonly startMs: number;
  readonly #clock: Clock;
  readonly #add: (span: Span) => void;
  readonly #newSpanId: () => SpanId;
  /** From the monotonic clock to that of the wall: spans of an attempt fit together even if the latter jumps. */
  readonly #offset: number;

  constructor(traceId: string, spanId: SpanId, clock: Clock, add: (span: Span) => void, newSpanId: () => SpanId) {
    this.traceId = traceId;
    this.spanId = spanId;
    this.startMs = clock.now();
    this.#clock = clock;
    this.#add = add;
    this.#newSpanId = newSpanId;
    this.#offset = this.startMs - clock.monotonic();
  }

  get traceparent(): string {
    return formatTraceparent({ traceId: this.traceId, spanId: textOfSpanId(this.spanId), sampled: true });
  }

  time(): number {
    return this.#clock.monotonic() + this.#offset;
  }

  add(name: string, begun: number, attributes: SpanAttributes = NOTHING, error: unknown): void {
    this.#add({
      traceId: this.traceId,
      spanId: this.#newSpanId(),
      parentSpanId: this.spanId,
      name,
      kind: CLIENT_SPANS.has(name) ? "client" : "internal",
      startMs: begun,
      endMs: this.time(),
      attributes,
      error: problemOf(error),
    });
  }
}

/** From a random start on: a random number for every span would cost more. Two processes with the same start would need luck, once in 2^32. */
function spanIds(): () => SpanId {
  const start = systemRandom.uuid().replaceAll("-", "");
  let high = Number.parseInt(start.slice(0, 8), 16) | 0;
  let low = Number.parseInt(start.slice(24), 16) | 0;
  return () => {
    // Each value once in 2^32 spans, and far from the last.
    low = (low + 0x9e3779b9) | 0;
    if (low === 0) high = (high + 1) | 0;
    return spanId(high, low);
  };
}

const problemOf = (error: unknown) => (error === undefined || error === null ? null : messageOf(error));

function urlOf(task: ClaimedTask): string | null {
  const url = task.nextUrl ?? task.url;
  return url === null ? null : shownUrl(url);
}

function aboutAttempt(task: ClaimedTask, ended: Handled | Asleep | null, strategy: string): SpanAttributes {
  const url = urlOf(task);
  const number = task.attempts.length + 1;
  if (ended === null || ended.kind === "asleep")
    return { "url.full": url, "orb.attempt": number, "orb.outcome": ended?.kind ?? "error" };
  const isFailed = "failure" in ended;
  const status = isFailed ? ended.failure.httpStatus : ended.kind === "handed_back" ? undefined : ended.httpStatus;
  return {
    "url.full": url,
    "orb.attempt": number,
    "orb.outcome": ended.kind,
    "orb.strategy": ended.report?.strategy ?? strategy,
    "http.response.status_code": status,
    "error.type": isFailed ? ended.failure.reason : undefined,
  };
}

function failureOf(ended: Handled | Asleep | null): unknown {
  return ended !== null && "failure" in ended ? new Error(ended.failure.message) : undefined;
}
