/** A start that lists pages instead of being one: a sitemap, a feed, or a list of addresses. */
import type { SitemapPayload } from "../../../domain/crawl/crawl-sitemaps.ts";
import { CRAWL_HANDLER } from "../../../domain/crawl/crawl-options.ts";
import { compileScope, crawlKey, SCOPE_LIMITS } from "../../../domain/crawl/crawl-scope.ts";
import { failure } from "../../../domain/run/failure.ts";
import { laneOfSite } from "../../../domain/lane/lane.ts";
import type { Discovered, Handled, RunEvent } from "../../../domain/run/outcome.ts";
import type { RunFacts } from "../../../domain/run/run-facts.ts";
import { siteOf } from "../../../domain/text/url.ts";
import type { SitemapReading } from "../../../extract/sitemap-file.ts";
import type { PageAnswer } from "../../../fetch/page.ts";
import type { ClaimedTask } from "../../../store/ports/port.ts";
import type { CrawlRun } from "./crawl-runs.ts";
import type { HandlerContext } from "../handler.ts";
import { addressOf, readIndex, readPages, type SitemapDeps } from "./sitemap.ts";

/**
 * Only starts that the user configured may be lists: entries of a list are read as pages, so that lists do not nest.
 */
export function isConfiguredStart(
  { configuredStarts }: Pick<CrawlRun, "configuredStarts">,
  { key }: ClaimedTask,
): boolean {
  return configuredStarts.has(key);
}

/** The listed pages are starts. The list itself is no page, and counts as skipped. */
export async function readStartList(
  deps: Pick<SitemapDeps, "clock" | "reader">,
  crawl: CrawlRun,
  task: ClaimedTask,
  { body, contentType, finalUrl, status }: PageAnswer,
  context: HandlerContext,
): Promise<Handled> {
  const file = { body: body as Uint8Array, contentType, url: finalUrl, depth: 0 };
  const list = await deps.reader.readSitemap(file, { signal: context.signal, owned: true });
  if (list.kind === "none")
    return { kind: "failed", failure: failure("malformed_response", list.problems.join("; "), { httpStatus: status }) };
  const payload: SitemapPayload = { depth: 0, by: "start", isStart: true };
  const read = list.kind === "index" ? readIndex : readPages;
  const { report } = await read(deps, crawl, { ...task, payload }, list, context);
  const { found: elsewhere, isCut } = startsElsewhere(crawl, list);
  return {
    kind: "skipped",
    why: `is a ${NAMES[list.kind]}: the crawl starts with the pages it lists`,
    httpStatus: status,
    report: {
      ...report,
      events: [
        ...(report?.events ?? []),
        ...(elsewhere.length === 0 ? [] : [startsAddedEvent(task, elsewhere, isCut)]),
      ],
      discovered: elsewhere,
      run: { events: [], facts: { ...report?.run?.facts, ...withStarts(crawl, elsewhere) } },
    },
  };
}

const NAMES = { urlset: "sitemap", index: "sitemap index", feed: "feed", text: "list of URLs" } as const;

/** They are written in one transaction, and every page is compared with the scope that contains them. */
const MAX_ELSEWHERE = 500;

/**
 * Feeds and lists may contain pages of other sites, and a crawl that starts with one wants them; a sitemap counts for its
 * own site only.
 */
function startsElsewhere(
  { options, scope, movedStarts }: CrawlRun,
  { kind, urls }: SitemapReading,
): { found: Discovered[]; isCut: boolean } {
  if (kind !== "feed" && kind !== "text") return { found: [], isCut: false };
  const { include, exclude, follow, read } = options;
  const anywhere = compileScope({ url: options.urls, include, exclude, follow, read, same_site: false }).ok!;
  const room = Math.min(MAX_ELSEWHERE, SCOPE_LIMITS.starts - options.urls.length - movedStarts.length);
  const position = { depth: 0, from: null };
  const found: Discovered[] = [];
  for (const address of urls) {
    const near = scope.decide(address, position);
    if (near.follow || (near.why !== "other_site" && near.why !== "elsewhere")) continue;
    const decision = anywhere.decide(address, position);
    if (!decision.follow) continue;
    if (found.length >= room) return { found, isCut: true };
    const site = siteOf(decision.url);
    const key = crawlKey(decision.url);
    found.push({ key, url: decision.url, site, lane: laneOfSite(site), depth: 0, handler: CRAWL_HANDLER });
  }
  return { found, isCut: false };
}

function startsAddedEvent(task: ClaimedTask, { length }: readonly Discovered[], isCut: boolean): RunEvent {
  const url = addressOf(task);
  const cut = isCut ? `; others were skipped, because a list adds at most ${MAX_ELSEWHERE}` : "";
  const message = `Starts added: ${url} lists ${length} ${length === 1 ? "page" : "pages"} of other sites${cut}`;
  return { type: "crawl.starts_added", level: isCut ? "warn" : "info", message, meta: { url, pages: length } };
}

/** Stored together with the tasks, so that the scope contains the new starts. */
function withStarts({ movedStarts }: CrawlRun, found: readonly Discovered[]): Pick<RunFacts, "moved_starts"> {
  if (found.length === 0) return {};
  const known = new Set(movedStarts);
  movedStarts.push(...found.map(({ url }) => url).filter((url) => !known.has(url)));
  return { moved_starts: [...movedStarts] };
}
