/** Progress of a run: from the latest live event or the latest answer. */
import type { Overview } from "../../../api/types.ts";
import type { RunCounts } from "../../../logic/run-rows.ts";
import { isActive } from "../../../logic/states.ts";

export interface RunProgress {
  counts: RunCounts | null;
  perSecond: number | null;
  etaSeconds: number | null;
  /** Upper end of the range; absent: none. */
  etaMostSeconds?: number | null;
}

type LiveRun = Pick<Overview["active_runs"][number], "status" | "counts" | "per_second" | "eta_seconds"> & {
  eta_most_seconds?: number | null;
};

interface CrawlNumbers {
  queued_items: number;
  retrying_items: number;
  running_items: number;
  completed_items: number;
  failed_items: number;
  skipped_items: number;
  pages_per_second: number;
}

/** When it arrived, by the browser's clock. */
type At<T> = { at: number } & T;

/** The stream sends the newest active runs only: after this silence its last data of a run counts as outdated. */
const SILENT_MS = 10_000;

/** `latest` may be outdated: from before the run ended or was restarted. */
export function progressOf(
  status: string,
  latest: At<{ run: LiveRun }> | null,
  asked: At<{ crawl: CrawlNumbers }> | null,
): RunProgress {
  const active = isActive(status);
  const live = latest !== null && isActive(latest.run.status) === active ? latest : null;
  if (asked === null)
    return {
      counts: live?.run.counts ?? null,
      perSecond: live?.run.per_second ?? null,
      etaSeconds: live?.run.eta_seconds ?? null,
      etaMostSeconds: live?.run.eta_most_seconds ?? null,
    };
  const counts = countsOf(asked.crawl);
  // Only the stream has an ETA.
  if (live === null || !active) return { counts, perSecond: asked.crawl.pages_per_second, etaSeconds: null };
  const isSilent = asked.at - live.at > SILENT_MS;
  return {
    counts: live.at >= asked.at ? live.run.counts : counts,
    perSecond: isSilent ? asked.crawl.pages_per_second : live.run.per_second,
    etaSeconds: isSilent ? null : live.run.eta_seconds,
    etaMostSeconds: isSilent ? null : (live.run.eta_most_seconds ?? null),
  };
}

function countsOf(crawl: CrawlNumbers): RunCounts {
  const { queued_items, retrying_items, running_items, completed_items, failed_items, skipped_items } = crawl;
  return {
    queued: queued_items - retrying_items,
    running: running_items,
    retrying: retrying_items,
    completed: completed_items,
    failed: failed_items,
    skipped: skipped_items,
  };
}
