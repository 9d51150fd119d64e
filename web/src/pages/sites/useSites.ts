/** Queries, live updates and mutations of the site pages. */
import { keyOf, reloadQueries, queryClient, useChange } from "../../api/query.ts";
import { useLive } from "../../api/live.ts";
import type { Site } from "../../api/types.ts";
import type { SiteLimit } from "../../logic/limits.ts";
import {
  hasNew,
  limitName,
  limitWords,
  type LiveSite,
  patchPages,
  patchRows,
  replaceSite,
  type SitePages,
  type SiteQuery,
} from "../../logic/sites.ts";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { useDebounced } from "../../ui/useDebounced.ts";

const SOON_MS = 200;
const REST_MS = 5000;

/** Merges live changes of sites into all cached queries. */
export function useLiveSites(): void {
  const again = useDebounced(() => reloadQueries(["listSites"]), {
    soonMs: SOON_MS,
    restMs: REST_MS,
  });
  useLive<{ sites: LiveSite[] }>("sites", ({ sites }) => {
    const shown = queryClient.getQueriesData<SitePages>({ queryKey: ["listSites"], type: "active" });
    if (shown.some(([key, old]) => hasNew(old, sites, (key[1] as { query?: SiteQuery } | undefined)?.query))) again();
    queryClient.setQueriesData<SitePages>({ queryKey: ["listSites"] }, (old) => patchPages(old, sites));
    for (const one of sites)
      queryClient.setQueryData<Site>(keyOf("getSite", { params: { site: one.site } }), (old) =>
        old === undefined ? old : patchRows([old], [one])?.[0],
      );
  });
}

function keep(site: Site): void {
  queryClient.setQueriesData<SitePages>({ queryKey: ["listSites"] }, (old) => replaceSite(old, site));
  queryClient.setQueryData(keyOf("getSite", { params: { site: site.site } }), site);
}

/** Immediate actions on a site; each shows a toast, with undo where possible. */
export function useSiteActions() {
  const done = {
    onSuccess: keep,
    onError: toastError,
    // Sites of a group change together.
    invalidates: ["listSites", "getSite", "listLanes"] as const,
  };
  const change = useChange("changeSite", done);
  const pause = useChange("pauseSite", done);
  const resume = useChange("resumeSite", done);
  const reset = useChange("resetBreaker", done);
  const forget = useChange("forgetLearnedStrategy", done);
  const params = (site: string) => ({ params: { site } });
  return {
    change,
    setLimit: (site: string, limit: SiteLimit, value: number | null, before: number | null) =>
      change.mutate(
        { params: { site }, body: { [limit]: value } },
        {
          onSuccess: () =>
            toast(`${limitName(limit)} of ${site}: ${limitWords(limit, value)}`, "good", {
              name: "Undo",
              run: () => change.mutate({ params: { site }, body: { [limit]: before } }),
            }),
        },
      ),
    pause: (site: string) =>
      pause.mutate(params(site), {
        onSuccess: () =>
          toast(`${site} is paused`, "good", {
            name: "Undo",
            run: () => resume.mutate(params(site)),
          }),
      }),
    resume: (site: string) => resume.mutate(params(site), { onSuccess: () => toast(`${site} is resumed`) }),
    resetBreaker: (site: string) =>
      reset.mutate(params(site), { onSuccess: () => toast(`Circuit breaker of ${site} is reset`) }),
    forget: (site: string) =>
      forget.mutate(params(site), { onSuccess: () => toast(`Learned strategy of ${site} is forgotten`) }),
  };
}

export type SiteActions = ReturnType<typeof useSiteActions>;
