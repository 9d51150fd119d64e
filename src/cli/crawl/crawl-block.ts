import { crawlEta } from "../../domain/crawl/crawl-eta.ts";
import { AT_SITES, isHeld, WHILE_AT_WORK } from "../../domain/run/waiting.ts";
import type { CrawlDetail } from "../../orchestrator/crawls/view.ts";
import type { RunSiteView } from "../../orchestrator/runs/sites.ts";
import { oneLine, paint, plural, type Terminal } from "../print/output.ts";
import { bar, clock, fit, joined, span } from "../print/progress.ts";
import { perSecond, type SiteLine, siteLines } from "../sites/site-lines.ts";
import { waitingLeft, waitingWords } from "../print/waiting-words.ts";

/** The state of a crawl as drawn. */
export interface CrawlMoment {
  view: CrawlDetail;
  /** Active sites first; those that do not fit are counted. */
  sites: readonly RunSiteView[];
  /** Recent pages per second, in total and per site; null: not known yet. */
  rate: number | null;
  /** Recently found pages per second; null: not known yet. */
  foundRate?: number | null;
  rateOf(site: string): number | null;
  elapsedSeconds: number;
  /** Wall-clock time. */
  now: number;
  spinner: string;
}

export interface Room {
  columns: number;
  rows: number;
}

/** Draws a crawl: at most as many lines as the screen has, each cut to its width. */
export function crawlBlock(terminal: Terminal, moment: CrawlMoment, { columns, rows }: Room): string[] {
  const { view, sites } = moment;
  const head = [
    headLine(terminal, moment, columns),
    ...paceLine(moment, columns),
    ...errorLines(terminal, view, columns),
  ];
  // The last line of a screen stays free for the cursor.
  const freeRows = Math.max(0, rows - 1 - head.length);
  const shown = sites.length <= freeRows ? sites : sites.slice(0, Math.max(0, freeRows - 1));
  const more = freeRows > 0 && shown.length < sites.length ? ["  … orb runs sites shows every site"] : [];
  const list = siteLines(siteRows(terminal, shown, moment, columns), columns);
  return [...head, ...list, ...more].slice(0, Math.max(1, rows - 1)).map((line) => fit(line, columns));
}

/** What the whole crawl waits for; null: nothing, or it is shown with its sites or counts. */
export function waitsAsAWhole({ waiting_for: why }: CrawlDetail): string | null {
  if (why === null || !isHeld(why)) return null;
  return why.reason === "run_paused" || AT_SITES.has(why.reason) ? null : oneLine(why.message);
}

const ended = (view: CrawlDetail) => view.completed_items + view.failed_items + view.skipped_items;

function headLine(terminal: Terminal, moment: CrawlMoment, columns: number): string {
  const { view, elapsedSeconds, spinner } = moment;
  const [done, known] = [ended(view), view.total_items];
  const lead = paint(terminal, "cyan", spinner);
  const waits = waitsAsAWhole(view);
  if (waits !== null) return `${lead} ${waits}  ${clock(elapsedSeconds)}`;
  const picture = columns >= 72 && known > 0 ? `${bar(terminal, done / known)} ` : "";
  const pages = columns < NARROW ? `${done}/${known} pages` : `${done} of ${plural(known, "known page")}`;
  const parts = [`${lead} ${picture}${pages}`, leftOf(moment, columns), clock(elapsedSeconds)];
  return joined(
    parts.filter((part) => part !== ""),
    columns,
  );
}

const NARROW = 60;

/** A crawl finds more pages as it goes: the known pages are a lower bound. */
function leftOf({ view, sites, rate, foundRate = null, now }: CrawlMoment, columns: number): string {
  if (view.status !== "running") return view.status === "paused" ? "paused" : "";
  const waits = sites.map(({ waiting_for: why }) => (Date.parse(why?.until ?? "") - now) / 1000 || 0);
  // While the whole crawl waits nothing ends: the remaining pages start afterwards.
  const held = view.waiting_for === null ? 0 : Math.max(0, ...waits);
  const limit = view.time_remaining_seconds;
  const eta = crawlEta({
    open: view.queued_items + view.running_items,
    allowed: view.max_pages - view.completed_items - view.failed_items,
    perSecond: rate !== null && rate > 0 ? rate : view.pages_per_second,
    foundPerSecond: foundRate,
    limitSeconds: limit,
    waitSeconds: held > 0 ? 0 : Math.max(0, ...waits),
    ended: ended(view),
  });
  if (eta === null) return "";
  if (held > 0) return columns < NARROW ? `≥ ${span(held + eta.least)}` : `at least ${span(held + eta.least)} left`;
  if (limit !== null && eta.least >= limit) return `time limit in ${span(limit)}`;
  const [least, most] = [span(eta.least), eta.most === null ? null : span(eta.most)];
  if (most === null) return columns < NARROW ? `≥ ${least}` : `at least ${least} left`;
  if (most === least) return columns < NARROW ? least : `about ${least} left`;
  return columns < NARROW ? `${between(least, most)}` : `${between(least, most)} left`;
}

/** `4–9 min`, `50 s–3 min`. */
function between(least: string, most: string): string {
  const [number, unit] = least.split(" ");
  return unit === most.split(" ")[1] ? `${number}–${most}` : `${least}–${most}`;
}

function paceLine({ view, rate }: CrawlMoment, columns: number): string[] {
  if (view.status === "pending") return [];
  const now = rate === null ? [] : [`${perSecond(rate)} now`];
  const parts = [
    ...now,
    `${view.queued_items} queued`,
    ...retryingOf(view),
    `${view.running_items} in flight`,
    `${perSecond(view.pages_per_second)} mean`,
    ...(view.skipped_items === 0 ? [] : [`${view.skipped_items} skipped`]),
  ];
  return [`  ${joined(parts, columns - 2)}`];
}

/** Pages waiting for a retry, and their most frequent failure. */
export function retryingOf({ retrying_items: retrying, retrying_groups: [most] }: CrawlDetail): string[] {
  if (retrying === 0) return [];
  return [`${retrying} retrying${most === undefined ? "" : ` (${most.failure_reason})`}`];
}

/** Counts by class, then reasons, most frequent first: on one line if it is wide enough. */
function errorLines(terminal: Terminal, view: CrawlDetail, columns: number): string[] {
  const { failed_items: failed, errors, error_groups: groups } = view;
  if (failed === 0) return [];
  const classes = Object.entries({ timeout: errors.timeout, connection: errors.connection, other: errors.general })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`);
  const what = paint(terminal, "red", `${failed} failed (${classes.join(", ")})`);
  const reasons = groups.map(({ failure_reason: reason, count }) => `${count} ${reason}`);
  const whole = joined([what, ...reasons], columns - 2);
  // If not even the first reason fits beside them, the counts get their own line.
  if (columns >= NARROW || groups.length === 0) return [`  ${whole}`];
  return [`  ${what}`, `  ${joined(reasons, columns - 2)}`];
}

function siteRows(terminal: Terminal, sites: readonly RunSiteView[], moment: CrawlMoment, columns: number): SiteLine[] {
  return sites.map((site) => ({
    name: oneLine(site.site),
    counts: countsOf(site),
    state: stateOf(terminal, site, moment, columns),
  }));
}

function countsOf({ counts }: RunSiteView): string {
  const done = counts.completed + counts.failed + counts.skipped;
  return `${done}/${done + counts.queued + counts.running + counts.retrying}`;
}

function stateOf(
  terminal: Terminal,
  { site, counts, waiting_for: why, last_failure: last }: RunSiteView,
  moment: CrawlMoment,
  columns: number,
): string {
  const failed = counts.failed === 0 ? "" : paint(terminal, "red", `  ${counts.failed} failed`);
  if (counts.queued + counts.running + counts.retrying === 0)
    return `${counts.completed + counts.skipped > 0 ? "done" : "no pages"}${failed}`;
  if (why !== null && !WHILE_AT_WORK.has(why.reason)) {
    const words = waitingLeft(why, moment.now);
    const isPaused = why.reason === "site_paused" || why.reason === "run_paused";
    // The failure of a page does not explain a rate limit or a pause of its site.
    const isOther = isPaused || why.reason === "rate_limited";
    const because = last === null || isOther || columns < NARROW ? "" : ` (${last.failure_reason})`;
    return paint(terminal, "yellow", `${words}${because}`) + failed;
  }
  const slow = why !== null && why.reason !== "concurrency" ? `, ${waitingWords(why)}` : "";
  const rate = moment.rateOf(site);
  return `${rate === null ? "starting" : perSecond(rate)}${slow}${failed}`;
}
