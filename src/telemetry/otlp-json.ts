/** The JSON form of the OpenTelemetry protocol (OTLP 1): https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
import type { SpanAttributes, SpanValue } from "../base/tracing.ts";
import type { Reading } from "../orchestrator/reading.ts";
import { type Span, SPAN_KIND } from "./span.ts";

export interface Source {
  resource: SpanAttributes;
  version: string;
}

export function tracesPayload({ resource, version }: Source, spans: readonly Span[]): string {
  const about = JSON.stringify({ attributes: attributesOf(resource) });
  const scope = JSON.stringify({ name: "orbweaver", version });
  return `{"resourceSpans":[{"resource":${about},"scopeSpans":[{"scope":${scope},"spans":[${spans.map(spanText).join(",")}]}]}]}`;
}

/** Written as text: thousands of spans a second, and objects of objects for JSON.stringify cost three times as much. */
function spanText(span: Span): string {
  const { traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, error } = span;
  const parent = parentSpanId === null ? "" : `"parentSpanId":"${parentSpanId}",`;
  const status = error === null ? "{}" : `{"code":2,"message":${JSON.stringify(error)}}`;
  return (
    `{"traceId":"${traceId}","spanId":"${spanId}",${parent}"name":${JSON.stringify(name)},"kind":${SPAN_KIND[kind]},` +
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

/** `startMs`: since when counters count. */
export function metricsPayload(source: Source, readings: readonly Reading[], startMs: number, nowMs: number): string {
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

const CUMULATIVE = 2;

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

/** Our buckets count all values up to their bound, those of the protocol the values between two bounds. */
function histogramPoints(group: readonly Reading[], times: Times): unknown[] {
  const labelsOf = ({ labels = {} }: Reading) => {
    const { le: _, ...others } = labels as Record<string, string>;
    return others;
  };
  return [...Map.groupBy(group, (reading) => JSON.stringify(labelsOf(reading)))].map(([, lines]) => {
    const bounded = lines.filter(({ part, labels }) => part === "bucket" && labels?.["le"] !== "+Inf");
    const count = lines.find(({ part }) => part === "count")?.value ?? 0;
    const upTo = [...bounded.map(({ value }) => value), count];
    return {
      attributes: attributesOf(labelsOf(lines[0]!)),
      ...times,
      count: String(count),
      sum: lines.find(({ part }) => part === "sum")?.value ?? 0,
      explicitBounds: bounded.map(({ labels }) => Number(labels?.["le"])),
      bucketCounts: upTo.map((value, index) => String(value - (upTo[index - 1] ?? 0))),
    };
  });
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
