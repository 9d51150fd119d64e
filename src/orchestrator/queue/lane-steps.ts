import { isOrbError } from "../../base/errors.ts";
import { stepOfLane } from "../../domain/workflow/definition.ts";
import type { OrchestratorDeps } from "../deps.ts";

/** The workflow step that a lane belongs to. */
export interface LaneStep {
  workflow_id: string;
  workflow_name: string | null;
  step_name: string;
  step_index: number;
  /** Of a `for_each` step: which of its concurrent slots this lane is; null: none. */
  place: number | null;
}

/** The steps of these lanes; each workflow is read once. */
export async function stepsOf({ store }: OrchestratorDeps, lanes: readonly string[]): Promise<Map<string, LaneStep>> {
  const wanted = lanes.flatMap((lane) => {
    const step = stepOfLane(lane);
    return step === null ? [] : [{ lane, ...step }];
  });
  const found = new Map<string, LaneStep>();
  for (const [id, list] of Map.groupBy(wanted, ({ runId }) => runId)) {
    const run = await store.run(id);
    if (run === null) continue;
    const names = await namesOf(store, id, [...new Set(list.map(({ step }) => step))]);
    for (const { lane, step, slot } of list) {
      const name = names.get(step);
      if (name === undefined) continue;
      found.set(lane, {
        workflow_id: id,
        workflow_name: run.name,
        step_name: name,
        step_index: step,
        place: slot,
      });
    }
  }
  return found;
}

/** A workflow may be deleted between two reads. */
async function namesOf(
  store: OrchestratorDeps["store"],
  id: string,
  indices: readonly number[],
): Promise<Map<number, string>> {
  try {
    return new Map((await store.steps(id, indices)).map(({ index, name }) => [index, name]));
  } catch (error) {
    if (isOrbError(error, "not_found")) return new Map();
    throw error;
  }
}
