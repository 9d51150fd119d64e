/** The list of workflows: its filters in the URL, and live updates of its rows. */
import type { Operations, Overview } from "../../../api/types.ts";
import { isFlowActive } from "./flow-steps.ts";
import { isOfRun, type RunEvent } from "../../../logic/run-events.ts";

export type FlowRow = Operations["listWorkflows"]["answer"][number];
type Query = Operations["listWorkflows"]["query"];
type StatusChoice = NonNullable<Query["status"]>;

/** In the order of interest. */
export const STATUS_CHOICES: readonly { value: StatusChoice; name: string }[] = [
  { value: "active", name: "Active" },
  { value: "failed", name: "Failed" },
  { value: "recoverable", name: "Can be recovered" },
  { value: "pending", name: "Pending" },
  { value: "paused", name: "Paused" },
  { value: "completed", name: "Completed" },
  { value: "cancelled", name: "Cancelled" },
];

export interface FlowFilter {
  status: StatusChoice | null;
  q: string;
  template: string;
}

export function readFlowFilter(search: URLSearchParams): FlowFilter {
  const status = search.get("status");
  return {
    status: STATUS_CHOICES.find(({ value }) => value === status)?.value ?? null,
    q: (search.get("q") ?? "").trim(),
    template: (search.get("template") ?? "").trim(),
  };
}

/** Keeps the other parameters of the URL. */
export function writeFlowFilter(search: URLSearchParams, filter: FlowFilter): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const key of ["status", "q", "template"] as const) {
    const value = filter[key];
    if (value === null || value === "") next.delete(key);
    else next.set(key, value);
  }
  return next;
}

export function flowQuery({ status, q, template }: FlowFilter): Query {
  return {
    ...(status === null ? {} : { status }),
    ...(q === "" ? {} : { q }),
    ...(template === "" ? {} : { template }),
    limit: 100,
  };
}

export type LiveRun = Overview["active_runs"][number];

/** Runs say `queued` for what a workflow calls `pending`. */
const STATUS_OF: Readonly<Record<string, FlowRow["status"]>> = {
  queued: "pending",
  running: "running",
  paused: "paused",
  recovering: "recovering",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

/** Rows with their live updates; the same list when nothing changed. */
export function withLiveRuns(rows: readonly FlowRow[], live: readonly LiveRun[]): readonly FlowRow[] {
  const news = new Map(live.filter(({ kind }) => kind === "workflow").map((run) => [run.id, run]));
  let changed = false;
  const next = rows.map((row) => {
    const run = news.get(row.id);
    const status = run === undefined ? undefined : STATUS_OF[run.status];
    if (run === undefined || status === undefined) return row;
    // Progress never falls, except on recovery.
    if (status === row.status && run.progress === row.progress) return row;
    changed = true;
    return { ...row, status, progress: run.progress };
  });
  return changed ? next : rows;
}

export type FlowEvent = Pick<RunEvent, "run_id" | "type" | "meta">;

/** Whether this event may change the list: most concern runs that are not workflows. */
export function mayChange(
  { run_id, type, meta }: FlowEvent,
  rows: readonly FlowRow[],
  { status }: Pick<FlowFilter, "status">,
): boolean {
  const known = rows.find(({ id }) => id === run_id);
  if (known !== undefined) return isOfRun(type) || (type.startsWith("workflow.step_") && isFlowActive(known.status));
  if (type === "run.created") return meta["kind"] === "workflow";
  // Its new state may bring a workflow into the filtered list.
  return status !== null && isOfRun(type);
}
