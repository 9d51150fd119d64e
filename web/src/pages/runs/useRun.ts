/** One run with all that is told of it while it is looked at. */
import { useCallback, useState } from "react";
import { useLive } from "../../api/live.ts";
import { keyOf, queryClient, useCall } from "../../api/query.ts";
import type { Run } from "../../api/types.ts";
import type { RunEvent } from "../../logic/run-events.ts";
import type { RunCounts } from "../../logic/run-rows.ts";
import { isActive } from "../../logic/states.ts";
import type { LiveRun } from "./useRunList.ts";

export interface RunProgress {
  counts: RunCounts | null;
  perSecond: number | null;
  etaSeconds: number | null;
}

const SLOW_MS = 5000;
const MOST_SITES = 10;

export function useRun(id: string) {
  const input = { params: { run_id: id } };
  const run = useCall("getRun", input, {
    // The stream tells of the first at work; the others are asked for.
    refetchInterval: ({ state }) => (state.data !== undefined && isActive(state.data.status) ? SLOW_MS : false),
  });
  const isCrawl = run.data?.kind === "crawl";
  const crawl = useCall(
    "getCrawl",
    { params: { task_id: id } },
    {
      enabled: isCrawl,
      refetchInterval: isCrawl && run.data !== undefined && isActive(run.data.status) ? SLOW_MS : false,
    },
  );
  const hasSites = isCrawl || run.data?.kind === "queue";
  const sites = useCall(
    "listRunSites",
    { params: { run_id: id }, query: { limit: MOST_SITES } },
    {
      enabled: hasSites,
      refetchInterval: hasSites && run.data !== undefined && isActive(run.data.status) ? SLOW_MS : false,
    },
  );
  const [live, setLive] = useState<LiveRun | null>(null);
  const look = useCallback(() => {
    for (const name of ["getRun", "getCrawl", "listRunErrors", "listRunSites"] as const)
      void queryClient.invalidateQueries({ queryKey: [name] });
  }, []);
  useLive<{ runs: LiveRun[] }>("runs", ({ runs }) => {
    const told = runs.find((one) => one.id === id);
    if (told === undefined) return;
    setLive(told);
    const { counts: _counts, current_steps: _steps, per_second: _pace, eta_seconds: _eta, ...rest } = told;
    queryClient.setQueryData<Run>(keyOf("getRun", input), (old) => (old === undefined ? old : { ...old, ...rest }));
    if (!isActive(told.status)) look();
  });
  useLive<RunEvent>("run_event", ({ run_id, message }) => {
    if (run_id === id && /^(?:Run|Waiting for a person)/.test(message)) look();
  });
  return {
    run,
    crawl: crawl.data ?? null,
    sites: sites.data ?? [],
    progress: progressOf(live?.id === id ? live : null, crawl.data ?? null),
  };
}

type Crawl = NonNullable<ReturnType<typeof useCall<"getCrawl">>["data"]>;

function progressOf(live: LiveRun | null, crawl: Crawl | null): RunProgress {
  // What was asked for last may be newer than what was told last, once it has ended.
  if (live !== null && (crawl === null || isActive(live.status)))
    return { counts: live.counts, perSecond: live.per_second, etaSeconds: live.eta_seconds };
  if (crawl === null) return { counts: null, perSecond: null, etaSeconds: null };
  const { queued_items, retrying_items, running_items, completed_items, failed_items, skipped_items } = crawl;
  return {
    counts: {
      queued: queued_items - retrying_items,
      running: running_items,
      retrying: retrying_items,
      completed: completed_items,
      failed: failed_items,
      skipped: skipped_items,
    },
    perSecond: crawl.pages_per_second,
    // What it tells is the time that it may take; how long it will take only the stream knows.
    etaSeconds: null,
  };
}
