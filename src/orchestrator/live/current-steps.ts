/** What a workflow is at, in as few words as a table needs. */
import type { TaskState } from "../../domain/states.ts";
import type { RunRecord } from "../../store/port.ts";
import type { StepRecord } from "../../store/workflow-port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { statusOf, type WaitingFor, waitingOf } from "../workflows/task-view.ts";

export interface CurrentStep {
  name: string;
  status: TaskState;
  waiting_for: WaitingFor | null;
}

const MOST = 3;
/** Those at work before those that are about to begin. */
const AT_WORK: readonly TaskState[] = ["running", "retrying", "queued"];

/** Of what is no workflow, or is not at work, there are none. */
export async function currentSteps({ store }: OrchestratorDeps, run: RunRecord): Promise<CurrentStep[]> {
  if (run.kind !== "workflow" || run.status !== "running") return [];
  const place = (step: StepRecord) => AT_WORK.indexOf(statusOf(step.task.state, step.waiting));
  return (await store.stepsInBrief(run.id))
    .filter((step) => place(step) >= 0)
    .toSorted((a, b) => place(a) - place(b) || a.index - b.index)
    .slice(0, MOST)
    .map((step) => ({
      name: step.name,
      status: statusOf(step.task.state, step.waiting),
      waiting_for: waitingOf(step),
    }));
}
