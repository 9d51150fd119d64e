import { FetchFailure } from "../../../domain/run/failure.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import { MOST_OUTPUT_BYTES } from "../../../domain/workflow/definition.ts";
import type { StepEnd } from "../../../workflows/step-kind.ts";

/** How a step kind ended, or that the step sleeps until the entries of its list have ended. */
export type Ended =
  | Exclude<StepEnd, { kind: "wait" }>
  | (Extract<StepEnd, { kind: "wait" }> & { items?: { concurrency: number; stopAtFailure: boolean } });

export function checkedOutput(output: Readonly<Record<string, JsonValue>>): Readonly<Record<string, JsonValue>> {
  let text: string | undefined;
  try {
    text = JSON.stringify(output);
  } catch {
    // A cycle, or a BigInt.
  }
  if (text === undefined || typeof output !== "object" || Array.isArray(output))
    throw new FetchFailure("step_bad_result", "the output of the step is not a JSON object");
  if (Buffer.byteLength(text) > MOST_OUTPUT_BYTES)
    throw new FetchFailure(
      "step_bad_result",
      `the output of the step has ${Buffer.byteLength(text)} bytes as JSON; at most ${MOST_OUTPUT_BYTES} are allowed: return large data as items`,
    );
  return output;
}
