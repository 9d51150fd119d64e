import type { Handled } from "../../domain/run/outcome.ts";
import { robotsOverride } from "../../domain/site/site-options.ts";
import type { SiteRecord } from "../../store/records/site-records.ts";
import type { CrawlRun } from "./crawl/crawl-runs.ts";

/** Logs once per site that the site's setting overrides the crawl's about robots.txt. */
export function withOverride(
  { options, overridden }: Pick<CrawlRun, "options" | "overridden">,
  site: SiteRecord | null,
  handled: Handled,
): Handled {
  const event = robotsOverride(options.respect_robots, site);
  // Events of requeued tasks are not written.
  if (event === null || site === null || handled.kind === "handed_back" || overridden.has(site.site)) return handled;
  overridden.add(site.site);
  return { ...handled, report: { ...handled.report, events: [...(handled.report?.events ?? []), event] } };
}
