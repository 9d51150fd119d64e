/** Lists the pages of a site from its sitemaps and the links of one page, without a crawl. */
import { classifyStatus } from "../domain/run/classify.ts";
import { crawlSiteOf } from "../domain/crawl/crawl-site.ts";
import { crawlKey } from "../domain/crawl/crawl-scope.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import { parseRobots, ROBOTS_BYTES, sitemaps } from "../domain/site/robots.ts";
import { fetchUrl, siteOf } from "../domain/text/url.ts";
import { SITEMAP_LIMITS } from "../extract/sitemap.ts";
import type { PageAnswer } from "../fetch/page.ts";
import type { PageDeps } from "../pages/get-page.ts";
import { requireSiteNotHeld } from "./sites/held-sites.ts";
import { refuseForbidden } from "./jobs/input.ts";
import type { PreviewDeps } from "./preview.ts";

export interface MapOrder {
  url: string;
  /** Where to look for URLs. */
  sitemap: "include" | "skip" | "only";
  subdomains: boolean;
  /** Treats URLs that differ only in their query as one. */
  ignoreQuery: boolean;
  /** Part of the URL or of the link text. */
  search: string | null;
  limit: number;
}

export interface MappedLink {
  url: string;
  title?: string;
  description?: string;
}

const MOST_SITEMAPS = 100;
/** Far more links may miss the search than match it. */
const MOST_SEEN = 200_000;

interface MapDeps extends PreviewDeps {
  /** The user-agent token that we match in robots.txt. */
  robotsName: string;
}

/** Throws when the page itself cannot be fetched; a sitemap that cannot be fetched counts as missing. */
export async function mapSite(deps: MapDeps, order: MapOrder, signal: AbortSignal): Promise<MappedLink[]> {
  refuseForbidden("url", order.url, deps.policy);
  await requireSiteNotHeld(deps, siteOf(order.url));
  const pages = await deps.pages();
  const found = new FoundLinks(order);
  if (order.sitemap !== "only") await readStart(pages, order, found, signal);
  if (order.sitemap !== "skip") await readSitemaps(pages, deps.robotsName, order, found, signal);
  return found.links;
}

class FoundLinks {
  readonly links: MappedLink[] = [];
  readonly #order: MapOrder;
  readonly #host: string;
  readonly #site: string;
  readonly #seen = new Set<string>();

  constructor(order: MapOrder) {
    this.#order = order;
    const start = new URL(order.url);
    this.#host = plainHost(start);
    this.#site = crawlSiteOf(start);
  }

  get isFull(): boolean {
    return this.links.length >= this.#order.limit || this.#seen.size >= MOST_SEEN;
  }

  add(address: string, about: Omit<MappedLink, "url"> = {}): void {
    const { subdomains, ignoreQuery, search } = this.#order;
    const url = URL.parse(fetchUrl(address) ?? "");
    if (url === null || this.isFull) return;
    const isOurs = subdomains ? crawlSiteOf(url) === this.#site : plainHost(url) === this.#host;
    if (!isOurs) return;
    if (ignoreQuery) url.search = "";
    const key = crawlKey(url.href);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    const text = `${url.href} ${about.title ?? ""}`.toLowerCase();
    if (
      search === null ||
      search
        .toLowerCase()
        .split(/\s+/)
        .every((word) => text.includes(word))
    )
      this.links.push({ url: url.href, ...about });
  }
}

function plainHost({ host }: URL): string {
  return host.replace(/^www\./, "");
}

async function readStart(pages: PageDeps, order: MapOrder, found: FoundLinks, signal: AbortSignal): Promise<void> {
  const answer = await ask(pages, order.url, pages.limits.maxBodyBytes, signal);
  const refused = classifyStatus(answer.status, null);
  if (refused !== null) throw new FetchFailure(refused.reason, refused.message, { httpStatus: answer.status });
  const { body, contentType, finalUrl } = answer;
  const spec = { fields: ["title", "description"], links: true, article: false };
  const { extraction } = await pages.reader.read({ body, contentType, url: finalUrl }, spec, { signal });
  const [first] = extraction.records;
  found.add(finalUrl, aboutOf(extraction.title, first?.["description"]));
  for (const { url, text } of extraction.links) found.add(url, aboutOf(text, null));
}

function aboutOf(title: unknown, description: unknown): Omit<MappedLink, "url"> {
  const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
  return { ...(isText(title) ? { title } : {}), ...(isText(description) ? { description } : {}) };
}

async function readSitemaps(
  pages: PageDeps,
  robotsName: string,
  order: MapOrder,
  found: FoundLinks,
  signal: AbortSignal,
): Promise<void> {
  const { origin } = new URL(order.url);
  const robots = await unlessMissing(() => ask(pages, `${origin}/robots.txt`, ROBOTS_BYTES, signal), signal);
  const named = robots?.status === 200 ? sitemaps(parseRobots(robots.body, robotsName, `${origin}/robots.txt`)) : [];
  const files = (named.length > 0 ? [...named] : [`${origin}/sitemap.xml`]).map((url) => ({ url, depth: 0 }));
  const seen = new Set<string>();
  for (
    let next = files.shift();
    next !== undefined && !found.isFull && seen.size < MOST_SITEMAPS;
    next = files.shift()
  ) {
    signal.throwIfAborted();
    if (seen.has(next.url)) continue;
    seen.add(next.url);
    const { url, depth } = next;
    const answer = await unlessMissing(() => ask(pages, url, SITEMAP_LIMITS.bytes, signal), signal);
    if (answer === null || answer.status !== 200) continue;
    const body = typeof answer.body === "string" ? Buffer.from(answer.body) : answer.body;
    const file = { body, contentType: answer.contentType, url: answer.finalUrl, depth };
    const read = await pages.reader.readSitemap(file, { signal });
    for (const page of read.urls) found.add(page);
    files.push(...read.sitemaps.map((more) => ({ url: more, depth: depth + 1 })));
  }
}

function ask(pages: PageDeps, url: string, maxBodyBytes: number, signal: AbortSignal): Promise<PageAnswer> {
  const { httpTimeoutMs: timeoutMs } = pages.limits;
  return pages.strategies.http.fetch({ url, credentials: null, timeoutMs, maxBodyBytes, signal });
}

async function unlessMissing(get: () => Promise<PageAnswer>, signal: AbortSignal): Promise<PageAnswer | null> {
  try {
    return await get();
  } catch (error) {
    if (signal.aborted || !(error instanceof FetchFailure)) throw error;
    return null;
  }
}
