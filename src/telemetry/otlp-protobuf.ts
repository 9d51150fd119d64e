/** The binary form of the OpenTelemetry protocol: https://github.com/open-telemetry/opentelemetry-proto. Numbers are those of its fields. */
import type { SpanAttributes, SpanValue } from "../base/tracing.ts";
import type { Reading } from "../orchestrator/reading.ts";
import { CUMULATIVE, histogramsOf } from "./metric-groups.ts";
import type { Encoding, Source, SpanBatch } from "./payload.ts";
import { ProtobufWriter } from "./protobuf-writer.ts";
import { type Span, SPAN_KIND } from "./span.ts";

export const otlpProtobuf: Encoding = {
  contentType: "application/x-protobuf",
  batch: (source) => new ProtobufSpans(source),
  metrics: metricsPayload,
};

class ProtobufSpans implements SpanBatch {
  readonly #source: Source;
  readonly #spans = new ProtobufWriter();
  /** Of the last span: mostly that of the next one, too. */
  #trace = { id: "", bytes: Buffer.alloc(0) };
  #count = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  get count(): number {
    return this.#count;
  }

  add(span: Span): void {
    this.#count += 1;
    const { traceId } = span;
    if (this.#trace.id !== traceId) this.#trace = { id: traceId, bytes: Buffer.from(traceId, "hex") };
    writeSpan(this.#spans, span, this.#trace.bytes);
  }

  take(): Buffer {
    this.#count = 0;
    return enclosed(this.#source, this.#spans.take());
  }
}

/** The request: of one resource (1), which has one scope (2) with these items. */
function enclosed({ resource, version }: Source, items: Buffer): Buffer {
  const writer = new ProtobufWriter();
  const resources = writer.begin(1);
  const about = writer.begin(1);
  writeAttributes(writer, 1, resource);
  writer.end(about);
  const scopes = writer.begin(2);
  const scope = writer.begin(1);
  writer.text(1, "orbweaver");
  writer.text(2, version);
  writer.end(scope);
  writer.raw(items);
  writer.end(scopes);
  writer.end(resources);
  return writer.take();
}

const ERROR = 2;

function writeSpan(writer: ProtobufWriter, span: Span, traceId: Uint8Array): void {
  const { spanId, parentSpanId, startMs, endMs, error } = span;
  const begun = writer.begin(2);
  writer.bytes(1, traceId);
  writer.id(2, spanId.high, spanId.low);
  if (parentSpanId !== null) writer.id(4, parentSpanId.high, parentSpanId.low);
  writer.text(5, span.name);
  writer.varint(6, SPAN_KIND[span.kind]);
  writer.nanos(7, startMs);
  writer.nanos(8, endMs > startMs ? endMs : startMs);
  writeAttributes(writer, 9, span.attributes);
  if (error !== null) {
    const status = writer.begin(15);
    writer.text(2, error);
    writer.varint(3, ERROR);
    writer.end(status);
  }
  writer.end(begun);
}

function writeAttributes(writer: ProtobufWriter, field: number, attributes: SpanAttributes): void {
  for (const key in attributes) {
    const value = attributes[key];
    if (value === null || value === undefined) continue;
    const pair = writer.begin(field);
    writer.text(1, key);
    writeValue(writer, value);
    writer.end(pair);
  }
}

function writeValue(writer: ProtobufWriter, value: SpanValue): void {
  const begun = writer.begin(2);
  if (typeof value === "string") writer.text(1, value);
  else if (typeof value === "boolean") writer.bool(2, value);
  else if (Number.isSafeInteger(value)) writer.int64(3, value);
  else writer.double(4, value);
  writer.end(begun);
}

function metricsPayload(source: Source, readings: readonly Reading[], startMs: number, nowMs: number): Buffer {
  const writer = new ProtobufWriter();
  for (const [name, group] of Map.groupBy(readings, (reading) => reading.name)) {
    const metric = writer.begin(2);
    writer.text(1, name);
    writer.text(2, group[0]?.help ?? "");
    const kind = group[0]?.kind ?? "gauge";
    if (kind === "histogram") writeHistogram(writer, group, startMs, nowMs);
    else writeNumbers(writer, kind, group, startMs, nowMs);
    writer.end(metric);
  }
  return enclosed(source, writer.take());
}

function writeNumbers(
  writer: ProtobufWriter,
  kind: "gauge" | "counter",
  group: readonly Reading[],
  startMs: number,
  nowMs: number,
): void {
  const isCounter = kind === "counter";
  const data = writer.begin(isCounter ? 7 : 5);
  for (const { labels = {}, value } of group) {
    const point = writer.begin(1);
    if (isCounter) writer.nanos(2, startMs);
    writer.nanos(3, nowMs);
    writer.double(4, value);
    writeAttributes(writer, 7, labels);
    writer.end(point);
  }
  if (isCounter) {
    writer.varint(2, CUMULATIVE);
    writer.bool(3, true);
  }
  writer.end(data);
}

function writeHistogram(writer: ProtobufWriter, group: readonly Reading[], startMs: number, nowMs: number): void {
  const data = writer.begin(9);
  for (const { labels, count, sum, bounds, counts } of histogramsOf(group)) {
    const point = writer.begin(1);
    writer.nanos(2, startMs);
    writer.nanos(3, nowMs);
    writer.fixed64(4, count);
    writer.double(5, sum);
    writer.fixed64s(6, counts);
    writer.doubles(7, bounds);
    writeAttributes(writer, 9, labels);
    writer.end(point);
  }
  writer.varint(2, CUMULATIVE);
  writer.end(data);
}
