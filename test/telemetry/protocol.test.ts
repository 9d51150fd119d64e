import { createHash } from "node:crypto";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../support/properties.ts";
import { isSampled } from "../../src/domain/run/samplers.ts";
import { formatTraceparent, parseTraceparent, spanIdOfRun, traceIdOfRun } from "../../src/domain/run/trace-context.ts";
import { histogram } from "../../src/orchestrator/reading.ts";
import { metricsPayload, tracesPayload } from "../../src/telemetry/otlp-json.ts";
import { SpanQueue } from "../../src/telemetry/span-queue.ts";
import type { Span } from "../../src/telemetry/span.ts";
import { FakeClock } from "../support/fake-clock.ts";

const hex = (digits: number) =>
  fc.stringMatching(new RegExp(`^[0-9a-f]{${digits}}$`)).filter((text) => !/^0+$/.test(text));

describe("traceparent", () => {
  test("is read as it was written", () => {
    fc.assert(
      fc.property(hex(32), hex(16), fc.boolean(), (traceId, spanId, sampled) => {
        const context = { traceId, spanId, sampled };
        assert.deepEqual(parseTraceparent(formatTraceparent(context)), context);
      }),
    );
  });

  for (const [what, text] of [
    ["a version that is not allowed", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
    ["no trace", "00-00000000000000000000000000000000-b7ad6b7169203331-01"],
    ["no span", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"],
    ["capitals", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"],
    ["more than version 00 has", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x"],
    ["nothing", ""],
  ] as const)
    test(`is ignored with ${what}`, () => assert.equal(parseTraceparent(text), null));

  test("of a later version is read as far as it is known", () => {
    const text = "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-later";
    assert.equal(parseTraceparent(text)?.spanId, "b7ad6b7169203331");
  });
});

test("every process gives a run the same ids", () => {
  const id = "0927e250-e930-8001-8000-000000000064";
  assert.equal(traceIdOfRun(id), "0927e250e93080018000000000000064");
  assert.equal(spanIdOfRun(id, 1), spanIdOfRun(id, 1));
  assert.notEqual(spanIdOfRun(id, 1), spanIdOfRun(id, 2));
});

/** Spread like random ids, and the same in every run. */
const idFrom = (index: number) => createHash("sha256").update(String(index)).digest("hex").slice(0, 32);

test("a ratio samples that share of the traces, and of each trace all or nothing", () => {
  const ids = Array.from({ length: 4000 }, (_, index) => idFrom(index));
  const sampled = ids.filter((id) => isSampled("traceidratio", 0.25, id, null));
  assert.ok(sampled.length > 800 && sampled.length < 1200, `${sampled.length} of 4000`);
  assert.ok(sampled.every((id) => isSampled("parentbased_traceidratio", 0.25, id, null)));
  assert.equal(isSampled("parentbased_always_on", 1, ids[0]!, false), false);
  assert.equal(isSampled("parentbased_always_off", 1, ids[0]!, true), true);
  assert.equal(isSampled("always_on", 1, ids[0]!, false), true);
});

test("the buckets of a histogram count what lies between two bounds", () => {
  const readings = histogram(
    "waits",
    "Waits.",
    [1, 5],
    [{ labels: { site: "a" }, buckets: [2, 7], sum: 30, count: 9 }],
  );
  const payload = JSON.parse(metricsPayload({ resource: {}, version: "1" }, readings, 0, 1000)) as never;
  const [metric] = (payload as { resourceMetrics: { scopeMetrics: { metrics: unknown[] }[] }[] }).resourceMetrics[0]!
    .scopeMetrics[0]!.metrics;
  const { dataPoints } = (metric as { histogram: { dataPoints: Record<string, unknown>[] } }).histogram;
  const { explicitBounds, bucketCounts, count, sum } = dataPoints[0]!;
  assert.deepEqual([explicitBounds, bucketCounts, count, sum], [[1, 5], ["2", "5", "2"], "9", 30]);
});

const NAMED = { traceId: "1", spanId: "1", parentSpanId: null, name: "x", kind: "internal", error: null } as const;
const SPAN: Span = { ...NAMED, startMs: 0, endMs: 1, attributes: {} };

test("spans that come while a batch is sent wait for others", async () => {
  const clock = new FakeClock();
  const batches: number[] = [];
  const queue = new SpanQueue({
    clock,
    delayMs: 1000,
    send: async (spans) => {
      batches.push(spans.length);
      if (batches.length === 1) queue.add(SPAN);
    },
  });
  for (let count = 0; count < 512; count += 1) queue.add(SPAN);
  await new Promise(setImmediate);
  assert.deepEqual(batches, [512]);
  queue.add(SPAN);
  await clock.advance(1000);
  await new Promise(setImmediate);
  assert.deepEqual(batches, [512, 2]);
  await queue.close();
});

test("a span is written as the protocol has it", () => {
  const attributes = { text: 'a "b"\u2028\n', whole: 3, part: 0.5, yes: true, none: null };
  const span: Span = { ...SPAN, name: 'n"', parentSpanId: "2", startMs: 1.5, error: "it\nfailed", attributes };
  const { resourceSpans } = JSON.parse(
    tracesPayload({ resource: { "service.name": "orb" }, version: "1" }, [span]),
  ) as {
    resourceSpans: { resource: unknown; scopeSpans: { spans: unknown[] }[] }[];
  };
  assert.deepEqual(resourceSpans[0]?.resource, {
    attributes: [{ key: "service.name", value: { stringValue: "orb" } }],
  });
  assert.deepEqual(resourceSpans[0]?.scopeSpans[0]?.spans, [
    {
      traceId: "1",
      spanId: "1",
      parentSpanId: "2",
      name: 'n"',
      kind: 1,
      startTimeUnixNano: "1500000",
      endTimeUnixNano: "1500000",
      attributes: [
        { key: "text", value: { stringValue: 'a "b"\u2028\n' } },
        { key: "whole", value: { intValue: "3" } },
        { key: "part", value: { doubleValue: 0.5 } },
        { key: "yes", value: { boolValue: true } },
      ],
      status: { code: 2, message: "it\nfailed" },
    },
  ]);
});

test("spans wait for a collector in bounded memory", async () => {
  const clock = new FakeClock();
  const gate = Promise.withResolvers<void>();
  let sent = 0;
  const send = async (spans: readonly Span[]) => {
    sent += spans.length;
    await gate.promise;
  };
  const queue = new SpanQueue({ clock, send, delayMs: 1000 });
  for (let count = 0; count < 25_000; count += 1) queue.add(SPAN);
  assert.ok(queue.dropped > 4000 && queue.dropped <= 5000, String(queue.dropped));
  gate.resolve();
  await queue.close();
  assert.equal(sent + queue.dropped, 25_000);
});
