import type { Handled } from "../../domain/run/outcome.ts";
import { robotsOverride } from "../../domain/site/site-options.ts";
import type { SiteRecord } from "../../store/records/site-records.ts";
import type { CrawlRun } from "./crawl/crawl-runs.ts";

/** The first page of a site whose setting decides about robots.txt against the crawl says so in the crawl's log. */
export function withOverride(
  { options, overridden }: Pick<CrawlRun, "options" | "overridden">,
  site: SiteRecord | null,
  handled: Handled,
): Handled {
  const event = robotsOverride(options.respect_robots, site);
  // Nothing is written of what goes back to the queue.
  if (event === null || site === null || handled.kind === "handed_back" || overridden.has(site.site)) return handled;
  overridden.add(site.site);
  return { ...handled, report: { ...handled.report, events: [...(handled.report?.events ?? []), event] } };
}
