import { useState } from "react";
import { useCall } from "../../api/query.ts";
import type { Run } from "../../api/types.ts";
import { isActive } from "../../logic/states.ts";
import { useDrawer } from "../../ui/overlay/useDrawer.ts";
import type { Task } from "./Pages.tsx";

const AGAIN_MS = 4000;

/**
 * The page with open details is in the URL (`?task=`): one of `rows`, or loaded separately, so that a link can point to
 * any page of the run.
 */
export function useOpenTask(run: Run, tab: string, rows: readonly Task[]) {
  const drawer = useDrawer("task", { tab });
  const [last, setLast] = useState<Task | null>(null);
  const id = drawer.opened;
  const listed = rows.find((row) => row.id === id);
  const asked = useCall(
    "getTask",
    { params: { run_id: run.id, task_id: id ?? "" } },
    {
      enabled: id !== null && listed === undefined,
      refetchInterval: ({ state }) => (isActive(run.status) && state.error === null ? AGAIN_MS : false),
    },
  );
  const open = (next: Task | null) => {
    setLast(next);
    if (next === null) drawer.close();
    else drawer.open(next.id);
  };
  // The current state if known; until loaded, the state when it was opened.
  const task = id === null ? null : (listed ?? asked.data ?? (last?.id === id ? last : null));
  return { task, error: task === null && id !== null ? asked.error : null, open };
}
