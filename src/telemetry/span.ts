import type { SpanAttributes } from "../base/tracing.ts";

export const SPAN_KIND = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;

/** A span that has ended. Times are milliseconds since 1970, with fractions. */
export interface Span {
  traceId: string;
  spanId: string;
  /** Null: the root of its trace. */
  parentSpanId: string | null;
  name: string;
  kind: keyof typeof SPAN_KIND;
  startMs: number;
  endMs: number;
  attributes: SpanAttributes;
  /** Null: no error. */
  error: string | null;
}
