/** How long a crawl will still take. It finds pages as it goes, so that this is a range. */
interface CrawlPace {
  /** Pages that are known and not done. */
  open: number;
  /** Pages that it may still fetch. */
  allowed: number;
  /** Pages that end in a second, lately. */
  perSecond: number;
  /** Pages that are found in a second, lately; null: not known yet. */
  foundPerSecond: number | null;
  /** What is left of its time; null: it has no limit. */
  limitSeconds: number | null;
  /** It cannot be over before this, whatever its pace: a site is tried again then. */
  waitSeconds?: number;
  /** So many pages have ended by now; absent: enough. */
  ended?: number;
}

interface Eta {
  /** For what is known. */
  least: number;
  /** If it keeps finding pages at the recent rate; null: unknown. */
  most: number | null;
}

/** Fewer pages say nothing of the pace of the others. */
const ENOUGH_PAGES = 10;
/** A wider range is useless: then only its lower end is shown. */
const WIDEST = 5;

/** Null: too little is known of its pace, or there is nothing to do. */
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
  // Each page leads to some more, and each of those as well; where that is one or more, only the limits end it.
  const growth = foundPerSecond / perSecond;
  const pages = growth < 1 ? Math.min(allowed, open / (1 - growth)) : allowed;
  const most = Math.min(limit, Math.max(pages / perSecond, least));
  return { least, most: most > WIDEST * least ? null : most };
}
