import { FetchFailure } from "../domain/run/failure.ts";
import type { ChildEnd } from "./step-kind.ts";

/** A failed or cancelled child run fails its step, with the same failure reason if there is one. */
export function refuseUnlessEnded(child: ChildEnd, what: string): void {
  if (child.status === "completed" || child.status === "partial") return;
  if (child.status === "cancelled")
    throw new FetchFailure("step_child_cancelled", `the ${what} was cancelled: run ${child.runId}`);
  const why = child.failure?.message ?? child.message ?? `run ${child.runId}`;
  const httpStatus = child.failure?.httpStatus ?? null;
  throw new FetchFailure(
    child.failure?.reason ?? "step_child_failed",
    `the ${what} failed: ${why}`,
    httpStatus === null ? {} : { httpStatus },
  );
}
