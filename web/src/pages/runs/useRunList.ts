/** The list of runs: loaded in pages, and kept up to date by what the server tells. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { call, callPage, type Page, type Problem } from "../../api/client.ts";
import { useLive } from "../../api/live.ts";
import { keyOf, queryClient, useNext } from "../../api/query.ts";
import type { Overview, Run } from "../../api/types.ts";
import type { RunEvent } from "../../logic/run-events.ts";
import { matches, queryOf, type RunFilter, writeFilter } from "../../logic/run-filter.ts";
import { type RunCounts, withRows } from "../../logic/run-rows.ts";
import { useNow } from "../../ui/Values.tsx";

export type LiveRun = Overview["active_runs"][number];

/** What a row shows; those at work have more to tell. */
export type RunRow = Pick<
  LiveRun,
  Exclude<keyof LiveRun, "counts" | "current_steps" | "per_second" | "eta_seconds">
> & {
  counts?: RunCounts;
  per_second?: number;
  eta_seconds?: number | null;
};

interface Pages {
  pages: Page<RunRow>[];
  pageParams: unknown[];
}

const PAGE = 200;
/** So many are asked for one by one when something was said of them; of more the beginning of the list is loaded. */
const ONE_BY_ONE = 8;
const PAUSE_MS = 1000;

export function useRunList(filter: RunFilter) {
  // It changes once a minute where the time matters.
  const now = useNow();
  const search = writeFilter(filter);
  const minute = Math.floor(now / 60_000);
  const query = useMemo(() => ({ ...queryOf(filter, minute * 60_000), limit: PAGE, total: true }), [search, minute]);
  const key = useMemo(() => [...keyOf("listRuns", { query }), "list"], [query]);
  const list = useInfiniteQuery<Page<RunRow>, Problem, Pages, readonly unknown[], string | null>({
    queryKey: key,
    queryFn: ({ signal, pageParam }) =>
      callPage(
        "listRuns",
        { query: pageParam === null ? query : { ...query, total: false, cursor: pageParam } },
        { signal },
      ),
    initialPageParam: null,
    getNextPageParam: ({ next }) => next,
    // The stream tells what changes; loading many pages again because somebody looked elsewhere helps nobody.
    refetchOnWindowFocus: false,
    staleTime: 30_000,
    placeholderData: (old) => old,
  });
  const patch = useCallback(
    (rows: readonly RunRow[]) =>
      queryClient.setQueryData<Pages>(key, (old) =>
        old === undefined
          ? old
          : { ...old, pages: withRows(old.pages, rows, (row) => matches(filter, row, Date.now())) },
      ),
    [key, search],
  );
  useLive<{ runs: LiveRun[] }>("runs", ({ runs }) => patch(runs));
  useTold(patch, () => callPage("listRuns", { query: { ...query, total: false, limit: 100 } }));
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.rows) ?? [], [list.data]);
  return { list, rows, total: list.data?.pages[0]?.total ?? null, next: useNext(list) };
}

/** Runs that begin and end are told of by their events, also those that are not among the first at work. */
function useTold(patch: (rows: readonly RunRow[]) => void, first: () => Promise<Page<RunRow>>): void {
  const told = useRef(new Set<string>());
  const timer = useRef<number | undefined>(undefined);
  const latest = useRef({ patch, first });
  latest.current = { patch, first };
  useEffect(() => () => clearTimeout(timer.current), []);
  const look = async () => {
    timer.current = undefined;
    const ids = [...told.current];
    told.current.clear();
    try {
      const rows: RunRow[] =
        ids.length > ONE_BY_ONE
          ? (await latest.current.first()).rows
          : (await Promise.all(ids.map((run_id) => call("getRun", { params: { run_id } }).catch(() => null)))).filter(
              (run): run is Run => run !== null,
            );
      latest.current.patch(rows);
    } catch {
      // The next event, or the connection when it comes back, brings another look.
    }
  };
  useLive<RunEvent>("run_event", ({ run_id, message }) => {
    if (!/^(?:Run|Workflow|Crawl|Waiting for a person)/.test(message)) return;
    told.current.add(run_id);
    timer.current ??= window.setTimeout(() => void look(), PAUSE_MS);
  });
}
