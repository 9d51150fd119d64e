/** The current steps of a workflow, with the columns of a table. */
import type { TaskState } from "../../domain/run/states.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { StepRecord } from "../../store/ports/workflow-port.ts";
import type { StepWaiting } from "../runs/step-waiting.ts";
import { type RunWaitDeps, waitingOfSteps } from "../runs/waiting.ts";
import { statusOf } from "../workflows/task-view.ts";
import type { NoWorkers } from "../workers/worker-availability.ts";

export interface CurrentStep {
  name: string;
  status: TaskState;
  waiting_for: StepWaiting | null;
}

const MOST = 3;
/** Running steps before those about to begin. */
const AT_WORK: readonly TaskState[] = ["running", "retrying", "queued"];

/** Empty unless it is a running workflow. */
export async function currentSteps(
  deps: RunWaitDeps,
  run: RunRecord,
  noWorkers: NoWorkers | null,
): Promise<CurrentStep[]> {
  if (run.kind !== "workflow" || run.status !== "running") return [];
  const rank = (step: StepRecord) => AT_WORK.indexOf(statusOf(step.task.state, step.waiting));
  const steps = (await deps.store.stepsInBrief(run.id))
    .filter((step) => rank(step) >= 0)
    .toSorted((a, b) => rank(a) - rank(b) || a.index - b.index)
    .slice(0, MOST);
  const waits = await waitingOfSteps(deps, steps, noWorkers);
  return steps.map((step, index) => ({
    name: step.name,
    status: statusOf(step.task.state, step.waiting),
    waiting_for: waits[index] ?? null,
  }));
}
