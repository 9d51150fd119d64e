/** The list of runs: loaded in pages, and updated by live events. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { call, callPage, type Page, type Problem } from "../../../api/client.ts";
import { useLive } from "../../../api/live.ts";
import { keyOf, queryClient, useNext } from "../../../api/query.ts";
import type { Overview, Run } from "../../../api/types.ts";
import { isOfRun, type RunEvent } from "../../../logic/run-events.ts";
import { matches, queryOf, type RunFilter, writeFilter } from "../logic/run-filter.ts";
import { hasGrown, isPartial, type RunCounts, withRows } from "../../../logic/run-rows.ts";
import { serverNow } from "../../../logic/server-time.ts";
import { isActive } from "../../../logic/states.ts";
import { useDebounced } from "../../../ui/useDebounced.ts";

export type LiveRun = Overview["active_runs"][number];

/** The fields of a row; active runs have more. */
export type RunRow = Pick<
  LiveRun,
  Exclude<keyof LiveRun, "counts" | "current_steps" | "per_second" | "eta_seconds" | "eta_most_seconds">
> & {
  counts?: RunCounts;
  degraded?: Run["degraded"];
  per_second?: number;
  eta_seconds?: number | null;
  eta_most_seconds?: number | null;
};

interface Pages {
  pages: Page<RunRow>[];
  pageParams: unknown[];
}

const PAGE = 200;
/** Up to this many changed runs are loaded individually; for more the list is reloaded. */
const ONE_BY_ONE = 8;
const PAUSE_MS = 1000;
/** Per loaded page: a long list is reloaded less often. */
const REST_MS = 2000;
const AGAIN_MS = 10_000;

export function useRunList(filter: RunFilter) {
  const search = writeFilter(filter);
  // "The last hour" is relative to the time of the query: with a moving start the list would change every minute.
  const askedAt = useMemo(serverNow, [search]);
  const query = useMemo(() => ({ ...queryOf(filter, askedAt), limit: PAGE, total: true }), [search, askedAt]);
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
    // The stream brings changes; reloading many pages on every focus is useless.
    refetchOnWindowFocus: false,
    staleTime: 30_000,
    placeholderData: (old) => old,
  });
  const loaded = list.data?.pages.length ?? 1;
  const reload = useDebounced(
    () => {
      // A request in flight may be older than the live data.
      if (queryClient.isFetching({ queryKey: key, exact: true }) > 0) reload();
      else void list.refetch();
    },
    { soonMs: 0, restMs: REST_MS * loaded },
  );
  /** Live rows received while the list was loading, which may lack them. */
  const meanwhile = useRef(new Map<string, RunRow>());
  const patch = useCallback(
    (rows: readonly RunRow[]) => {
      if (queryClient.isFetching({ queryKey: key, exact: true }) > 0)
        for (const row of rows) meanwhile.current.set(row.id, row);
      const next = queryClient.setQueryData<Pages>(key, (old) =>
        old === undefined ? old : { ...old, pages: withRows(old.pages, rows, (row) => matches(filter, row, askedAt)) },
      );
      if (next !== undefined && hasGrown(next.pages, PAGE)) reload();
    },
    [key, search, askedAt, reload],
  );
  useEffect(() => {
    if (list.isFetching || meanwhile.current.size === 0) return;
    const known = new Set(list.data?.pages.flatMap((page) => page.rows.map(({ id }) => id)));
    // For active runs the loaded list may be newer; an ended state is always final.
    const news = [...meanwhile.current.values()].filter(({ id, status }) => !isActive(status) || !known.has(id));
    meanwhile.current.clear();
    patch(news);
  }, [list.isFetching, list.data, patch]);
  const partly = isPartial(list.data?.pages ?? [], isActive);
  useEffect(() => {
    if (!partly) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") reload();
    }, AGAIN_MS * loaded);
    return () => clearInterval(timer);
  }, [partly, loaded, reload]);
  useLive<{ runs: LiveRun[] }>("runs", ({ runs }) => patch(runs));
  useLiveRows(patch, reload);
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.rows) ?? [], [list.data]);
  return { list, rows, askedAt, total: list.data?.pages[0]?.total ?? null, next: useNext(list) };
}

/** Starts and ends come as events, also for runs that are not among the first active ones. */
function useLiveRows(patch: (rows: readonly RunRow[]) => void, reload: () => void): void {
  const changed = useRef(new Set<string>());
  const latest = useRef(patch);
  latest.current = patch;
  const look = async () => {
    const ids = [...changed.current];
    changed.current.clear();
    if (ids.length > ONE_BY_ONE) return reload();
    // Deleted runs or a lost server need nothing here; a reconnect reloads everything.
    const runs = await Promise.all(ids.map((run_id) => call("getRun", { params: { run_id } }).catch(() => null)));
    return latest.current(runs.filter((run): run is Run => run !== null));
  };
  const soon = useDebounced(() => void look(), { soonMs: PAUSE_MS, restMs: 0 });
  useLive<RunEvent>("run_event", ({ run_id, type }) => {
    if (!isOfRun(type)) return;
    changed.current.add(run_id);
    soon();
  });
}
