import { useEffect, useState } from "react";
import { useLocation, useParams, useSearchParams } from "wouter";
import type { Run as RunView } from "../../api/types.ts";
import { KIND_NAMES } from "./logic/run-filter.ts";
import { type FirstTab, firstTab } from "./logic/run-first-tab.ts";
import { titleOf } from "../../logic/run-page.ts";
import type { RunProgress } from "./logic/run-progress.ts";
import { isActive } from "../../logic/states.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Card } from "../../ui/Card.tsx";
import { EventLog } from "../../ui/text/EventLog.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { ErrorBox, PageSkeleton } from "../../ui/States.tsx";
import { type Tab, Tabs } from "../../ui/Tabs.tsx";
import { Num } from "../../ui/Values.tsx";
import { Changes } from "./results/Changes.tsx";
import { Configuration } from "./Configuration.tsx";
import { Errors } from "./Errors.tsx";
import type { Saved } from "../live-view/LivePanel.tsx";
import { RecordedActions } from "../live-view/RecordedActions.tsx";
import { NeedsYou } from "./NeedsYou.tsx";
import { Pages } from "./Pages.tsx";
import { Results } from "./results/Results.tsx";
import { RunActions } from "./RunActions.tsx";
import { RunSites } from "./RunSites.tsx";
import { Origin, RunSummary } from "./RunSummary.tsx";
import { useRun } from "./useRun.ts";
import "./list/runs.css";
import "./run.css";

const BACK = { href: "/runs", name: "Runs" };

export default function Run() {
  const { id = "" } = useParams<{ id: string }>();
  const [, go] = useLocation();
  const { run: query, crawl, sites, progress } = useRun(id);
  const run = query.data;
  // The run goes on at once; what was recorded stays to be copied.
  const [saved, setSaved] = useState<Saved | null>(null);
  // Workflows have their own page.
  const isWorkflow = run?.kind === "workflow";
  useEffect(() => {
    if (isWorkflow) go(`/workflows/${id}`, { replace: true });
  }, [isWorkflow, id, go]);
  if (run === undefined) {
    if (query.error === null) return <PageSkeleton />;
    return (
      <>
        <PageHeader title="Run" back={BACK} />
        <ErrorBox error={query.error} onRetry={() => void query.refetch()} />
      </>
    );
  }
  if (isWorkflow) return <PageSkeleton />;
  const title = titleOf(run);
  return (
    <div className="stack run-page">
      <PageHeader
        title={title}
        back={BACK}
        badge={<Badge>{KIND_NAMES[run.kind]}</Badge>}
        actions={<RunActions run={run} failed={progress.counts?.failed ?? null} />}
        note={<Origin run={run} />}
      />
      {run.status === "waiting_for_human" ? <NeedsYou run={run} onSaved={setSaved} /> : null}
      {saved === null || saved.run?.id !== run.id || saved.actions.length === 0 ? null : (
        <Card title="Recorded actions">
          <RecordedActions actions={saved.actions} notes={saved.notes} />
        </Card>
      )}
      <RunSummary run={run} crawl={crawl} sites={sites} progress={progress} />
      <RunTabs run={run} isOnManySites={sites.length > 1} progress={progress} />
    </div>
  );
}

function RunTabs({
  run,
  isOnManySites,
  progress: { counts },
}: {
  run: RunView;
  isOnManySites: boolean;
  progress: RunProgress;
}) {
  const first = useFirstTab(run, counts);
  const tabs: Tab[] = [
    { id: "results", name: "Results", panel: () => <Results run={run} /> },
    { id: "pages", name: "Pages", panel: () => <Pages run={run} /> },
    ...(run.changes === null
      ? []
      : [{ id: "changes", name: "Changes", panel: () => <Changes run={run} changes={run.changes!} /> }]),
    {
      id: "errors",
      name: "Errors",
      ...(counts === null || counts.failed + counts.retrying === 0
        ? {}
        : { count: <Num value={counts.failed + counts.retrying} /> }),
      panel: () => <Errors run={run} />,
    },
    { id: "events", name: "Events", panel: () => <EventLog runId={run.id} isActive={isActive(run.status)} /> },
  ];
  if (isOnManySites) tabs.push({ id: "sites", name: "Sites", panel: () => <RunSites run={run} /> });
  if (run.kind === "page" || run.kind === "crawl")
    tabs.push({ id: "configuration", name: "Configuration", panel: () => <Configuration run={run} /> });
  return <Tabs tabs={tabs} label="About this run" first={first} />;
}

/** Fixed while the run is open: the tab must not change under the reader. */
function useFirstTab(run: RunView, counts: RunProgress["counts"]): string {
  const [search] = useSearchParams();
  const [kept, keep] = useState<FirstTab | null>(null);
  const first = firstTab(run, counts, kept);
  if (first !== kept) keep(first);
  // A URL with a page but no tab is from before tabs were in the URL.
  return search.has("task") ? "pages" : first.tab;
}
