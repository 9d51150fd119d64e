/** What a run of a saved crawl makes of what the job knew of its pages. */
import type { PageChange } from "../../../domain/page/page-change.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { PageCopyRecord } from "../../../store/ports/crawl-port.ts";
import type { ClaimedTask } from "../../../store/ports/port.ts";
import type { CrawlRun } from "./crawl-runs.ts";

/** What an earlier run has kept of the page, if it is of use to ask whether that still holds. */
export async function copyOf(
  { copies, changes, options }: CrawlRun,
  { key }: ClaimedTask,
  url: string,
): Promise<PageCopyRecord | null> {
  const copy = (await copies?.find(key, url)) ?? null;
  // A page that was gone and is there again is new, even if it is as it was: its records are wanted.
  if (copy === null || options.only_changed !== true || (await changes!.isKnown(copy.url))) return copy;
  return null;
}

/** Where only what is different is wanted, each record says in which way it is. */
export function withChange(
  { options }: CrawlRun,
  items: Record<string, JsonValue>[],
  change: PageChange | null | undefined,
): Record<string, JsonValue>[] {
  if (options.only_changed !== true || change === null || change === undefined) return items;
  return items.map((item) => ({ ...item, change }));
}
