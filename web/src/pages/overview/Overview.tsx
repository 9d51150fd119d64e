import { keyOf, queryClient, useCall } from "../../api/query.ts";
import { useLive } from "../../api/live.ts";
import type { Overview as Whole } from "../../api/types.ts";
import { continueSeries, type LiveOverview, spokenGist, verdictOf } from "../../logic/overview.ts";
import { serverNow } from "../../logic/server-time.ts";
import { Icon } from "../../ui/Icon.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { ErrorBox, PageSkeleton } from "../../ui/States.tsx";
import "../../ui/badge.css";
import { ActiveRuns } from "./ActiveRuns.tsx";
import { Charts, Figures } from "./Figures.tsx";
import { StorageNotice } from "./Storage.tsx";
import { Machine, RecentFailures, TroubledSites } from "./Trouble.tsx";
import { Welcome } from "./Welcome.tsx";
import "./overview.css";

const KEY = keyOf("getOverview");

/** Is it working, what is slow, what failed: at one glance. */
export default function Overview() {
  const overview = useCall("getOverview", undefined, { staleTime: Number.POSITIVE_INFINITY, refetchOnMount: "always" });
  const newest = useCall("listRuns", { query: { limit: 1 } });
  useLive<LiveOverview>("overview", (live) => {
    queryClient.setQueryData<Whole>(KEY, (old) =>
      old === undefined ? old : { ...live, series: continueSeries(old.series, live, serverNow()) },
    );
  });
  const { data } = overview;
  if (data === undefined)
    return (
      <>
        <PageHeader title="Overview" />
        {overview.error === null ? (
          <PageSkeleton />
        ) : (
          <ErrorBox error={overview.error} onRetry={() => void overview.refetch()} />
        )}
      </>
    );
  // Queue items may be downloaded without any run of pages: there is something to show then, too.
  const isNew = newest.data?.length === 0 && data.active_runs.length === 0 && data.sites.known === 0;
  if (isNew)
    return (
      <>
        <PageHeader title="Overview" note="Nothing has been crawled or scraped here yet." />
        <Welcome />
      </>
    );
  const verdict = verdictOf(data);
  return (
    <>
      <PageHeader
        title="Overview"
        badge={
          <span className={`verdict tone-${verdict.tone}`}>
            <Icon name={verdict.tone === "good" ? "check" : "warning"} size={14} />
            {verdict.text}
          </span>
        }
      />
      <p className="spoken" role="status" aria-live="polite">
        {spokenGist(data)}
      </p>
      <StorageNotice />
      <div className="overview">
        <Figures overview={data} />
        <Charts series={data.series} />
        <ActiveRuns runs={data.active_runs} />
        <div className="overview-lists">
          <TroubledSites sites={data.troubled_sites} />
          <RecentFailures failures={data.failures} troubled_sites={data.troubled_sites} />
          <Machine overview={data} />
        </div>
      </div>
    </>
  );
}
