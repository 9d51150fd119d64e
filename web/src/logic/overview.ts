/** What the overview derives from the server's data. */
import type { Overview } from "../api/types.ts";
import { titleOf } from "./run-page.ts";
import { withoutTime } from "./waiting.ts";
import { count, percent, relativeTime, shortNumber } from "./format.ts";

export type Series = Overview["series"];
/** Data of the stream: everything but the last hour. */
export type LiveOverview = Omit<Overview, "series">;

const MOST_STEPS = 360;

/**
 * Extends the last hour with live data: the newest step is the last event, and steps without an event are unchanged,
 * because the server only sends changes.
 */
export function continueSeries(series: Series, live: LiveOverview, now: number): Series {
  const stepMs = series.step_seconds * 1000;
  const current = Math.floor(now / stepMs);
  const first = series.first_at === null ? current : Math.floor(Date.parse(series.first_at) / stepMs);
  const at = current - first;
  if (at < 0) return series;
  const drop = Math.max(0, at + 1 - MOST_STEPS);
  const longer = (values: readonly (number | null)[], value: number) => {
    const next = values.slice(0, at);
    while (next.length < at) next.push(next.at(-1) ?? null);
    next.push(value);
    return next.slice(drop);
  };
  return {
    step_seconds: series.step_seconds,
    first_at: new Date((first + drop) * stepMs).toISOString(),
    good: longer(series.good, live.pages_per_second.good),
    bad: longer(series.bad, live.pages_per_second.bad),
    in_flight: longer(series.in_flight, live.in_flight),
    queued: longer(series.queued, live.queued),
  };
}

/** Start of each step, in milliseconds. */
export function timesOf({ first_at, step_seconds, good }: Series): number[] {
  const first = first_at === null ? 0 : Date.parse(first_at);
  return good.map((_value, index) => first + index * step_seconds * 1000);
}

/** Success rate over the last minute of each step: a single step often has too few pages. */
export function successOf({ good, bad }: Series, window = 6): (number | null)[] {
  return good.map((_value, index) => {
    let [fine, all] = [0, 0];
    for (let at = Math.max(0, index - window + 1); at <= index; at += 1) {
      fine += good[at] ?? 0;
      all += (good[at] ?? 0) + (bad[at] ?? 0);
    }
    return all === 0 ? null : fine / all;
  });
}

/** With fewer pages a rate is too inaccurate for an alarm. */
const ENOUGH_PAGES = 20;

/** Recent outcomes: as a rate of many, as numbers of a few. */
export function successFigure({ success_rate: part, recent_pages: { good, bad } }: LiveOverview): {
  value: string;
  note: string;
  tone?: "warn" | "bad";
} {
  const all = good + bad;
  if (part === null || all === 0) return { value: "–", note: "nothing finished recently" };
  if (all < ENOUGH_PAGES) return { value: `${good} of ${all}`, note: `${all === 1 ? "page" : "pages"}, last 5 min` };
  return {
    value: percent(part),
    note: "of pages, last 5 min",
    ...(part >= 0.9 ? {} : { tone: part < 0.6 ? "bad" : "warn" }),
  };
}

export interface Verdict {
  tone: "good" | "warn" | "bad";
  text: string;
}

/** Whether it works, in one sentence, worst problem first. */
export function verdictOf(overview: LiveOverview): Verdict {
  const { standstill, queued, in_flight, workers, troubled_sites, runs, success_rate, recent_pages } = overview;
  if (standstill !== null && queued > 0) return { tone: "bad", text: standstill.message };
  const low = overview.disk.find(({ free_bytes, least_free_bytes }) => free_bytes < least_free_bytes);
  if (low !== undefined)
    return { tone: "bad", text: `The disk of the ${low.what} is nearly full; no new work starts.` };
  if (workers.lost > 0)
    return {
      tone: "warn",
      text: `${workers.lost === 1 ? "A worker" : `${workers.lost} workers`} stopped sending heartbeats.`,
    };
  if (runs.waiting_for_human > 0)
    return {
      tone: "warn",
      text: `${runs.waiting_for_human === 1 ? "A run waits" : `${runs.waiting_for_human} runs wait`} for you.`,
    };
  const { trouble, paused } = countSites(troubled_sites);
  if (trouble > 0)
    return { tone: "warn", text: `${trouble === 1 ? "One site is" : `${trouble} sites are`} in trouble.` };
  const besides = paused === 0 ? "" : ` ${paused === 1 ? "One site is" : `${paused} sites are`} paused.`;
  if (in_flight + queued === 0) return { tone: "good", text: `Idle: all runs have ended.${besides}` };
  if (success_rate !== null && success_rate < 0.75 && recent_pages.good + recent_pages.bad >= ENOUGH_PAGES)
    return { tone: "warn", text: "More than 25 % of recent pages failed." };
  return { tone: "good", text: `Everything is working.${besides}` };
}

/** A site paused by an operator does what is intended. */
function countSites(sites: LiveOverview["troubled_sites"]): { trouble: number; paused: number } {
  const paused = sites.filter(({ trouble }) => trouble === "paused").length;
  return { trouble: sites.length - paused, paused };
}

/** Title of the list; agrees with the verdict. */
export function sitesTitle(sites: LiveOverview["troubled_sites"]): string {
  const { trouble, paused } = countSites(sites);
  return paused === 0 ? "Sites in trouble" : trouble === 0 ? "Paused sites" : "Sites in trouble or paused";
}

/** No page failed permanently: failing requests that are retried are no contradiction. */
export function noFailuresWords(sites: LiveOverview["troubled_sites"]): string {
  return sites.some(({ error_rate }) => (error_rate ?? 0) > 0)
    ? "No page failed permanently within the last hour. Failed requests are being retried."
    : "Nothing failed within the last hour.";
}

/** The summary for screen readers, without every digit. */
export function spokenGist({ runs, troubled_sites }: Pick<LiveOverview, "runs" | "troubled_sites">): string {
  const { trouble, paused } = countSites(troubled_sites);
  const parts = [`${count(runs.running, "run")} active`];
  if (trouble > 0) parts.push(`${count(trouble, "site")} in trouble`);
  if (paused > 0) parts.push(`${count(paused, "site")} paused`);
  return `${parts.join(", ")}.`;
}

/** "2 working, 1 standing by": a standby worker does not count as working. */
export function workerWords({ working, standby, draining, drained, lost }: LiveOverview["workers"]): string {
  const others = { "standing by": standby, drained: draining + drained, lost };
  const parts = Object.entries(others).flatMap(([word, value]) => (value === 0 ? [] : [`${value} ${word}`]));
  return [...(working === 0 && parts.length > 0 ? [] : [`${working === 0 ? "none" : working} working`]), ...parts].join(
    ", ",
  );
}

/** Title of a run in one line. */
export function runTitle(run: { name: string | null; url: string | null; kind: string; url_count?: number }): string {
  const { name, url, kind } = run;
  if (url !== null || (name !== null && name !== "")) return titleOf(run);
  return { queue: "Queue", workflow: "Workflow", proxy_refresh: "Proxy check" }[kind] ?? kind;
}

type CurrentStep = Overview["active_runs"][number]["current_steps"][number];

/** "Step clean runs", "Step crawl waits for the run it started, fetch runs"; null: no current step. */
export function stepsWords(steps: readonly CurrentStep[], now: number): string | null {
  if (steps.length === 0) return null;
  const phrases = steps.map((step) => `${step.name} ${stepWords(step, now)}`);
  return `${steps.length === 1 ? "Step" : "Steps:"} ${phrases.join(", ")}`;
}

function stepWords({ status, waiting_for: waits }: CurrentStep, now: number): string {
  if (status === "retrying")
    return waits === null || waits.last_failure === null ? "is retrying" : `is retrying: ${waits.last_failure.message}`;
  if (status === "queued") return waits === null ? "is queued" : `– ${waits.message}`;
  if (waits === null) return "runs";
  if (waits.for === "time") return waits.until ? `continues ${relativeTime(Date.parse(waits.until), now)}` : "waits";
  return `– ${withoutTime(waits.message)}`;
}

/**
 * The queue's composition, each part on one line. Tasks of paused runs, tasks that wait for an earlier step, and
 * claimed but unstarted tasks are counted without a part of their own.
 */
export function queueWords(
  { queued, oldest_queued_at: oldest, retrying }: Pick<LiveOverview, "queued" | "oldest_queued_at" | "retrying">,
  now: number,
): string[] {
  if (queued === 0) return ["empty"];
  const again = retrying === 0 ? [] : [`${shortNumber(retrying)} to retry`];
  if (oldest !== null) return [`oldest ${relativeTime(Date.parse(oldest), now)}`, ...again];
  return retrying >= queued ? again : ["paused or about to start", ...again];
}

/** The page of a run. */
export function runHref({ id, kind }: { id: string; kind: string }): string {
  return kind === "workflow" ? `/workflows/${id}` : `/runs/${id}`;
}

/** Adds `https://` if missing; null: not a URL. */
export function completeUrl(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed === "" || /\s/.test(trimmed)) return null;
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`;
  const url = URL.parse(whole);
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== "" ? whole : null;
}
