import { createHash } from "node:crypto";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../support/properties.ts";
import { isSampled } from "../../src/domain/run/samplers.ts";
import {
  formatTraceparent,
  parseTraceparent,
  spanId,
  spanIdFrom,
  spanIdOfRun,
  spanIdOfTask,
  textOfSpanId,
  traceIdOfRun,
} from "../../src/domain/run/trace-context.ts";
import { histogram } from "../../src/orchestrator/reading.ts";
import { otlpJson } from "../../src/telemetry/otlp-json.ts";
import { otlpProtobuf } from "../../src/telemetry/otlp-protobuf.ts";
import type { SpanBatch } from "../../src/telemetry/payload.ts";
import { SpanQueue } from "../../src/telemetry/span-queue.ts";
import type { Span } from "../../src/telemetry/span.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { readMetrics, readTraces } from "./otlp-decoder.ts";

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
  assert.deepEqual(spanIdOfRun(id, 1), spanIdOfRun(id, 1));
  assert.equal(textOfSpanId(spanIdOfTask(id, 1)), "e8920dde93045f05");
  assert.notDeepEqual(spanIdOfRun(id, 1), spanIdOfRun(id, 2));
  assert.notDeepEqual(spanIdOfRun(id, 1), spanIdOfTask(id, 1));
  assert.equal(textOfSpanId(spanIdFrom("b7ad6b7169203331")), "b7ad6b7169203331");
  assert.equal(textOfSpanId(spanIdFrom("00000000000000ff")), "00000000000000ff");
  assert.equal(textOfSpanId(spanId(0, 0)), "0000000000000001", "zeros are no id");
});

test("tasks of a run, numbered one after the other, have different ids", () => {
  const ids = new Set<string>();
  for (let task = 0; task < 100_000; task += 1) {
    const id = `0927e250-e930-8001-8000-${task.toString(16).padStart(12, "0")}`;
    ids.add(textOfSpanId(spanIdOfTask(id, 1)));
    if (task % 10 === 0) ids.add(textOfSpanId(spanIdOfTask(id, 2)));
  }
  assert.equal(ids.size, 110_000);
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
  const texts = otlpJson.metrics({ resource: {}, version: "1" }, readings, 0, 1000).toString();
  const bytes = otlpProtobuf.metrics({ resource: {}, version: "1" }, readings, 0, 1000);
  for (const payload of [JSON.parse(texts), readMetrics(bytes)]) {
    const [metric] = (payload as { resourceMetrics: { scopeMetrics: { metrics: unknown[] }[] }[] }).resourceMetrics[0]!
      .scopeMetrics[0]!.metrics;
    const { dataPoints } = (metric as { histogram: { dataPoints: Record<string, unknown>[] } }).histogram;
    const { explicitBounds, bucketCounts, count, sum } = dataPoints[0]!;
    assert.deepEqual([explicitBounds, bucketCounts, count, sum], [[1, 5], ["2", "5", "2"], "9", 30]);
  }
});

test("counters and gauges are the same in both forms", () => {
  const readings = [
    { name: "runs", help: "Runs.", labels: { kind: "page" }, value: 3 },
    { name: "runs", help: "Runs.", labels: { kind: "crawl" }, value: 0.25 },
    { name: "tries", help: "Tries.", kind: "counter" as const, value: 2 ** 40 },
  ];
  const source = { resource: { "service.name": "orb" }, version: "1" };
  const times = [1_700_000_000_000.5, 1_800_000_000_123] as const;
  const written = JSON.parse(otlpJson.metrics(source, readings, ...times).toString()) as Record<string, unknown>;
  const read = readMetrics(otlpProtobuf.metrics(source, readings, ...times));
  // Each form has its own order of fields.
  assert.deepEqual(read, written);
});

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const NAMED = { traceId: TRACE_ID, parentSpanId: null, name: "x", kind: "internal", error: null } as const;
const SPAN: Span = { ...NAMED, spanId: spanIdFrom("b7ad6b7169203331"), startMs: 0, endMs: 1, attributes: {} };
const SOURCE = { resource: { "service.name": "orb" }, version: "1" };

/** How many spans a body has. */
const countOf = (body: Buffer) =>
  (readTraces(body) as { resourceSpans: { scopeSpans: { spans: unknown[] }[] }[] }).resourceSpans[0]!.scopeSpans[0]!
    .spans.length;

test("spans that come while a batch is sent wait for others", async () => {
  const clock = new FakeClock();
  const batches: number[] = [];
  const queue = new SpanQueue({
    clock,
    batch: otlpProtobuf.batch(SOURCE),
    delayMs: 1000,
    send: async (body) => {
      batches.push(countOf(body));
      if (batches.length === 1) queue.add(SPAN);
    },
  });
  for (let count = 0; count < 2000; count += 1) queue.add(SPAN);
  await new Promise(setImmediate);
  assert.deepEqual(batches, [2000]);
  queue.add(SPAN);
  await clock.advance(1000);
  await new Promise(setImmediate);
  assert.deepEqual(batches, [2000, 2]);
  await queue.close();
});

const long = `https://shop.example/ä?q=${"x".repeat(300)}`;
const attributes = {
  text: 'a "b"\u2028\n',
  long,
  whole: 3,
  below: -7,
  part: 0.5,
  big: 2 ** 50,
  yes: true,
  no: false,
  none: null,
};
const REPORTED = [
  { key: "text", value: { stringValue: 'a "b"\u2028\n' } },
  { key: "long", value: { stringValue: long } },
  { key: "whole", value: { intValue: "3" } },
  { key: "below", value: { intValue: "-7" } },
  { key: "part", value: { doubleValue: 0.5 } },
  { key: "big", value: { intValue: String(2 ** 50) } },
  { key: "yes", value: { boolValue: true } },
  { key: "no", value: { boolValue: false } },
];

for (const [form, encoding, read] of [
  ["JSON", otlpJson, (body: Buffer) => JSON.parse(body.toString()) as Record<string, unknown>],
  ["protobuf", otlpProtobuf, readTraces],
] as const)
  test(`a span is written as the protocol has it, as ${form}`, () => {
    const parentSpanId = spanIdFrom("00f067aa0ba902b7");
    const batch: SpanBatch = encoding.batch(SOURCE);
    batch.add({ ...SPAN, name: 'n"', parentSpanId, startMs: 1.5, error: "it\nfailed ✗", attributes });
    batch.add({
      ...SPAN,
      traceId: "1".repeat(32),
      kind: "client",
      startMs: 1_800_000_000_123.25,
      endMs: 1_800_000_000_124,
    });
    assert.equal(batch.count, 2);
    const { resourceSpans } = read(batch.take()) as {
      resourceSpans: { resource: unknown; scopeSpans: { scope: unknown; spans: unknown[] }[] }[];
    };
    assert.equal(batch.count, 0);
    assert.deepEqual(resourceSpans[0]?.resource, {
      attributes: [{ key: "service.name", value: { stringValue: "orb" } }],
    });
    assert.deepEqual(resourceSpans[0]?.scopeSpans[0], {
      scope: { name: "orbweaver", version: "1" },
      spans: [
        {
          traceId: TRACE_ID,
          spanId: "b7ad6b7169203331",
          parentSpanId: "00f067aa0ba902b7",
          name: 'n"',
          kind: 1,
          startTimeUnixNano: "1500000",
          endTimeUnixNano: "1500000",
          attributes: REPORTED,
          status: { code: 2, message: "it\nfailed ✗" },
        },
        {
          traceId: "1".repeat(32),
          spanId: "b7ad6b7169203331",
          name: "x",
          kind: 3,
          startTimeUnixNano: "1800000000123250000",
          endTimeUnixNano: "1800000000124000000",
          attributes: [],
          status: {},
        },
      ],
    });
    batch.add(SPAN);
    const again = read(batch.take()) as { resourceSpans: { scopeSpans: { spans: unknown[] }[] }[] };
    assert.equal(again.resourceSpans[0]?.scopeSpans[0]?.spans.length, 1);
  });

test("spans wait for a collector in bounded memory", async () => {
  const clock = new FakeClock();
  const gate = Promise.withResolvers<void>();
  let sent = 0;
  const send = async (body: Buffer) => {
    sent += countOf(body);
    await gate.promise;
  };
  const queue = new SpanQueue({ clock, batch: otlpProtobuf.batch(SOURCE), send, delayMs: 1000 });
  for (let count = 0; count < 25_000; count += 1) queue.add(SPAN);
  assert.ok(queue.dropped >= 3000 && queue.dropped <= 5000, String(queue.dropped));
  gate.resolve();
  await queue.close();
  assert.equal(sent + queue.dropped, 25_000);
});
