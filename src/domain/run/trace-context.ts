/** Trace and span ids of runs and tasks (W3C Trace Context). Every process derives the same ids, so no process has to ask another. */
import { createHash } from "node:crypto";

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

/** A run that is retried has a span for each of its generations. */
export function spanIdOfRun(runId: string, generation: number): string {
  return spanIdFrom(`run:${runId}:${generation}`);
}

export function spanIdOfTask(taskId: string, generation: number): string {
  return spanIdFrom(`task:${taskId}:${generation}`);
}

function spanIdFrom(text: string): string {
  const id = createHash("sha1").update(text).digest("hex").slice(0, 16);
  return /^0+$/.test(id) ? "0000000000000001" : id;
}
