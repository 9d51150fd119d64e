/**
 * What stands in the logs of runs. Messages are sentences for people; how each begins keeps its meaning, so that programs may
 * look for it. docs/events.md is made from this, and the tests hold every event they see to it.
 */
export interface EventKind {
  /** How the message begins; `…` stands for a name. */
  begins: string;
  /** Which it may have. */
  levels: readonly ("info" | "warn" | "error")[];
  meaning: string;
  /** Keys of `meta`, as far as there are some; not every one is always there. */
  meta: readonly string[];
}

const kind = (
  begins: string,
  levels: EventKind["levels"],
  meaning: string,
  meta: readonly string[] = [],
): EventKind => ({ begins, levels, meaning, meta });

const FAILURE = ["failure_code", "failure_reason"] as const;

/** Longer beginnings stand before shorter ones that they begin with. */
export const EVENTS: readonly EventKind[] = [
  kind("Run created", ["info"], "it is in the database, and will be done", [
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
  kind("Run started", ["info"], "something of it is done for the first time, or a crawl has its turn"),
  kind("Run completed in part", ["warn"], "the end: some of it succeeded, some failed or was left", [
    "counts",
    "end_reason",
    "error_class",
  ]),
  kind("Run completed", ["info"], "the end: nothing failed", [
    "attempt",
    "stats",
    "counts",
    "end_reason",
    "error_class",
  ]),
  kind("Run failed", ["error"], "the end: nothing succeeded, or a step of a workflow failed; the message says why", [
    "attempt",
    ...FAILURE,
    "stats",
    "counts",
    "end_reason",
    "error_class",
    "error_message",
  ]),
  kind("Run cancelled", ["info"], "the end: a person, its schedule, or the workflow that had started it wanted it so"),
  kind("Run paused", ["info"], "nothing more of it is begun"),
  kind("Run resumed", ["info"], "it goes on after a pause, or after a person's answer", ["session_id"]),
  kind(
    "Run reopened",
    ["info"],
    "it had ended and goes on: items were added, what failed is tried again, or a crawl goes on with what was left",
  ),
  kind("Run is recovered", ["info"], "a failed workflow does again what did not complete"),
  kind("Run goes on with fewer proxies", ["warn"], "it has waited for proxies long enough"),
  kind("Run goes on", ["info"], "what it waited for is there: proxies, its turn, a worker for its recovery"),
  kind("The run before it has ended", ["info"], "a scheduled run with `overlap: queue` may begin"),
  kind("Waiting for a person", ["warn"], "a wall that only a person gets past; `orb runs resolve` answers", [
    "task_id",
    ...FAILURE,
  ]),
  kind("Waiting for", ["info"], "its turn among the crawls, enough proxies, or the run of its schedule before it", [
    "waiting_for",
    "until",
  ]),
  kind("Waiting: the page leads to another site", ["info"], "that site is paused, rests or is left alone", [
    "site",
    "reason",
  ]),
  kind("Strategy resolved", ["info"], "how the page was got, and why so", ["strategy", "evidence"]),
  kind("Escalated to", ["warn"], "the next attempt goes about it in another way", [
    "attempt",
    "from",
    "to",
    ...FAILURE,
  ]),
  kind("Retry scheduled", ["warn"], "an attempt failed for a reason that may pass; when the next one is", [
    "attempt",
    "delay_ms",
    ...FAILURE,
    "strategy",
    "step",
    "task_id",
    "ready_at",
  ]),
  kind("Rate limited", ["warn"], "the site asked for patience; no attempt is spent", ["attempt", ...FAILURE]),
  kind("Redirected to another site", ["info"], "the page is got from there, under that site's limits", ["from", "to"]),
  kind("Start moved", ["info"], "a start of a crawl redirects to another site, which is a start from now on", [
    "from",
    "to",
    "task_id",
  ]),
  kind("Site held", ["warn"], "the site is left alone for as long as it asked", [
    "site",
    "until",
    "failure_reason",
    "http_status",
    "seconds",
  ]),
  kind("Breaker opened", ["warn"], "the site kept failing and is left alone for a while", [
    "site",
    "until",
    "failure_reason",
    "http_status",
    "failures",
    "failed_probes",
  ]),
  kind(
    "robots.txt of …",
    ["info", "warn"],
    "the site's own setting decides about robots.txt against what the run asks for",
    ["site", "respect_robots", "asked"],
  ),
  kind("Sitemap read", ["info", "warn"], "what a sitemap of a crawl had; a warning where something in it was left", [
    "url",
    "pages",
    "left",
    "sitemaps",
  ]),
  kind("Starts at other sites", ["info", "warn"], "a list that a crawl begins with names pages of other sites", [
    "url",
    "pages",
  ]),
  kind("Feed read", ["info", "warn"], "the same of a feed that a crawl begins with", ["url", "pages", "left"]),
  kind("List read", ["info", "warn"], "the same of a list of addresses that a crawl begins with", [
    "url",
    "pages",
    "left",
  ]),
  kind("Sitemap not read", ["warn"], "a sitemap could not be had or used; the crawl goes on without it", [
    "url",
    "failure_code",
    "failure_reason",
  ]),
  kind("Webhook given up", ["warn"], "the address that was to be told of the run has refused it too often", ["error"]),
  kind("No sitemap", ["info"], "there is none where one is usually found", ["url"]),
  kind("Step … started", ["info"], "a step of a workflow begins", ["step", "task_id"]),
  kind("Step … completed", ["info"], "it succeeded; the next ones begin", ["step", "task_id"]),
  kind("Step … skipped", ["info", "warn"], "its condition was not met, it was not needed, or one before it failed", [
    "step",
    "task_id",
  ]),
  kind("Step … failed", ["error"], "all its tries failed, or one failed for good", [
    "step",
    "task_id",
    "attempt",
    ...FAILURE,
  ]),
];

/** The kind that a message is of; undefined: nobody has described it. */
export function eventKindOf(message: string): EventKind | undefined {
  const found = EVENTS.flatMap((one) => {
    const [before = "", after = ""] = one.begins.split("…");
    const at = message.startsWith(before) ? message.indexOf(after, before.length) : -1;
    return at === -1 ? [] : [{ one, at: after === "" ? 0 : at }];
  });
  // What comes first counts: a step that failed may quote another one's words behind that.
  return found.toSorted((a, b) => a.at - b.at)[0]?.one;
}
