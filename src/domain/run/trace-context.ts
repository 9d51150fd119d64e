/** Trace and span ids of runs and tasks (W3C Trace Context). Every process derives the same ids, so no process has to ask another. */
interface TraceContext {
  /** 32 hex digits. */
  traceId: string;
  /** 16 hex digits. */
  spanId: string;
  sampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Null: not a valid `traceparent`; the specification says to ignore it then. */
export function parseTraceparent(text: string): TraceContext | null {
  const match = TRACEPARENT.exec(text.trim());
  if (match === null) return null;
  const [, version = "", traceId = "", spanId = "", flags = "", more] = match;
  if (version === "ff" || (version === "00" && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

/** A run that nobody traces from outside is a trace of its own: its UUID is the id of the trace. */
export function traceIdOfRun(runId: string): string {
  return runId.replaceAll("-", "").toLowerCase();
}

/** 64 bits as two signed numbers of 32: made for every span, where texts would cost more than the rest of the span. */
export interface SpanId {
  readonly high: number;
  readonly low: number;
}

/** An id of zeros is none. */
export const spanId = (high: number, low: number): SpanId => ({
  high: high | 0,
  low: high === 0 && low === 0 ? 1 : low | 0,
});

/** 16 hex digits. */
export const textOfSpanId = ({ high, low }: SpanId): string => hex8(high) + hex8(low);

const hex8 = (bits: number) => (bits >>> 0).toString(16).padStart(8, "0");

export const spanIdFrom = (text: string): SpanId =>
  spanId(Number.parseInt(text.slice(0, 8), 16), Number.parseInt(text.slice(8), 16));

/** A run that is retried has a span for each of its generations. */
export function spanIdOfRun(runId: string, generation: number): SpanId {
  return hashed(`run:${runId}`, generation);
}

export function spanIdOfTask(taskId: string, generation: number): SpanId {
  return hashed(taskId, generation);
}

/** Without cryptography, as it is done for every page of a crawl: ids of a trace must differ, and nobody attacks them. */
function hashed(text: string, generation: number): SpanId {
  let high = 0x9e3779b9 ^ generation;
  let low = 0x85ebca6b;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x5bd1e995);
    high ^= high >>> 15;
    low = Math.imul(low ^ code, 0x27d4eb2f);
    low ^= low >>> 13;
  }
  return spanId(mixed(high ^ (low >>> 7)), mixed(low ^ generation));
}

/** Every bit of the result depends on every bit of the input. */
function mixed(bits: number): number {
  let value = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}
