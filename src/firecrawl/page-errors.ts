/** Pages of a crawl or a batch that failed. */
import type { Failure } from "../domain/run/failure.ts";
import { shownUrl } from "../domain/text/url.ts";
import type { FirecrawlDeps } from "./deps.ts";
import { requireCrawlRun } from "./status.ts";

interface ErrorsView {
  errors: { id: string; timestamp: string; url: string; code: string; error: string }[];
  robotsBlocked: string[];
}

const CHUNK = 500;
const MOST = 10_000;

export async function listErrors(deps: FirecrawlDeps, id: string): Promise<ErrorsView> {
  const run = await requireCrawlRun(deps, id);
  const view: ErrorsView = { errors: [], robotsBlocked: [] };
  let after: string | undefined;
  for (let seen = 0; seen < MOST; seen += CHUNK) {
    const window = { limit: CHUNK, ...(after === undefined ? {} : { after }) };
    const tasks = await deps.store.tasks(run.id, { states: ["failed"], pagesOnly: true, ...window });
    for (const task of tasks) {
      const url = task.url === null ? "" : shownUrl(task.url);
      if (task.failure?.code === "robots") view.robotsBlocked.push(url);
      else
        view.errors.push({
          id: task.id,
          timestamp: new Date(task.endedAt ?? task.createdAt).toISOString(),
          url,
          code: codeOf(task.failure),
          error: task.failure?.message ?? "it failed",
        });
    }
    after = tasks.at(-1)?.id;
    if (tasks.length < CHUNK) break;
  }
  return view;
}

/** Their words for what can go wrong with a page. */
export function codeOf(failure: Pick<Failure, "code" | "reason"> | null): string {
  switch (failure?.code) {
    case "timeout":
      return "SCRAPE_TIMEOUT";
    case "network":
      if (failure.reason.startsWith("dns")) return "SCRAPE_DNS_RESOLUTION_ERROR";
      return failure.reason.startsWith("tls") ? "SCRAPE_SSL_ERROR" : "SCRAPE_SITE_ERROR";
    case "forbidden_target":
      return "SCRAPE_FORBIDDEN_TARGET";
    case "robots":
      return "CRAWL_DENIAL";
    case "extraction":
      return failure.reason === "action_failed" ? "SCRAPE_ACTION_ERROR" : "SCRAPE_EXTRACTION_ERROR";
    case undefined:
      return "UNKNOWN_ERROR";
    default:
      return "SCRAPE_SITE_ERROR";
  }
}
