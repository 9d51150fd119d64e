/** The default tab of a run. */
import type { RunCounts } from "../../../logic/run-rows.ts";
import { isActive } from "../../../logic/states.ts";

export interface FirstTab {
  run: string;
  tab: string;
  /** False: it depends on data that is not loaded yet. */
  sure: boolean;
}

interface Looked {
  id: string;
  kind: string;
  status: string;
}

/**
 * `kept` is the tab shown before: it stays, also when the run ends meanwhile. Exception: from the results of a page,
 * which has none before its end, to its failure.
 */
export function firstTab(run: Looked, counts: RunCounts | null, kept: FirstTab | null): FirstTab {
  const isKept = kept !== null && kept.run === run.id && kept.sure;
  const isInVain = run.kind === "page" && run.status === "failed" && kept?.tab === "results";
  if (isKept && !isInVain) return kept;
  const { tab, sure = true } = tabOf(run, counts);
  return kept !== null && kept.run === run.id && kept.tab === tab && kept.sure === sure
    ? kept
    : { run: run.id, tab, sure };
}

function tabOf({ kind, status }: Looked, counts: RunCounts | null): { tab: string; sure?: boolean } {
  if (kind === "crawl") return tabOfCrawl(status, counts);
  if (kind !== "page") return { tab: "events" };
  // For a page in progress the result is what the user waits for.
  return { tab: status === "failed" ? "errors" : status === "cancelled" ? "events" : "results" };
}

function tabOfCrawl(status: string, counts: RunCounts | null): { tab: string; sure?: boolean } {
  if (isActive(status)) return { tab: "pages" };
  if (status === "completed") return { tab: "results" };
  if (counts === null) return { tab: { partial: "results", failed: "errors" }[status] ?? "events", sure: false };
  if (counts.completed > 0) return { tab: "results" };
  return { tab: counts.failed > 0 ? "errors" : "events" };
}
