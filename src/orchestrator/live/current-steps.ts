/** What a workflow is at, in as few words as a table needs. */
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
/** Those at work before those that are about to begin. */
const AT_WORK: readonly TaskState[] = ["running", "retrying", "queued"];

/** Of what is no workflow, or is not at work, there are none. */
export async function currentSteps(deps: RunWaitDeps, run: RunRecord, still: NoWorkers | null): Promise<CurrentStep[]> {
  if (run.kind !== "workflow" || run.status !== "running") return [];
  const place = (step: StepRecord) => AT_WORK.indexOf(statusOf(step.task.state, step.waiting));
  const steps = (await deps.store.stepsInBrief(run.id))
    .filter((step) => place(step) >= 0)
    .toSorted((a, b) => place(a) - place(b) || a.index - b.index)
    .slice(0, MOST);
  const waits = await waitingOfSteps(deps, steps, still);
  return steps.map((step, index) => ({
    name: step.name,
    status: statusOf(step.task.state, step.waiting),
    waiting_for: waits[index] ?? null,
  }));
}
