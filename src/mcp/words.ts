/** Why something waits, in a sentence. */
import type { Crawl, Row } from "../api-client/client.ts";

type Listed = Row<"get /scraping/tasks">;

/** Null: nothing blocks it. */
export function waitingWords(view: Listed & Partial<Pick<Crawl, "waiting_sites">>): string | null {
  if (view.waiting_for !== null) return untilWords(view.waiting_for);
  const [site] = view.waiting_sites ?? [];
  if (site === undefined || site.waiting_for === null) return null;
  return `${site.site}: ${untilWords(site.waiting_for)}`;
}

export function untilWords({ message, until }: { message: string; until: string | null }): string {
  return until === null || message.includes(until) ? message : `${message} (until ${until})`;
}
