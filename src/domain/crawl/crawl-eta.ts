/** Estimates the remaining time of a crawl. It finds pages as it goes, so this is a range. */
interface CrawlPace {
  /** Known pages that are not done. */
  open: number;
  /** Pages that it may still fetch. */
  allowed: number;
  /** Recent rate of ended pages. */
  perSecond: number;
  /** Recent rate of discovered pages; null: unknown. */
  foundPerSecond: number | null;
  /** Time left; null: no limit. */
  limitSeconds: number | null;
  /** Lower bound, because a site is retried only then. */
  waitSeconds?: number;
  /** Pages ended so far; absent: enough. */
  ended?: number;
}

interface Eta {
  /** For the known pages. */
  least: number;
  /** If it keeps finding pages at the recent rate; null: unknown or too uncertain. */
  most: number | null;
}

/** Fewer pages do not predict the others. */
const ENOUGH_PAGES = 10;
/** Of a wider range, only the lower end is shown. */
const MAX_RANGE = 5;

/** Null: too few pages for an estimate, or nothing to do. */
export function crawlEta({
  open,
  allowed,
  perSecond,
  foundPerSecond,
  limitSeconds,
  waitSeconds = 0,
  ended = ENOUGH_PAGES,
}: CrawlPace): Eta | null {
  const known = Math.min(open, allowed);
  if (perSecond <= 0 || known <= 0 || ended < ENOUGH_PAGES) return null;
  const limit = limitSeconds ?? Number.POSITIVE_INFINITY;
  const least = Math.min(limit, Math.max(known / perSecond, waitSeconds));
  if (foundPerSecond === null) return { least, most: null };
  // Each page leads to `growth` more, recursively: from 1 on, only the limits end the crawl.
  const growth = foundPerSecond / perSecond;
  const pages = growth < 1 ? Math.min(allowed, open / (1 - growth)) : allowed;
  const most = Math.min(limit, Math.max(pages / perSecond, least));
  return { least, most: most > MAX_RANGE * least ? null : most };
}
