import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { currentTraceparent, inSpan } from "../../src/base/tracing.ts";
import type { Handled } from "../../src/domain/run/outcome.ts";
import { textOfSpanId } from "../../src/domain/run/trace-context.ts";
import { RunTraces } from "../../src/telemetry/run-traces.ts";
import type { Span } from "../../src/telemetry/span.ts";
import { TaskLimit } from "../../src/telemetry/task-limit.ts";
import { TaskTracer } from "../../src/telemetry/task-tracer.ts";
import { FakeClock } from "../support/fake-clock.ts";

const RUN_ID = "66bfb1bf-4a82-8004-8000-000000000001";

type Handler = NonNullable<ReturnType<ReturnType<TaskTracer["around"]>>>;
type Task = Parameters<Handler["run"]>[0];
type Settled = Parameters<NonNullable<Handler["onWritten"]>>[0];

/** A worker whose handlers are traced, on a clock that stands still. */
class TracedWorker {
  readonly clock = new FakeClock();
  readonly spans: Span[] = [];
  /** The `traceparent` within each attempt. */
  readonly seen: (string | null)[] = [];
  readonly tracer: TaskTracer;
  readonly #lookup: ReturnType<TaskTracer["around"]>;
  #tasks = 0;

  constructor(perSecond: number, kind = "crawl") {
    const limit = new TaskLimit(perSecond, this.clock);
    const run = { id: RUN_ID, kind, parent: null, facts: {}, generation: 1 };
    const traces = new RunTraces({ run: async () => run } as never, () => true);
    const add = (span: Span) => void this.spans.push(span);
    const handler = {
      strategy: "http",
      run: ({ url }: Task) => {
        this.seen.push(currentTraceparent());
        return inSpan("fetch", async () => endOf(url ?? ""));
      },
    } as unknown as Handler;
    const step = { ...handler };
    this.tracer = new TaskTracer({ clock: this.clock, traces, limit, add });
    this.#lookup = this.tracer.around((name) => (name === "@step" ? step : handler));
  }

  /** One attempt, its outcome written. */
  async work(
    path: string,
    { handler = "@page", attempts = [] as object[], nextUrl = null as string | null, id = this.#newId() } = {},
  ) {
    const url = `https://site.example${path}`;
    const task = { id, runId: RUN_ID, generation: 1, url, nextUrl, attempts, site: "site.example" } as unknown as Task;
    const traced = this.#lookup(handler)!;
    const verdict = await traced.run(task, {} as never);
    const attempt = { started_at: new Date(this.clock.now()).toISOString(), duration_ms: 5, strategy: "http" };
    traced.onWritten?.({ task, attempt, verdict } as unknown as Settled);
  }

  #newId(): string {
    this.#tasks += 1;
    return `66bfb1bf-4a82-8004-8000-${this.#tasks.toString(16).padStart(12, "0")}`;
  }

  named(name: string): Span[] {
    return this.spans.filter((span) => span.name === name);
  }

  /** The attempts without a span of their task. */
  orphans(): string[] {
    const tasks = new Set(this.named("task").map(({ spanId }) => textOfSpanId(spanId)));
    return pathsOf(this.named("attempt").filter(({ parentSpanId }) => !tasks.has(textOfSpanId(parentSpanId!))));
  }
}

function endOf(url: string): Handled {
  const path = new URL(url).pathname;
  if (path === "/later") return { kind: "handed_back", why: "the site is paused" };
  if (path === "/moved") return { kind: "moved", url: "https://other.example/", redirects: [] };
  if (path !== "/broken") return { kind: "completed", httpStatus: 200 } as unknown as Handled;
  return { kind: "failed", failure: { reason: "http_error", message: "it answered 500", httpStatus: 500 } } as never;
}

const pathsOf = (spans: readonly Span[]) =>
  spans.map(({ attributes }) => new URL(`${attributes["url.full"]}`).pathname);

describe("an operator whose crawl is faster than the limit of traced tasks", () => {
  test("sees as many pages a second as the limit says, in full", async () => {
    const worker = new TracedWorker(3);
    await worker.clock.advance(60_000);
    for (let page = 0; page < 10; page += 1) await worker.work(`/${page}`);
    assert.deepEqual(pathsOf(worker.named("task")), ["/0", "/1", "/2"]);
    assert.deepEqual([worker.spans.length, worker.tracer.thinned], [12, 7]);
    await worker.clock.advance(340);
    for (let page = 10; page < 15; page += 1) await worker.work(`/${page}`);
    assert.deepEqual(pathsOf(worker.named("task")), ["/0", "/1", "/2", "/10"]);
    await worker.clock.advance(60_000);
    for (let page = 15; page < 30; page += 1) await worker.work(`/${page}`);
    assert.deepEqual(pathsOf(worker.named("task")), ["/0", "/1", "/2", "/10", "/15", "/16", "/17"]);
    assert.equal(worker.seen.filter((traceparent) => traceparent !== null).length, 7);
  });

  test("sees every page that fails or is tried again", async () => {
    const worker = new TracedWorker(1);
    await worker.work("/first");
    await worker.work("/broken");
    await worker.work("/moved");
    await worker.work("/again", { attempts: [{ started_at: "2030-01-01T00:00:00.000Z" }] });
    await worker.work("/old", { nextUrl: "https://site.example/new" });
    assert.deepEqual(pathsOf(worker.named("task")), ["/first", "/broken", "/again", "/new"]);
    assert.deepEqual(pathsOf(worker.named("attempt")), ["/first", "/broken", "/again", "/new"]);
    const broken = worker.named("attempt")[1]!;
    assert.deepEqual([broken.error, broken.endMs - broken.startMs], ["it answered 500", 5]);
    assert.deepEqual(worker.orphans(), []);
  });

  test("sees the end of each page that was seen before it was handed back, and of no other", async () => {
    const worker = new TracedWorker(1);
    await worker.work("/later", { id: RUN_ID });
    await worker.work("/done", { id: RUN_ID });
    const other = RUN_ID.replace(/1$/, "2");
    await worker.work("/later", { id: other });
    await worker.work("/done", { id: other });
    assert.deepEqual(pathsOf(worker.named("task")), ["/done"]);
    assert.deepEqual(pathsOf(worker.named("attempt")), ["/later", "/done"]);
    assert.deepEqual([worker.orphans(), worker.tracer.thinned], [[], 1]);
  });

  test("sees each page that was asked for alone", async () => {
    const worker = new TracedWorker(1, "page");
    for (let page = 0; page < 10; page += 1) await worker.work(`/${page}`);
    assert.equal(worker.named("task").length, 10);
  });

  test("sees every step of a workflow, and what it calls gets the trace", async () => {
    const worker = new TracedWorker(1);
    for (let step = 0; step < 5; step += 1) await worker.work(`/${step}`, { handler: "@step" });
    assert.equal(worker.named("task").length, 5);
    assert.ok(worker.seen.every((traceparent) => traceparent !== null));
    assert.equal(worker.tracer.thinned, 0);
  });

  test("sees all pages without a limit", async () => {
    const worker = new TracedWorker(0);
    for (let page = 0; page < 500; page += 1) await worker.work(`/${page}`);
    assert.equal(worker.named("task").length, 500);
  });
});
