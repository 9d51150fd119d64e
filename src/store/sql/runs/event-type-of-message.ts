/**
 * Types of events from before events had types, by message prefix. Frozen: a published migration uses it, and no new
 * message belongs here. Longer prefixes precede shorter ones.
 */
const PREFIXES: readonly (readonly [like: string, type: string])[] = [
  ["Run created%", "run.created"],
  ["Run started%", "run.started"],
  ["Run completed in part%", "run.partial"],
  ["Run completed%", "run.completed"],
  ["Run failed%", "run.failed"],
  ["Run cancelled%", "run.cancelled"],
  ["Run paused%", "run.paused"],
  ["Run resumed%", "run.resumed"],
  ["Run reopened%", "run.reopened"],
  ["Run is recovered%", "run.recovering"],
  ["Run goes on: % steps are done again", "run.recovered"],
  ["Run goes on%", "run.released"],
  ["The run before it has ended%", "run.released"],
  ["Waiting for a person%", "run.waiting_for_human"],
  ["Waiting for%", "run.held"],
  ["Waiting: the page leads to another site%", "task.deferred"],
  ["Strategy resolved%", "strategy.resolved"],
  ["Escalated to%", "strategy.escalated"],
  ["Retry scheduled: more retries % are not logged one by one", "log.truncated"],
  ["Retry scheduled%", "task.retry_scheduled"],
  ["Rate limited%", "task.rate_limited"],
  ["Redirected to another site%", "task.redirected"],
  ["Start moved%", "crawl.start_moved"],
  ["Site held%", "site.rate_limited"],
  ["Breaker opened%", "circuit.opened"],
  ["robots.txt of %", "robots.overridden"],
  ["Sitemap read%", "sitemap.read"],
  ["Starts at other sites%", "crawl.starts_added"],
  ["Feed read%", "feed.read"],
  ["List read%", "url_list.read"],
  ["Sitemap not read%", "sitemap.failed"],
  ["Pagination cut off%", "crawl.pagination_cut_off"],
  ["Webhook given up%", "webhook.failed"],
  ["No sitemap%", "sitemap.not_found"],
  // A failure or a condition may quote the message of another step: the first match counts.
  ["Step % skipped: %", "workflow.step_skipped"],
  ["Step % started", "workflow.step_started"],
  ["Step % completed", "workflow.step_completed"],
];

/** An expression over the columns `level` and `message`, which may be qualified; NULL: not recognised. */
export function eventTypeOfMessage(level: string, message: string): string {
  const cases = PREFIXES.map(([like, type]) => `WHEN ${message} LIKE '${like}' THEN '${type}'`);
  const failed = `WHEN ${level} = 'error' AND ${message} LIKE 'Step % failed: %' THEN 'workflow.step_failed'`;
  return `CASE ${[failed, ...cases].join(" ")} END`;
}

/**
 * The type of an event `e`. On Postgres, events of earlier versions have no type: updating all of them would lock the
 * table for longer than leases last, and workers of the previous version may still write such events.
 */
export const EVENT_TYPE = `coalesce(e.type, ${eventTypeOfMessage("e.level", "e.message")}, 'event.unknown')`;
