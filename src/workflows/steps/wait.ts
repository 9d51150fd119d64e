import { FetchFailure } from "../../domain/run/failure.ts";
import { forwardInputs } from "../items/forward-inputs.ts";
import type { StepKind } from "../step-kind.ts";

interface WaitParams {
  seconds?: number;
  until?: string;
}

const LONGEST_SECONDS = 366 * 24 * 3600;

/** Sleeps, then forwards its inputs. */
export const waitStep: StepKind<WaitParams> = {
  kind: "wait",
  about: "Waits for some seconds, or until a time, without occupying a worker.",
  params: {
    type: "object",
    properties: {
      seconds: {
        type: "number",
        minimum: 0,
        maximum: LONGEST_SECONDS,
        description: "How long to wait; the time also passes while the workflow is paused.",
      },
      until: {
        type: "string",
        format: "date-time",
        description: "When to continue, such as 2027-01-31T06:00:00Z; a time in the past does not wait.",
      },
    },
    oneOf: [{ required: ["seconds"] }, { required: ["until"] }],
    additionalProperties: false,
  },
  async run(context, params) {
    const { clock, memory } = context;
    const until = memory === null ? endOf(params, clock.now()) : (memory as { until: number }).until;
    const waitedFrom = memory === null ? clock.now() : (memory as { from: number }).from;
    if (clock.now() < until) return { kind: "wait", memory: { until, from: waitedFrom }, until };
    const seconds = Math.max(0, Math.round((clock.now() - waitedFrom) / 100) / 10);
    return { kind: "done", output: { waited_seconds: seconds }, ...forwardInputs(context) };
  },
};

function endOf({ seconds, until }: WaitParams, now: number): number {
  if (seconds !== undefined) return now + seconds * 1000;
  const time = Date.parse(until ?? "");
  if (!Number.isFinite(time)) throw new FetchFailure("step_params", `params.until: ${until} is not a time`);
  return time;
}
