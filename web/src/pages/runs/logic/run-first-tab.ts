/** The default tab of a run: what people come for. */
import type { RunCounts } from "../../../logic/run-rows.ts";
import { isActive } from "../../../logic/states.ts";

export interface FirstTab {
  run: string;
  tab: string;
  /** False: what it depends on is not known yet. */
  sure: boolean;
}

interface Looked {
  id: string;
  kind: string;
  status: string;
}

/**
 * `kept` is what was shown before: that stays, also when the run ends meanwhile. Only whoever looks at a page's results, where
 * nothing is to be read before it has ended, is shown why it failed.
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
  // Of a page that is being got, the record is what is waited for.
  return { tab: status === "failed" ? "errors" : status === "cancelled" ? "events" : "results" };
}

function tabOfCrawl(status: string, counts: RunCounts | null): { tab: string; sure?: boolean } {
  if (isActive(status)) return { tab: "pages" };
  if (status === "completed") return { tab: "results" };
  if (counts === null) return { tab: { partial: "results", failed: "errors" }[status] ?? "events", sure: false };
  if (counts.completed > 0) return { tab: "results" };
  return { tab: counts.failed > 0 ? "errors" : "events" };
}
