/** What the spans of a page cost by themselves: made, written and sent, around a handler that does nothing else. */
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { inSpan } from "../../src/base/tracing.ts";
import { Telemetry } from "../../src/telemetry/telemetry.ts";

const RUN_ID = "66bfb1bf-4a82-8004-8000-000000000001";
const RUN = { id: RUN_ID, parent: null, facts: {}, generation: 1 };
const AT_ONCE = 32;

type TaskTracer = NonNullable<Telemetry["tasks"]>;
type Handler = NonNullable<ReturnType<ReturnType<TaskTracer["around"]>>>;
type Task = Parameters<Handler["run"]>[0];
type Settled = Parameters<NonNullable<Handler["onWritten"]>>[0];

const handler = {
  strategy: "http",
  async run({ url }: Task) {
    const page = { status: 200, url: url ?? "", size: 900 };
    await inSpan(
      "fetch",
      async () => page,
      (got) => ({
        "orb.strategy": "http",
        "http.response.status_code": got.status,
        "url.full": got.url,
        "http.response.body.size": got.size,
      }),
    );
    await inSpan(
      "extract",
      async () => 1,
      (records) => ({ "orb.records": records }),
    );
    return { kind: "completed", httpStatus: page.status };
  },
} as unknown as Handler;

/** Microseconds of processor time a page. */
export async function costOfSpans(endpoint: string, pages: number): Promise<number> {
  const settings = {
    endpoint,
    protocol: "http/protobuf" as const,
    headers: {},
    timeoutMs: 10_000,
    compress: false,
    resource: { "service.name": "orbweaver" },
    sampler: "parentbased_always_on" as const,
    ratio: 1,
    tasksPerSecond: 0,
    traces: true,
    metrics: false,
    metricsEveryMs: 60_000,
    version: "bench",
    userAgent: "orb-bench",
  };
  await using telemetry = new Telemetry(settings, {
    clock: systemClock,
    log: silentLog,
    store: { run: async () => RUN } as never,
  });
  const traced = telemetry.tasks!.around(() => handler)("page")!;
  const crawl = async (one: Handler) => {
    const before = process.cpuUsage();
    for (let first = 0; first < pages; first += AT_ONCE) {
      const tasks = Array.from({ length: AT_ONCE }, (_, index) => taskOf(first + index));
      await Promise.all(tasks.map((task) => one.run(task, {} as never)));
      // As long as a commit: spans are sent meanwhile.
      await new Promise(setImmediate);
      for (const task of tasks) one.onWritten?.(settledOf(task));
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / pages;
  };
  await crawl(traced);
  return (await crawl(traced)) - (await crawl(handler));
}

const taskOf = (page: number) =>
  ({
    id: `66bfb1bf-4a82-8004-8000-${page.toString(16).padStart(12, "0")}`,
    runId: RUN_ID,
    generation: 1,
    url: `http://127.0.0.1:34567/${page}`,
    nextUrl: null,
    attempts: [],
    site: "127.0.0.1:34567",
  }) as unknown as Task;

const settledOf = (task: Task) =>
  ({
    task,
    attempt: { started_at: "2026-01-01T00:00:00.000Z" },
    verdict: { kind: "completed" },
  }) as unknown as Settled;
