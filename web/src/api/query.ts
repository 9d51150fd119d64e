/** Cached API responses, by operation and input: `useCall("getRun", { params: { run_id } })`. */
import {
  MutationCache,
  QueryCache,
  QueryClient,
  type QueryKey,
  useInfiniteQuery,
  type UseInfiniteQueryResult,
  useMutation,
  type UseMutationOptions,
  useQuery,
  type UseQueryOptions,
} from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";
import { type Answer, call, callPage, type Input, type OperationName, type Page, Problem } from "./client.ts";
import { createQueryReloader } from "./query-reloader.ts";

/** The rights of the caller changed: the page learns them. */
const onError = (error: unknown) => {
  if (error instanceof Problem && error.status === 403)
    void queryClient.invalidateQueries({ queryKey: keyOf("getOwnKey") });
};

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      // Live events bring updates; this is for the rest.
      staleTime: 10_000,
      refetchOnWindowFocus: true,
      // Retry while the server is unavailable; a rejected request would be rejected again.
      retry: (failures, error) =>
        failures < 2 && !(error instanceof Problem && error.status >= 400 && error.status < 500),
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

/** For live events. Changes made here invalidate instead: an earlier response is of no use. */
export const reloadQueries: (names: readonly OperationName[]) => void = createQueryReloader(queryClient);

export function keyOf<Name extends OperationName>(name: Name, input?: Input<Name>): QueryKey {
  return input === undefined ? [name] : [name, input];
}

type Options<Name extends OperationName> = Omit<UseQueryOptions<Answer<Name>, Problem>, "queryKey" | "queryFn">;

export function useCall<Name extends OperationName>(name: Name, input?: Input<Name>, options: Options<Name> = {}) {
  return useQuery<Answer<Name>, Problem>({
    queryKey: keyOf(name, input),
    queryFn: ({ signal }) => call(name, input, { signal }),
    ...options,
  });
}

type RowOf<Name extends OperationName> = Answer<Name> extends (infer Row)[] ? Row : never;

/** Loading the rest of a list. */
export interface Next {
  /** Loads the next page, if any; not while loading, and not automatically after a failure. */
  more: () => void;
  /** Why the next page could not be loaded. */
  error: Problem | null;
  again: () => void;
}

export function useNext({
  hasNextPage,
  isFetching,
  isFetchNextPageError,
  error,
  fetchNextPage,
  refetch,
}: Pick<
  UseInfiniteQueryResult<unknown, Problem>,
  "hasNextPage" | "isFetching" | "isFetchNextPageError" | "error" | "fetchNextPage" | "refetch"
>): Next {
  const more = useCallback(() => {
    if (hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetching, isFetchNextPageError, fetchNextPage]);
  const failed = isFetchNextPageError && !isFetching ? error : null;
  const again = useCallback(() => {
    // The cursor may be gone: reload from the start.
    if (failed !== null && failed.status >= 400 && failed.status < 500) void refetch();
    else void fetchNextPage();
  }, [failed, refetch, fetchNextPage]);
  return useMemo(() => ({ more, error: failed, again }), [more, failed, again]);
}

/** A paginated list: `rows` of all loaded pages, `next` for the rest. */
export function usePages<Name extends OperationName>(name: Name, input?: Input<Name>, enabled = true) {
  const query = useInfiniteQuery<Page<RowOf<Name>>, Problem, { pages: Page<RowOf<Name>>[] }, QueryKey, string | null>({
    queryKey: [...keyOf(name, input), "pages"],
    queryFn: ({ signal, pageParam }) => {
      const call = (input ?? {}) as { query?: object };
      const page = pageParam === null ? call : { ...call, query: { ...call.query, cursor: pageParam } };
      return callPage(name, page as Input<Name>, { signal });
    },
    initialPageParam: null,
    getNextPageParam: ({ next }) => next,
    enabled,
  });
  const { data } = query;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.rows) ?? [], [data]);
  return {
    ...query,
    rows,
    total: query.data?.pages[0]?.total ?? null,
    next: useNext(query),
  };
}

/** A mutation; `invalidates` are the operations whose responses it outdates. */
export function useChange<Name extends OperationName>(
  name: Name,
  {
    invalidates = [],
    ...options
  }: { invalidates?: readonly OperationName[] } & Omit<
    UseMutationOptions<Answer<Name>, Problem, Input<Name>>,
    "mutationFn"
  > = {},
) {
  return useMutation<Answer<Name>, Problem, Input<Name>>({
    mutationFn: (input) => call(name, input),
    ...options,
    onSettled: async (...settled) => {
      await Promise.all(invalidates.map((one) => queryClient.invalidateQueries({ queryKey: [one] })));
      await options.onSettled?.(...settled);
    },
  });
}

/** Reloads an operation periodically where the stream has no events for it. */
export function usePolling(name: OperationName, everyMs: number): void {
  useEffect(() => {
    const timer = setInterval(() => reloadQueries([name]), everyMs);
    return () => clearInterval(timer);
  }, [name, everyMs]);
}
