/** Available actions of a run, and its progress in words. */
import { count, duration, eta, fullNumber, plainUrl, rate, shorten } from "./format.ts";
import type { RunCounts } from "./run-rows.ts";
import { isActive } from "./states.ts";
import { PACING, type Waits } from "./waiting.ts";

export interface RunActions {
  cancel: boolean;
  pause: boolean;
  resume: boolean;
  retryFailed: boolean;
  clone: boolean;
  rerun: boolean;
  remove: boolean;
}

const CLONED = new Set(["page", "crawl", "workflow"]);

export function actionsOf({
  status,
  kind,
  parent = null,
  job_id = null,
}: {
  status: string;
  kind: string;
  parent?: unknown;
  job_id?: string | null;
}): RunActions {
  return {
    cancel: isActive(status),
    pause: status === "running" || status === "queued",
    resume: status === "paused",
    // A cancelled run stays cancelled. Workflows are recovered on their own page.
    retryFailed: (status === "failed" || status === "partial" || status === "running") && kind !== "workflow",
    clone: CLONED.has(kind),
    // Reruns a saved job with its current settings. Other runs are cloned.
    rerun: !isActive(status) && job_id !== null,
    // Runs of steps are deleted with their workflow, and the queue's run is permanent.
    remove: !isActive(status) && kind !== "queue" && parent === null,
  };
}

export function totalOf({ queued, running, retrying, completed, failed, skipped }: RunCounts): number {
  return queued + running + retrying + completed + failed + skipped;
}

/** Progress in percent. A run that was cancelled or ended early keeps its last value; null: unknown. */
export function shownProgress(
  { status, progress }: { status: string; progress: number },
  counts: RunCounts | null,
  leftOut: number,
): number | null {
  if (isActive(status) || (status !== "cancelled" && leftOut === 0)) return progress;
  if (counts === null) return null;
  const done = counts.completed + counts.failed + counts.skipped;
  const total = totalOf(counts) + leftOut;
  return total === 0 ? 0 : Math.floor((100 * done) / total);
}

/** A bar and its text that differ by less count as equal. */
const ABOUT_THE_SAME = 2;

/** What runs of these kinds count; all of it is known from the start. The others count pages. */
const COUNTED: Readonly<Record<string, string>> = {
  workflow: "step",
  queue: "item",
  download: "file",
  proxy_refresh: "part",
};

/** "412 of 900 known pages · 12/s · 40 s left", consistent with the percentage. */
export function progressWords(run: {
  counts: RunCounts | null;
  /** In percent, from the server. */
  progress: number;
  perSecond: number | null;
  etaSeconds: number | null;
  etaMostSeconds?: number | null;
  active: boolean;
  kind?: string;
  /** Known pages that had not started when it was cancelled. */
  leftOut?: number;
}): string {
  const { counts, progress, perSecond, etaSeconds, etaMostSeconds = null, active, kind = "crawl", leftOut = 0 } = run;
  const parts: string[] = [];
  if (counts !== null) {
    const total = totalOf(counts) + leftOut;
    const done = counts.completed + counts.failed + counts.skipped;
    const isShare = total > 0 && Math.abs((100 * done) / total - progress) <= ABOUT_THE_SAME;
    const unit = COUNTED[kind];
    if (!active && done >= total) parts.push(count(total, unit ?? "page"));
    else if (unit !== undefined) parts.push(`${fullNumber(done)} of ${count(total, unit)}`);
    else if (isShare) parts.push(`${fullNumber(done)} of ${fullNumber(total)} known pages`);
    else {
      // The bar estimates what the crawl will find, not only what it knows.
      const more = active && total > 0 && (100 * done) / total > progress ? ", more expected" : "";
      parts.push(`${count(done, "page")} done, ${fullNumber(total)} known so far${more}`);
    }
  }
  if (active && perSecond !== null && perSecond > 0) parts.push(rate(perSecond));
  if (active && etaSeconds !== null) parts.push(eta(etaSeconds, etaMostSeconds));
  return parts.join(" · ");
}

const OTHERWISE =
  "Or do it in your own browser, add its cookies under Settings, Sessions, choose that session below and click Continue.";

/** What a person has to do for a waiting run. */
export function humanAdvice(reason: string | null): string {
  switch (reason) {
    case "login_page":
    case "http_unauthorized":
      return `The site requires a login. Open the live view and sign in: the run then continues. ${OTHERWISE}`;
    case "captcha_page":
      return `The site shows a challenge. Open the live view and solve it: the run then continues. ${OTHERWISE}`;
    default:
      return `The site blocks automated access. Open the live view and pass its checks: the run then continues. ${OTHERWISE}`;
  }
}

/** The final message without its state: "Run failed: why" → "why"; empty if it only names the state. */
export function outcomeWords(message: string | null): string {
  const [, rest = ""] = /^(?:Run [a-z ]+?)(?:: (.*))?$/s.exec(message ?? "") ?? [null, message ?? ""];
  return rest;
}

/** The same as one list: "16 pages fetched, 1 not found, 2 failed". */
export function outcomeList(message: string | null): string {
  return outcomeWords(message).replace(/; (\d+) pages? failed/, ", $1 failed");
}

/**
 * The same without completed and failed counts, which are shown beside it. If some failures are listed by cause, the
 * others are listed too: they add up to the total.
 */
export function outcomeBesideCounts(message: string | null): string {
  const parts = outcomeWords(message)
    // Changes are shown separately.
    .replace(/; since the (?:previous run|run before) .*$/s, "")
    .replace(/^(\d+ pages? (?:got|fetched)) \([^)]*\)/, "$1")
    .split(/; |, (?=\d)/)
    .filter((part) => !/^\d+ pages? (?:got|fetched|led to a sign-in)$/.test(part));
  const named = parts.filter((part) => !FAILED.test(part));
  if (!named.some((part) => /^\d+ (?:not found|disallowed by robots\.txt)$/.test(part))) return named.join("; ");
  return parts
    .map((part) => part.replace(FAILED, (_, failed: string) => count(Number(failed), "other failure")))
    .join("; ")
    .replaceAll(/; (?=\d)/g, ", ");
}

const FAILED = /^(\d+) pages? failed$/;

/** A run may have worked for only part of its wall time: the rest it waited, or no worker ran. */
export function atWorkWords(wallMs: number, workedSeconds: number | null, slackMs = 5000): string | null {
  if (workedSeconds === null) return null;
  const rest = wallMs - workedSeconds * 1000;
  return rest > Math.max(slackMs, wallMs * 0.05) ? `active for ${duration(workedSeconds * 1000)} of it` : null;
}

/** When something ongoing started, with its age. */
export function sinceWords(at: number, now: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  return now - at < 18 * 3_600_000
    ? `since ${time}`
    : `since ${date.toLocaleDateString("en", { day: "numeric", month: "short" })}, ${time}`;
}

export interface WaitingSite extends Waits {
  site: string;
}

interface SiteWaits {
  site: string;
  waiting_for: { reason: string; until: string | null; message: string } | null;
}

/** The state of the run already shows these. */
const OF_THE_RUN: ReadonlySet<string> = new Set([
  "run_paused",
  "turn",
  "person",
  "previous_run",
  "proxies",
  "data_quality",
]);

/** The blocked sites of a run; if none is blocked, what paces its only site. */
export function waitingSites(sites: readonly SiteWaits[]): { held: WaitingSite[]; paced: WaitingSite | null } {
  const waiting = sites.flatMap(({ site, waiting_for: why }) =>
    why === null || OF_THE_RUN.has(why.reason) ? [] : [{ site, ...why }],
  );
  const held = waiting.filter(({ reason }) => !PACING.has(reason));
  const [first] = waiting;
  return { held, paced: held.length === 0 && sites.length === 1 && first !== undefined ? first : null };
}

/** Splits the site off a message such as "shop.example: It is paused". */
export function splitSite(message: string): { site: string | null; message: string } {
  const [, site, rest] =
    /^([a-z0-9.-]+\.[a-z0-9-]+(?::\d+)?|\[[0-9a-f:]+\](?::\d+)?|localhost(?::\d+)?): (.+)$/is.exec(message) ?? [];
  return site === undefined || rest === undefined ? { site: null, message } : { site, message: rest };
}

/** The message beside a title that already names the site. */
export function messageBeside(title: string, message: string): string {
  const split = splitSite(message);
  return split.site !== null && title.startsWith(split.site) ? split.message : message;
}

/** Share of a site's pages that have ended, 0 to 100. */
export function endedShare(counts: RunCounts): number {
  const total = totalOf(counts);
  return total === 0 ? 0 : Math.floor((100 * (counts.completed + counts.failed + counts.skipped)) / total);
}

interface Titled {
  name: string | null;
  url: string | null;
  kind: string;
  /** A crawl may have several start URLs. */
  url_count?: number;
}

/** " and 2 more" after the first of several start URLs. */
function andMore(starts: number): string {
  return starts > 1 ? ` and ${fullNumber(starts - 1)} more` : "";
}

/** Title of a run: its name, its URL, or its kind. */
export function titleOf({ name, url, kind, url_count = 1 }: Titled): string {
  if (name !== null && name.trim() !== "") return name;
  if (url !== null) return `${url.replace(/^https?:\/\/(www\.)?/, "").replace(/\/$/, "")}${andMore(url_count)}`;
  return kind === "queue" ? "Queue" : kind === "proxy_refresh" ? "Proxy check" : `A ${kind}`;
}

/** The line below the title in a list: the URL, and what distinguishes it from other runs of that URL. */
export function belowTitle(run: {
  id: string;
  name: string | null;
  url: string | null;
  kind: string;
  site: string | null;
  url_count?: number;
}): string | null {
  const { id, name, url, kind, site, url_count = 1 } = run;
  if (url === null) return kind === "queue" ? null : site;
  if (name !== null && name.trim() !== "") return `${plainUrl(url)}${andMore(url_count)}`;
  const { pathname = "", search = "" } = URL.parse(url) ?? {};
  return `${shorten(`${pathname}${search}`, 60)} · ${id.slice(0, 8)}`;
}
