/** One workflow with its steps, kept up to date while it is open. */
import { useEffect, useMemo, useRef } from "react";
import { useLive } from "../../api/live.ts";
import { reloadQueries, useCall } from "../../api/query.ts";
import type { WorkflowProgress } from "../../api/types.ts";
import { isFlowActive } from "./logic/flow-steps.ts";
import { outcomeNotes, outcomeWords } from "./logic/step-outcome.ts";

/** Entries and percentages emit no events: they are polled. */
const LOOK_MS = 2000;
/** Merges changes that happen together. */
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
      reloadQueries(OLD_BY_EVENT);
    }, PAUSE_MS);
  });
  return { progress, flow };
}

/** Results may be long: with more steps they are not loaded only for a summary. */
const MOST_OUTCOMES = 100;

/** Outcomes of completed steps, and those that need attention. */
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
