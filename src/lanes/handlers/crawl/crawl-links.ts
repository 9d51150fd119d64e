/** Links of a crawled page: which become tasks, and which are skipped. */
import type { CrawlPayload } from "../../../domain/crawl/crawl-options.ts";
import { crawlKey, type LeftReason } from "../../../domain/crawl/crawl-scope.ts";
import {
  type LeftLink,
  paginationCut,
  paginationWarning,
  type SkipReason,
  skipReasonOf,
} from "../../../domain/crawl/crawl-skips.ts";
import { laneOfSite } from "../../../domain/lane/lane.ts";
import type { Discovered, Report } from "../../../domain/run/outcome.ts";
import { shownUrl, siteOf } from "../../../domain/text/url.ts";
import type { FollowLink } from "../../../extract/follow.ts";
import type { ClaimedTask } from "../../../store/ports/port.ts";
import type { GoalRead } from "./crawl-goal.ts";
import { isRead } from "./crawl-moves.ts";
import type { CrawlRun } from "./crawl-runs.ts";
import type { PagePayload } from "../page-copies.ts";

/** The links of a page; `left` is absent for an unchanged page, whose skipped links are known. */
interface PageLinks {
  url: string;
  finalUrl: string;
  links: readonly FollowLink[];
  left?: readonly LeftLink[];
  /** Of a crawl with a goal. */
  goal?: GoalRead | null;
}

/** What the crawl learns from a page, loaded or confirmed as unchanged. */
export function reportOf(
  crawl: CrawlRun,
  task: ClaimedTask,
  { url, finalUrl, links, left = [], content, goal = null }: PageLinks & Pick<PagePayload, "content">,
): Report {
  const found = linksOf(crawl, task, { links, left, finalUrl, goal });
  const isOnlyFollowed = !isRead(crawl, task);
  if (content !== null && !crawl.firstPages.wasFoundBefore(content.hash, task.row)) crawl.scope.earn(url);
  const traps = crawl.traps.toKeep();
  return {
    ...found,
    ...(finalUrl === url ? {} : { landed: { key: crawlKey(finalUrl), url: finalUrl } }),
    // Duplicates are detected by their records, and a page that is only followed has none.
    ...(content?.isSubstantial === true && !isOnlyFollowed ? { content: content.hash } : {}),
    ...(isOnlyFollowed ? { followedOnly: true } : {}),
    ...(goal === null ? {} : { goal: goal.gain }),
    ...(traps === null ? {} : { traps }),
  };
}

/** The store looks up each key until it finds an unknown one. */
const MAX_TOO_DEEP = 1000;

/** The pages that this one links to and the store does not have yet, and the links that are skipped. */
export function linksOf(
  crawl: CrawlRun,
  task: ClaimedTask,
  { links, left = [], finalUrl: from, goal: page = null }: Omit<PageLinks, "url">,
): Pick<Report, "discovered" | "tooDeep" | "skipped" | "run"> {
  const { scope, counted, kept, goal } = crawl;
  if (crawl.options.follow_links === false) return {};
  const { depth } = task.payload as CrawlPayload;
  const skips = new Skips(crawl);
  for (const { key, why } of left) skips.add(key, why);
  const cut = paginationReport(crawl, left, from);
  if (!scope.goesDeeperThan(depth)) {
    const tooDeep = links.map(({ key }) => key).filter((key) => !kept.has(key));
    for (const key of tooDeep) skips.add(key, "depth");
    return { ...skips.report(), ...cut, ...(tooDeep.length === 0 ? {} : { tooDeep: tooDeep.slice(0, MAX_TOO_DEEP) }) };
  }
  const discovered: Discovered[] = [];
  const scored: readonly { link: FollowLink; score?: number }[] =
    goal?.score(links, page, task, (key) => kept.has(key)) ?? links.map((link) => ({ link }));
  for (const { link, score } of scored) {
    // A page that the store has may turn out to be more promising than it seemed.
    if (kept.has(link.key) && (score === undefined || !goal!.raises(link.key, score))) continue;
    // A link skipped because of a trap may still be followed when another kind of page has it.
    const why = counted.has(link.key) ? null : scope.admit(link, { depth: depth + 1, from });
    if (why !== null) {
      skips.add(link.key, why);
      continue;
    }
    counted.add(link.key);
    const { key, url } = link;
    const site = siteOf(url);
    const found: Discovered = { key, url, site, lane: laneOfSite(site), depth: depth + 1 };
    if (score !== undefined) goal!.report(key, score);
    discovered.push(score === undefined ? found : { ...found, score });
  }
  return { ...skips.report(), ...cut, ...(discovered.length === 0 ? {} : { discovered }) };
}

/** Counts the links that the crawl skips, each address once. */
export class Skips {
  readonly #seen: CrawlRun["skipped"];
  readonly #counts: Partial<Record<SkipReason, number>> = {};

  constructor({ skipped }: CrawlRun) {
    this.#seen = skipped;
  }

  add(key: string, why: LeftReason): void {
    const reason = skipReasonOf(why);
    if (reason === null || this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#counts[reason] = (this.#counts[reason] ?? 0) + 1;
  }

  report(): Pick<Report, "skipped"> {
    return Object.keys(this.#counts).length === 0 ? {} : { skipped: this.#counts };
  }
}

/** Warns once per crawl that a pattern skips what looks like the next page of a list. */
function paginationReport(crawl: CrawlRun, left: readonly LeftLink[], from: string): Pick<Report, "run"> {
  const next = crawl.pagination.isReported ? undefined : left.find((link) => link.next !== undefined)?.next;
  if (next === undefined) return {};
  crawl.pagination.isReported = true;
  const cut = paginationCut(crawl.options, { ...next, url: shownUrl(next.url) }, shownUrl(from));
  const { message, ...meta } = paginationWarning(cut);
  return {
    run: {
      events: [{ type: "crawl.pagination_cut_off", level: "warn", message, meta }],
      facts: { pagination_cut: cut },
    },
  };
}
