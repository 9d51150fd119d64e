/** The samplers of the OpenTelemetry specification that need no state: every process decides alike about a trace. */
export const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

/** `inherited`: the decision of the caller that the trace comes from; null: the trace begins here. */
export function isSampled(name: SamplerName, ratio: number, traceId: string, inherited: boolean | null): boolean {
  if (name.startsWith("parentbased_") && inherited !== null) return inherited;
  if (name.endsWith("always_on")) return true;
  if (name.endsWith("always_off")) return false;
  // The last seven bytes of the id are random; 52 bits of them are as many as a number holds exactly.
  return Number.parseInt(traceId.slice(-13), 16) < ratio * 2 ** 52;
}
