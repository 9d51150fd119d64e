/** Compares pages of a saved crawl with what earlier runs of the job stored. */
import type { PageChange } from "../../../domain/page/page-change.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { PageCopyRecord } from "../../../store/ports/crawl-port.ts";
import type { ClaimedTask } from "../../../store/ports/port.ts";
import type { CrawlRun } from "./crawl-runs.ts";

/** The copy of an earlier run, if a conditional request is useful. */
export async function copyOf(
  { copies, changes, options }: CrawlRun,
  { key }: ClaimedTask,
  url: string,
): Promise<PageCopyRecord | null> {
  const copy = (await copies?.find(key, url)) ?? null;
  // A page that was gone and is back counts as new, even if unchanged: its records are wanted.
  if (copy === null || options.only_changed !== true || (await changes!.isKnown(copy.url))) return copy;
  return null;
}

/** With `only_changed`, each record says how its page changed. */
export function withChange(
  { options }: CrawlRun,
  items: Record<string, JsonValue>[],
  change: PageChange | null | undefined,
): Record<string, JsonValue>[] {
  if (options.only_changed !== true || change === null || change === undefined) return items;
  return items.map((item) => ({ ...item, change }));
}
