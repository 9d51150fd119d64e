/**
 * The types of events in the logs of runs. Programs match the type; the message is a sentence for people and may change.
 * docs/events.md is generated from this. The tests check every event they see against it: type, level and keys of `meta`.
 */
export type EventLevel = "info" | "warn" | "error";

export interface EventKind {
  /** The levels it may have. */
  levels: readonly EventLevel[];
  meaning: string;
  /** The keys that `meta` may have; not every one is always there. */
  meta: readonly string[];
}

const kind = (levels: EventKind["levels"], meaning: string, meta: readonly string[] = []): EventKind => ({
  levels,
  meaning,
  meta,
});

const FAILURE = ["failure_code", "failure_reason"] as const;
const STEP = ["step", "task_id"] as const;

/** A published type keeps its name and meaning; new ones may be added at any time. */
export const EVENTS = {
  "run.created": kind(["info"], "The run is stored and will be executed.", [
    "kind",
    "url",
    "requested_strategy",
    "max_attempts",
    "max_pages",
    "max_depth",
    "workflow",
    "template",
    "steps",
    "files",
    "proxies",
    "chunks",
    "checks",
  ]),
  "run.started": kind(
    ["info"],
    "The first task of the run started, or a crawl got its crawl slot. For runs that fetch pages, the event has the strategy and the number of attempts.",
    ["attempt", "max_attempts", "strategy"],
  ),
  "run.completed": kind(["info"], "The run ended and nothing failed.", [
    "attempt",
    "stats",
    "counts",
    "end_reason",
    "error_class",
  ]),
  "run.partial": kind(["warn"], "The run ended: some of it succeeded, some failed or was not done.", [
    "counts",
    "end_reason",
    "error_class",
  ]),
  "run.failed": kind(
    ["error"],
    "The run ended and nothing succeeded, or a step of a workflow failed. The message says why.",
    ["attempt", ...FAILURE, "stats", "counts", "end_reason", "error_class", "error_message"],
  ),
  "run.cancelled": kind(
    ["info"],
    "A person, the schedule of its job or the workflow that started it cancelled the run.",
  ),
  "run.paused": kind(["info"], "No further task of the run is started."),
  "run.resumed": kind(["info"], "The run continues after a pause, or after a person's answer.", ["session_id"]),
  "run.reopened": kind(
    ["info"],
    "The run had ended and continues: items were added, failed tasks are retried, or a crawl continues with what was left.",
  ),
  "run.waiting_for_human": kind(
    ["warn"],
    "The page needs a person, for example for a CAPTCHA or a login. Continue with `orb runs resolve`.",
    ["task_id", ...FAILURE],
  ),
  "run.held": kind(
    ["info"],
    "The run waits for a crawl slot, for enough usable proxies, or for the previous run of its schedule.",
    ["waiting_for", "until"],
  ),
  "run.released": kind(
    ["info", "warn"],
    "What the run waited for is available. As a warning: it continues with fewer proxies.",
    ["waited_for"],
  ),
  "run.recovering": kind(["info"], "A failed workflow repeats the steps that did not complete.", []),
  "run.recovered": kind(["info"], "A worker reset the steps that did not complete; the workflow continues.", []),
  "task.retry_scheduled": kind(
    ["warn"],
    "An attempt failed for a temporary reason; the event has number, time and cause of the next attempt. Runs with many pages log only the first retries per cause and site.",
    [
      "attempt",
      "max_attempts",
      "delay_ms",
      ...FAILURE,
      "http_status",
      "strategy",
      "step",
      "url",
      "task_id",
      "ready_at",
    ],
  ),
  "task.rate_limited": kind(["warn"], "The site rate limited this request; it costs no attempt.", [
    "attempt",
    ...FAILURE,
  ]),
  "task.redirected": kind(
    ["info"],
    "The page redirects to another site and is fetched there, under that site's limits.",
    ["from", "to"],
  ),
  "task.deferred": kind(
    ["info"],
    "The page redirects to another site that is paused, rate limited or has an open circuit; it waits for that site.",
    ["site", "reason"],
  ),
  "challenge.solution_rejected": kind(
    ["warn"],
    "Your `solve_challenge` failed, or parts of its answer cannot be used: which, and why. Values of the answer are not shown.",
    ["refused"],
  ),
  "strategy.resolved": kind(["info"], "How the page was fetched, and why.", ["strategy", "evidence"]),
  "strategy.escalated": kind(["warn"], "The next attempt uses another strategy.", [
    "attempt",
    "from",
    "to",
    ...FAILURE,
  ]),
  "site.rate_limited": kind(["warn"], "The site rate limited its requests; none are sent until the given time.", [
    "site",
    "until",
    "failure_reason",
    "http_status",
    "seconds",
  ]),
  "circuit.opened": kind(["warn"], "The site kept failing; its circuit breaker is open until the given time.", [
    "site",
    "until",
    "failure_reason",
    "http_status",
    "failures",
    "failed_probes",
  ]),
  "robots.overridden": kind(
    ["info", "warn"],
    "The site's own setting `respect_robots` overrides the setting of the run. As a warning: robots.txt is not obeyed.",
    ["site", "respect_robots", "asked"],
  ),
  "sitemap.read": kind(
    ["info", "warn"],
    "What a sitemap of a crawl contains. As a warning: a part of it was skipped.",
    ["url", "pages", "left", "sitemaps"],
  ),
  "sitemap.not_found": kind(["info"], "The site has no sitemap at the usual URL.", ["url"]),
  "sitemap.failed": kind(["warn"], "A sitemap could not be fetched or read; the crawl continues without it.", [
    "url",
    ...FAILURE,
  ]),
  "feed.read": kind(["info", "warn"], "The same as `sitemap.read`, of a feed that a crawl starts with.", [
    "url",
    "pages",
    "left",
  ]),
  "url_list.read": kind(["info", "warn"], "The same as `sitemap.read`, of a list of URLs that a crawl starts with.", [
    "url",
    "pages",
    "left",
  ]),
  "crawl.starts_added": kind(
    ["info", "warn"],
    "A list that the crawl starts with contains pages of other sites, which become starts, too. As a warning: not all of them did.",
    ["url", "pages"],
  ),
  "crawl.start_moved": kind(["info"], "A start of the crawl redirects to another site, which is now a start.", [
    "from",
    "to",
    "task_id",
  ]),
  "crawl.pagination_cut_off": kind(
    ["warn"],
    "A pattern of the crawl excludes a link that looks like the next page of a list; `follow` includes such pages.",
    ["code", "option", "patterns", "url", "found_on", "follow"],
  ),
  "workflow.step_started": kind(["info"], "A step started.", STEP),
  "workflow.step_completed": kind(["info"], "A step completed; those that depend on it start.", STEP),
  "workflow.step_skipped": kind(
    ["info", "warn"],
    "The condition of a step was not met, it was not needed, or a step before it failed.",
    STEP,
  ),
  "workflow.step_failed": kind(["error"], "All attempts of a step failed, or one failed permanently.", [
    ...STEP,
    "attempt",
    ...FAILURE,
  ]),
  "extraction.degraded": kind(
    ["warn"],
    "The records of the run are worse than those of earlier runs of its job: which fields, by which metric, before and now.",
    ["job_id", "reasons"],
  ),
  "repair.proposed": kind(
    ["info"],
    "New rules for broken fields of the job are proposed, from the pages of this run. `orb jobs repair` shows them.",
    ["job_id", "fields"],
  ),
  "repair.accepted": kind(
    ["info"],
    "The job has the proposed rules; `decided_by` says who accepted them. With `auto_repair` the pages of this run were read again from their copies.",
    ["job_id", "version", "fields", "decided_by", "pages", "pages_missing", "records"],
  ),
  "monitor.changed": kind(
    ["info"],
    "The monitor of the job found new, changed or removed pages: how many, and the first ones. `orb jobs changes` shows them.",
    ["job_id", "new", "changed", "removed", "changes"],
  ),
  "schedule.paused": kind(
    ["warn"],
    "The schedule of the job is paused, because the records of this run are degraded and the job's `on_degraded` is `pause_schedule`.",
    ["job_id"],
  ),
  "webhook.failed": kind(["warn"], "The webhook of the run was rejected too often and is no longer called.", ["error"]),
  "log.truncated": kind(["warn"], "Further retries of this cause, or of this run, are not logged.", [
    ...FAILURE,
    "http_status",
  ]),
  "event.unknown": kind(
    ["info", "warn", "error"],
    "An earlier version, without event types, wrote the event, and its message is not recognised.",
  ),
} as const satisfies Record<string, EventKind>;

export type EventType = keyof typeof EVENTS;

export const EVENT_TYPES = Object.keys(EVENTS) as readonly EventType[];
