/** One run with its live data. */
import { useEffect, useRef, useState } from "react";
import { useConnection, useLive } from "../../api/live.ts";
import { keyOf, reloadQueries, queryClient, useCall } from "../../api/query.ts";
import type { Run } from "../../api/types.ts";
import { isOfRun, type RunEvent } from "../../logic/run-events.ts";
import { progressOf } from "./logic/run-progress.ts";
import { isActive } from "../../logic/states.ts";
import type { LiveRun } from "./list/useRunList.ts";

const SLOW_MS = 5000;
const MOST_SITES = 10;

/** Operations that change with a run, and at its end. */
const CHANGING = ["getRun", "getCrawl", "listRunErrors", "listRunSites"] as const;
const AT_THE_END = [...CHANGING, "listResults", "listTasks", "getTask"] as const;

export function useRun(id: string) {
  const input = { params: { run_id: id } };
  const run = useCall("getRun", input, {
    // The stream sends the first active runs; the others are polled.
    refetchInterval: ({ state }) => (state.data !== undefined && isActive(state.data.status) ? SLOW_MS : false),
  });
  const status = run.data?.status;
  const active = status !== undefined && isActive(status);
  const isCrawl = run.data?.kind === "crawl";
  const crawl = useCall(
    "getCrawl",
    { params: { task_id: id } },
    { enabled: isCrawl, refetchInterval: isCrawl && active ? SLOW_MS : false },
  );
  const hasSites = isCrawl || run.data?.kind === "queue";
  const sites = useCall(
    "listRunSites",
    { params: { run_id: id }, query: { limit: MOST_SITES } },
    { enabled: hasSites, refetchInterval: hasSites && active ? SLOW_MS : false },
  );
  const live = useLiveRun(id, (live) =>
    queryClient.setQueryData<Run>(keyOf("getRun", input), (old) => (old === undefined ? old : { ...old, ...live })),
  );
  useEnd(id, status);
  return {
    run,
    crawl: crawl.data ?? null,
    sites: sites.data ?? [],
    progress: progressOf(
      status ?? "queued",
      live,
      crawl.data === undefined ? null : { at: crawl.dataUpdatedAt, crawl: crawl.data },
    ),
  };
}

interface LiveState {
  run: LiveRun;
  at: number;
}

/** The latest state of the run from the stream. `patch` gets the fields that every run has. */
function useLiveRun(id: string, patch: (run: Partial<Run>) => void): LiveState | null {
  const [live, setLive] = useState<LiveState | null>(null);
  const connection = useConnection();
  // After a lost connection, the last state may be long outdated.
  useEffect(() => {
    if (connection === "lost") setLive(null);
  }, [connection]);
  useLive<{ runs: LiveRun[] }>("runs", ({ runs }) => {
    const found = runs.find((one) => one.id === id);
    if (found === undefined) return;
    setLive({ run: found, at: Date.now() });
    const { counts: _counts, current_steps: _steps, per_second: _pace, eta_seconds: _eta, ...rest } = found;
    patch(rest);
  });
  useLive<RunEvent>("run_event", ({ run_id, type }) => {
    if (run_id === id && isOfRun(type)) reloadQueries(CHANGING);
  });
  return live?.run.id === id ? live : null;
}

/** Reloads everything when an active run has ended. */
function useEnd(id: string, status: string | undefined): void {
  const seen = useRef<{ id: string; active: boolean } | null>(null);
  useEffect(() => {
    if (status === undefined) return;
    const active = isActive(status);
    if (seen.current?.id === id && seen.current.active && !active) reloadQueries(AT_THE_END);
    seen.current = { id, active };
  }, [id, status]);
}
