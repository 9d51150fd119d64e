import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatTraceparent, parseTraceparent } from "../../src/domain/run/trace-context.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { firstTimes, json, page, status } from "../support/misbehaviours.ts";
import { TestServer } from "../jobs/kit.ts";
import { Collector, type ReceivedSpan } from "./collector.ts";

const CALLER = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true };

const only = (list: readonly ReceivedSpan[], what: string): ReceivedSpan => {
  assert.equal(list.length, 1, what);
  return list[0]!;
};

describe("an operator with an OpenTelemetry collector", () => {
  test("sees a page from the run to the write of its outcome, in one trace with the caller, and the metrics", async () => {
    await using collector = await Collector.start();
    await using site = await MisbehavingSite.start({ "/": firstTimes(1, status(503), page("<h1>Hello</h1>")) });
    await using server = await TestServer.open({
      ...collector.env,
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20b",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test",
    });
    const body = { target_url: site.url("/?token=secret"), fields: { title: "h1" }, strategy: "http" };
    const answer = await server.api.post("/runs", body, { traceparent: formatTraceparent(CALLER) });
    assert.equal(answer.status, 201, answer.text);
    const { id } = answer.json<{ id: string }>();
    assert.equal((await server.ended(id)).status, "completed");
    await collector.until(
      () => collector.named("run page").length > 0 && collector.named("task").length > 0,
      "the run",
    );
    await collector.until(() => collector.metrics.has("orb_queue_items"), "metrics");

    const run = only(collector.named("run page"), "one span of the run");
    assert.deepEqual([run.traceId, run.parentSpanId], [CALLER.traceId, CALLER.spanId]);
    assert.deepEqual([run.attributes["orb.run.id"], run.attributes["orb.run.status"]], [id, "completed"]);
    const task = only(collector.named("task"), "one span of the task");
    assert.equal(task.parentSpanId, run.spanId);
    assert.equal(task.attributes["orb.task.attempts"], 2);
    const attempts = collector.named("attempt");
    assert.deepEqual(
      attempts.map(({ parentSpanId, isError, attributes }) => [parentSpanId, isError, attributes["orb.outcome"]]),
      [
        [task.spanId, true, "failed"],
        [task.spanId, false, "completed"],
      ],
    );
    const fetches = collector.named("fetch");
    assert.deepEqual(
      fetches.map(({ attributes }) => attributes["http.response.status_code"]),
      [503, 200],
    );
    const parents = attempts.map(({ spanId }) => spanId);
    assert.deepEqual(
      fetches.map(({ parentSpanId }) => parentSpanId),
      parents,
    );
    assert.ok(collector.named("extract").every(({ parentSpanId }) => parents.includes(parentSpanId ?? "")));
    assert.ok(collector.named("settle").every(({ parentSpanId }) => parentSpanId === task.spanId));
    assert.equal(new Set(collector.spans.map(({ traceId }) => traceId)).size, 1);
    assert.ok(collector.spans.every(({ startMs, endMs }) => startMs >= run.startMs - 1 && endMs <= run.endMs + 5000));

    assert.equal(collector.resource["service.name"], "orbweaver");
    assert.equal(collector.resource["deployment.environment"], "test");
    assert.equal(collector.headers[0]?.["api-key"], "a b");
    assert.ok("sum" in collector.metrics.get("orb_telemetry_spans_dropped_total")!);
  });

  test("sees a workflow, the crawl that it starts and its webhook in one trace [slow]", async () => {
    await using collector = await Collector.start();
    const heard: string[] = [];
    await using site = await MisbehavingSite.start({
      "/": page("<title>Start</title><a href=/next>next</a>"),
      "/next": page("<title>Next</title>"),
      "/hook": json({}),
    });
    await using server = await TestServer.open({ ...collector.env, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" });
    const steps = [
      { name: "pages", task_type: "crawl", params: { url: site.url("/"), respect_robots: false } },
      { name: "tell", task_type: "webhook", params: { url: site.url("/hook") }, dependencies: ["pages"] },
    ];
    const created = await server.api.post("/workflows", { definition: { name: "Traced", steps } });
    const { id } = created.json<{ id: string }>();
    assert.equal((await server.ended(id)).status, "completed");
    await collector.until(() => collector.named("run workflow").length > 0, "the workflow");
    await collector.until(() => collector.named("task").length >= 4, "two steps and two pages");
    const traceId = id.replaceAll("-", "");
    assert.ok(collector.spans.every((span) => span.traceId === traceId));
    const workflow = only(collector.named("run workflow"), "the workflow");
    assert.equal(workflow.parentSpanId, undefined);
    const crawl = only(collector.named("run crawl"), "the crawl");
    const step = collector.spans.find(({ spanId }) => spanId === crawl.parentSpanId);
    assert.equal(step?.parentSpanId, workflow.spanId, "the crawl belongs to a step of the workflow");
    for (const { path, headers } of site.visits)
      if (path === "/hook") heard.push(String(headers["traceparent"]));
      else assert.equal(headers["traceparent"], undefined, "sites learn nothing of traces");
    assert.equal(parseTraceparent(heard[0] ?? "")?.traceId, traceId);
  });

  test("loses spans and nothing else while the collector is away, and is told once [slow]", async () => {
    await using collector = await Collector.start();
    collector.answers.push(400, 400, 400);
    await using site = await MisbehavingSite.start({ "/": page("<h1>Hello</h1>") });
    await using server = await TestServer.open({ ...collector.env, OTEL_TRACES_EXPORTER: "none" });
    const run = await server.run({ name: "page", target_url: site.url("/"), strategy: "http" });
    assert.equal(run.status, "completed");
    // With the call after the first good one, that one's answer has been read.
    await collector.until(() => collector.headers.length > 1, "metrics");
    const told = server.log.filter((line) => line.includes("collector"));
    assert.deepEqual([told.length, collector.spans.length], [2, 0], told.join(""));
    assert.match(told[0]!, /does not accept data.*it answered 400/);
    assert.match(told[1]!, /accepts data again/);
  });

  test("is not traced when the caller's trace is not, or OpenTelemetry is switched off [slow]", async () => {
    await using collector = await Collector.start();
    await using site = await MisbehavingSite.start({ "/": page("<h1>Hello</h1>") });
    for (const [more, headers] of [
      [{}, { traceparent: formatTraceparent({ ...CALLER, sampled: false }) }],
      [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" }, {}],
      [{ OTEL_SDK_DISABLED: "true" }, {}],
    ] as const) {
      await using server = await TestServer.open({ ...collector.env, ...more });
      const answer = await server.api.post("/runs", { target_url: site.url("/"), strategy: "http" }, headers);
      await server.ended(answer.json<{ id: string }>().id);
    }
    assert.deepEqual(collector.spans, []);
  });
});
