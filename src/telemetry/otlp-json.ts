/** The JSON form of the OpenTelemetry protocol (OTLP 1): https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
import type { SpanAttributes, SpanValue } from "../base/tracing.ts";
import { textOfSpanId } from "../domain/run/trace-context.ts";
import type { Reading } from "../orchestrator/reading.ts";
import { CUMULATIVE, histogramsOf } from "./metric-groups.ts";
import type { Encoding, Source, SpanBatch } from "./payload.ts";
import { type Span, SPAN_KIND } from "./span.ts";

export const otlpJson: Encoding = {
  contentType: "application/json",
  batch: (source) => new JsonSpans(source),
  metrics: (...args) => Buffer.from(metricsPayload(...args)),
};

class JsonSpans implements SpanBatch {
  readonly #source: Source;
  #texts: string[] = [];

  constructor(source: Source) {
    this.#source = source;
  }

  get count(): number {
    return this.#texts.length;
  }

  add(span: Span): void {
    this.#texts.push(spanText(span));
  }

  take(): Buffer {
    const { resource, version } = this.#source;
    const about = JSON.stringify({ attributes: attributesOf(resource) });
    const scope = JSON.stringify({ name: "orbweaver", version });
    const spans = this.#texts.join(",");
    this.#texts = [];
    return Buffer.from(
      `{"resourceSpans":[{"resource":${about},"scopeSpans":[{"scope":${scope},"spans":[${spans}]}]}]}`,
    );
  }
}

/** Written as text: thousands of spans a second, and objects of objects for JSON.stringify cost three times as much. */
function spanText(span: Span): string {
  const { traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, error } = span;
  const parent = parentSpanId === null ? "" : `"parentSpanId":"${textOfSpanId(parentSpanId)}",`;
  const status = error === null ? "{}" : `{"code":2,"message":${JSON.stringify(error)}}`;
  return (
    `{"traceId":"${traceId}","spanId":"${textOfSpanId(spanId)}",${parent}"name":${JSON.stringify(name)},"kind":${SPAN_KIND[kind]},` +
    `"startTimeUnixNano":"${nanos(startMs)}","endTimeUnixNano":"${nanos(Math.max(startMs, endMs))}",` +
    `"attributes":[${attributesText(attributes)}],"status":${status}}`
  );
}

function attributesText(attributes: SpanAttributes): string {
  let text = "";
  for (const key in attributes) {
    const value = attributes[key];
    if (value === null || value === undefined) continue;
    text += `${text === "" ? "" : ","}{"key":"${key}","value":${valueText(value)}}`;
  }
  return text;
}

function valueText(value: SpanValue): string {
  if (typeof value === "string") return `{"stringValue":${JSON.stringify(value)}}`;
  return JSON.stringify(toValue(value));
}

function metricsPayload(source: Source, readings: readonly Reading[], startMs: number, nowMs: number): string {
  const times = { startTimeUnixNano: nanos(startMs), timeUnixNano: nanos(nowMs) };
  const metrics = [...Map.groupBy(readings, (reading) => reading.name)].map(([name, group]) =>
    toMetric(name, group, times),
  );
  return JSON.stringify({
    resourceMetrics: [
      {
        resource: { attributes: attributesOf(source.resource) },
        scopeMetrics: [{ scope: { name: "orbweaver", version: source.version }, metrics }],
      },
    ],
  });
}

interface Times {
  startTimeUnixNano: string;
  timeUnixNano: string;
}

function toMetric(name: string, group: readonly Reading[], times: Times): unknown {
  const about = { name, description: group[0]?.help ?? "" };
  const kind = group[0]?.kind ?? "gauge";
  if (kind === "histogram")
    return { ...about, histogram: { aggregationTemporality: CUMULATIVE, dataPoints: histogramPoints(group, times) } };
  const dataPoints = group.map(({ labels = {}, value }) => ({
    attributes: attributesOf(labels),
    ...(kind === "gauge" ? { timeUnixNano: times.timeUnixNano } : times),
    asDouble: value,
  }));
  if (kind === "gauge") return { ...about, gauge: { dataPoints } };
  return { ...about, sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } };
}

function histogramPoints(group: readonly Reading[], times: Times): unknown[] {
  return histogramsOf(group).map(({ labels, count, sum, bounds, counts }) => ({
    attributes: attributesOf(labels),
    ...times,
    count: String(count),
    sum,
    explicitBounds: bounds,
    bucketCounts: counts.map(String),
  }));
}

function attributesOf(attributes: SpanAttributes): unknown[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: toValue(value) }],
  );
}

function toValue(value: SpanValue): unknown {
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "string") return { stringValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** 64-bit integers are strings in JSON. */
function nanos(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, "0")}`;
}
