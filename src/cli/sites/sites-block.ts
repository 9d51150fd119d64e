import { WHILE_AT_WORK } from "../../domain/run/waiting.ts";
import type { SiteProgress } from "../../orchestrator/sites/site-view.ts";
import type { SitesProgress } from "../../orchestrator/sites/sites-progress.ts";
import type { Room } from "../crawl/crawl-block.ts";
import { oneLine, paint, plural, type Terminal } from "../print/output.ts";
import { fit, joined } from "../print/progress.ts";
import { perSecond, siteLines } from "./site-lines.ts";
import { waitingLeft } from "../print/waiting-words.ts";

/** Current rates; null: not known yet. */
export interface Rates {
  whole: number | null;
  of(site: string): number | null;
}

/** Draws all sites: at most as many lines as the screen has, each cut to its width. */
export function sitesBlock(
  terminal: Terminal,
  { totals, sites }: SitesProgress,
  { columns, rows, now, lead, rates }: Room & { now: number; lead: string; rates: Rates },
): string[] {
  const head = [
    joined(
      [`${paint(terminal, "cyan", lead)} ${workWords(totals)}`, ...rateWords(terminal, totals, rates.whole)],
      columns,
    ),
    `  ${joined(stateWords(totals), columns - 2)}`,
  ];
  // The last line of a screen stays free for the cursor.
  const freeRows = Math.max(0, rows - 1 - head.length);
  const known = totals.active_sites + totals.waiting_sites;
  const isAll = sites.length <= freeRows && sites.length >= known;
  const shown = isAll ? sites : sites.slice(0, Math.max(0, freeRows - 1));
  const more = isAll || freeRows === 0 ? [] : ["  … orb sites list shows every site"];
  const list = siteLines(
    shown.map((site) => ({
      name: oneLine(site.group === null || columns < WIDE ? site.site : `${site.site} (${site.group})`),
      counts: countWords(site, columns),
      state: doing(terminal, site, { now, columns, rate: rates.of(site.site) }),
    })),
    columns,
  );
  return [...head, ...list, ...more].slice(0, Math.max(1, rows - 1)).map((line) => fit(line, columns));
}

const WIDE = 90;
const NARROW = 72;

const openOf = ({ queued, running, retrying }: SiteProgress["counts"]) => queued + running + retrying;

/** `412 pages to do`, and how fast. */
function workWords(totals: SitesProgress["totals"]): string {
  const open = openOf(totals);
  return open === 0 ? "nothing to do" : `${plural(open, "page")} to do`;
}

function rateWords(terminal: Terminal, totals: SitesProgress["totals"], rate: number | null): string[] {
  if (openOf(totals) === 0) return [];
  return [
    ...(rate === null ? [] : [perSecond(rate)]),
    ...errorWords(terminal, totals.error_rate),
    `${totals.running} in flight`,
    ...(totals.retrying === 0 ? [] : [`${totals.retrying} retrying`]),
  ];
}

function errorWords(terminal: Terminal, rate: number | null): string[] {
  if (rate === null || rate === 0) return [];
  const percent = rate * 100;
  return [paint(terminal, "red", `${percent < 1 ? "< 1" : Math.round(percent)} % errors`)];
}

function stateWords(totals: SitesProgress["totals"]): string[] {
  const parts = (
    [
      ["active", totals.active_sites],
      ["waiting", totals.waiting_sites],
      ["paused", totals.paused_sites],
      ["circuit open", totals.blocked_sites],
    ] as const
  ).flatMap(([word, count]) => (count === 0 ? [] : [`${count} ${word}`]));
  return [plural(totals.sites, "site"), ...parts];
}

function countWords({ counts }: SiteProgress, columns: number): string {
  const done = columns < WIDE ? "" : `  ${String(counts.completed).padStart(6)} done`;
  return `${openOf(counts)} to do${done}`;
}

function doing(
  terminal: Terminal,
  site: SiteProgress,
  { now, columns, rate }: { now: number; columns: number; rate: number | null },
): string {
  const { waiting_for: why } = site;
  const errors = errorWords(terminal, site.error_rate).map((words) => `  ${words}`);
  // On a narrow screen the reason for waiting matters more.
  if (why !== null && !WHILE_AT_WORK.has(why.reason))
    return paint(terminal, "yellow", waitingLeft(why, now)) + (columns < NARROW ? "" : errors.join(""));
  const slow = why !== null && why.reason !== "concurrency" ? `, ${waitingLeft({ ...why, until: null }, now)}` : "";
  return `${rate === null ? "active" : perSecond(rate)}${slow}${errors.join("")}`;
}

/** The same in a line, for a log. */
export function sitesLine(terminal: Terminal, { totals }: SitesProgress): string {
  return oneLine(
    [
      workWords(totals),
      ...rateWords(terminal, totals, totals.error_rate === null ? null : totals.pages_per_second),
      ...stateWords(totals),
    ].join(", "),
  );
}
