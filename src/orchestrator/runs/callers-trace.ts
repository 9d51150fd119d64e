import { callersTraceparent } from "../../base/tracing.ts";
import { parseTraceparent } from "../../domain/run/trace-context.ts";
import type { NewRun } from "../../store/ports/port.ts";

/** For the run that a call starts: it joins the trace of its caller. */
export function callersTrace(): Pick<NewRun, "trace"> {
  const context = parseTraceparent(callersTraceparent() ?? "");
  if (context === null) return {};
  const { traceId, spanId, sampled } = context;
  return { trace: { trace_id: traceId, span_id: spanId, sampled } };
}
