/** One workflow with its steps, kept up to date while it is looked at. */
import { useEffect, useRef } from "react";
import { useLive } from "../../api/live.ts";
import { lookAgain, useCall } from "../../api/query.ts";
import { isFlowActive } from "../../logic/flow-steps.ts";

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
