/** One workflow with its steps, kept up to date while it is looked at. */
import { useEffect, useMemo, useRef } from "react";
import { useLive } from "../../api/live.ts";
import { lookAgain, useCall } from "../../api/query.ts";
import type { WorkflowProgress } from "../../api/types.ts";
import { isFlowActive } from "./logic/flow-steps.ts";
import { outcomeNotes, outcomeWords } from "./logic/step-outcome.ts";

/** Entries of lists and percents make no events: they are asked for. */
const LOOK_MS = 2000;
/** What happens at once is looked at once. */
const PAUSE_MS = 250;

const OLD_BY_EVENT = [
  "getWorkflow",
  "getWorkflowProgress",
  "getWorkflowTask",
  "listWorkflowTasks",
  "listEntries",
  "listItems",
] as const;

export function useFlow(id: string) {
  const input = { params: { workflow_id: id } };
  const progress = useCall("getWorkflowProgress", input, {
    refetchInterval: ({ state }) => (state.data !== undefined && isFlowActive(state.data.status) ? LOOK_MS : false),
  });
  const flow = useCall("getWorkflow", input);
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useLive<{ run_id: string }>("run_event", ({ run_id }) => {
    if (run_id !== id) return;
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      lookAgain(OLD_BY_EVENT);
    }, PAUSE_MS);
  });
  return { progress, flow };
}

/** Results may be long: those of more steps are not asked for only to say them in a few words. */
const MOST_OUTCOMES = 100;

/** What completed steps brought, and what of it somebody should look at. */
export function useOutcomes({ workflow_id, steps, counts }: WorkflowProgress) {
  const tasks = useCall(
    "listWorkflowTasks",
    { params: { workflow_id }, query: { limit: MOST_OUTCOMES } },
    { enabled: counts.completed > 0 && steps.length <= MOST_OUTCOMES },
  );
  return useMemo(() => {
    const rows = tasks.data ?? [];
    return {
      outcomes: new Map(rows.map((task) => [task.task_name, outcomeWords(task)])),
      notes: outcomeNotes(rows),
    };
  }, [tasks.data]);
}
