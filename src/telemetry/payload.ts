import type { SpanAttributes } from "../base/tracing.ts";
import type { Reading } from "../orchestrator/reading.ts";
import type { Span } from "./span.ts";

export interface Source {
  resource: SpanAttributes;
  version: string;
}

/** Spans as they are sent. Each is written when it ends, so that none waits as an object. */
export interface SpanBatch {
  readonly count: number;
  add(span: Span): void;
  /** What was added; the batch is empty then. */
  take(): Buffer;
}

/** A form of the OpenTelemetry protocol. */
export interface Encoding {
  contentType: string;
  batch(source: Source): SpanBatch;
  /** `startMs`: since when counters count. */
  metrics(source: Source, readings: readonly Reading[], startMs: number, nowMs: number): Buffer;
}
