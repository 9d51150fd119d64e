import type { SpanAttributes } from "../base/tracing.ts";
import type { SpanId } from "../domain/run/trace-context.ts";

export const SPAN_KIND = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;

/** A span that has ended. Times are milliseconds since 1970, with fractions. */
export interface Span {
  traceId: string;
  spanId: SpanId;
  /** Null: the root of its trace. */
  parentSpanId: SpanId | null;
  name: string;
  kind: keyof typeof SPAN_KIND;
  startMs: number;
  endMs: number;
  attributes: SpanAttributes;
  /** Null: no error. */
  error: string | null;
}
