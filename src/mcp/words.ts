/** Why something does not go on, in a sentence. */
import type { CrawlDetail, CrawlView } from "../orchestrator/crawls/view.ts";

/** Null: nothing keeps it waiting. */
export function waitingWords(view: CrawlView & Partial<Pick<CrawlDetail, "waiting_sites">>): string | null {
  if (view.waiting_for !== null) return untilWords(view.waiting_for);
  const [site] = view.waiting_sites ?? [];
  if (site === undefined || site.waiting_for === null) return null;
  return `${site.site}: ${untilWords(site.waiting_for)}`;
}

function untilWords({ message, until }: { message: string; until: string | null }): string {
  return until === null || message.includes(until) ? message : `${message} (until ${until})`;
}
