/** Prints sites: a table of many, or the details of one. */
import type { SiteView } from "../../orchestrator/sites/site-view.ts";
import { timeCell } from "../api/command.ts";
import { facts, listTable, plural } from "../print/output.ts";
import { perSecond } from "./site-lines.ts";
import { failureWords, waitingLeft } from "../print/waiting-words.ts";

export function siteTable(views: readonly SiteView[], now: number, columns: number | undefined): string {
  return listTable(
    ["site", "state", "to do", "done", "failed", "errors", "p95 ms", "group", "waits"],
    views.map((view) => [
      view.site,
      view.state,
      view.counts.queued + view.counts.running + view.counts.retrying,
      view.counts.completed,
      view.counts.failed,
      percent(view.error_rate),
      view.latency_ms.p95 ?? "",
      view.group ?? "",
      waits(view, now, columns),
    ]),
    columns,
  );
}

function waits({ waiting_for: why, paused, held_until: until }: SiteView, now: number, columns?: number): string {
  if (why !== null) return columns === undefined ? why.message : waitingLeft(why, now);
  if (paused) return "paused";
  return until === null ? "" : waitingLeft({ reason: "rate_limited", until }, now);
}

const percent = (rate: number | null) => (rate === null ? "" : `${Math.round(rate * 100)} %`);

export function siteFacts(view: SiteView, now: number, columns: number | undefined): string {
  const { counts, effective, breaker, latency_ms: latency, waiting_for: why } = view;
  const ago = (time: string | null) => timeCell(time, now, columns) || null;
  return facts(
    [
      ["site", view.site],
      ["state", view.state],
      ["waits", why?.message ?? null],
      ["next request", view.next_fetch_at],
      ["to do", `${counts.queued} queued, ${counts.running} running, ${counts.retrying} retrying`],
      ["done", `${counts.completed} completed, ${counts.failed} failed`],
      ["pace", pace(view)],
      ["latency", latency.p50 === null ? null : `p50 ${latency.p50} ms, p95 ${latency.p95} ms`],
      ["breaker", breakerWords(breaker)],
      ["concurrency", set(view.max_concurrency, effective.max_concurrency)],
      ["per second", rate(view)],
      ["delay", delay(view)],
      ["memory", view.max_memory_mb === null ? null : `${view.max_memory_mb} MB for its browser pages`],
      ["strategy", set(view.strategy, effective.strategy)],
      ["learned", learned(view)],
      [
        "robots.txt",
        set(view.respect_robots === null ? null : obeys(view.respect_robots), obeys(effective.respect_robots)),
      ],
      ["group", view.group],
      ["depends on", view.depends_on.length === 0 ? null : view.depends_on.join(", ")],
      ["shards", shards(view)],
      ["first seen", ago(view.first_seen_at)],
      ["last success", ago(view.last_success_at)],
      ["last failure", view.last_failure === null ? null : failureWords(view.last_failure, now)],
    ],
    columns,
  );
}

/** The set value, or the effective default. */
function set(own: string | number | null, effective: string | number): string {
  return own === null ? `${effective} (default)` : String(own);
}

const obeys = (yes: boolean) => (yes ? "obeyed" : "not obeyed");

function pace({ pages_per_second: speed, error_rate: errors }: SiteView): string | null {
  if (errors === null) return null;
  return `${perSecond(speed)}, ${percent(errors)} errors in the last ten minutes`;
}

function breakerWords({ state, failures, reopens_at: until }: SiteView["breaker"]): string {
  if (state === "closed") return failures === 0 ? "closed" : `closed, ${plural(failures, "failure")} in a row`;
  return `${state.replace("_", "-")} after ${plural(failures, "failure")}${until === null ? "" : `, until ${until}`}`;
}

/** Requested shards, and the possible number. */
function shards({ shards: own, effective }: SiteView): string | null {
  if (own === 1) return null;
  return effective.shards === own ? String(own) : `${own}, limited to ${effective.shards}`;
}

function rate({ requests_per_second: own, effective }: SiteView): string {
  if (own === null) return "no limit (default)";
  return effective.burst === null || effective.burst === 1 ? String(own) : `${own}, up to ${effective.burst} at once`;
}

/** The operator's delay, or the longer one of robots.txt. */
function delay({ min_delay_ms: own, crawl_delay_ms: asked, effective }: SiteView): string {
  const why = asked !== null && effective.min_delay_ms === asked && asked > (own ?? 0) ? " (robots.txt)" : "";
  return why === ""
    ? `${set(own, effective.min_delay_ms)} ms`.replace(" (default) ms", " ms (default)")
    : `${asked} ms${why}`;
}

/** The strategy its pages need, and how many pages showed that. */
function learned({ learned_strategy: what }: SiteView): string | null {
  if (what === null) return null;
  if (what.pages === 0 && what.scope === "page") return what.strategy;
  return what.scope === "site"
    ? `${what.strategy} for all pages`
    : `${what.strategy} for ${plural(what.pages, "page")}`;
}
