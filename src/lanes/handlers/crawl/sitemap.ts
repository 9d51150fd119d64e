import { type Clock, sleep } from "../../../base/clock.ts";
import { classifyStatus, dispositionOf, isProxyFault } from "../../../domain/run/classify.ts";
import { CRAWL_HANDLER } from "../../../domain/crawl/crawl-options.ts";
import { crawlKey, type LeftReason } from "../../../domain/crawl/crawl-scope.ts";
import { MOST_SITEMAPS, originsOf, type SitemapPayload, sitemapTask } from "../../../domain/crawl/crawl-sitemaps.ts";
import { failure, FetchFailure } from "../../../domain/run/failure.ts";
import { laneOfSite } from "../../../domain/lane/lane.ts";
import type { Discovered, Handled, Report, RunEvent } from "../../../domain/run/outcome.ts";
import { parseRetryAfter } from "../../../domain/lane/retry-after.ts";
import type { Upstream } from "../../../domain/proxy/upstream.ts";
import { shownUrl, siteOf } from "../../../domain/text/url.ts";
import { SITEMAP_LIMITS } from "../../../extract/sitemap.ts";
import type { SitemapReading } from "../../../extract/sitemap-file.ts";
import type { PageAnswer } from "../../../fetch/page.ts";
import type { PageDeps } from "../../../pages/get-page.ts";
import { fetchObeying, type RobotsRules } from "../../../pages/obey-robots.ts";
import type { ClaimedTask } from "../../../store/ports/port.ts";
import { Skips } from "./crawl-links.ts";
import type { CrawlRun, CrawlRuns } from "./crawl-runs.ts";
import type { HandlerContext, TaskHandler } from "../handler.ts";
import { withOverride } from "../robots-override.ts";
import { spacedByRobots } from "../spacing.ts";

export interface SitemapDeps extends PageDeps {
  robots: RobotsRules & {
    /** Sitemaps listed in the origin's robots.txt. */
    sitemaps(origin: string, signal: AbortSignal, via?: Upstream): Promise<readonly string[]>;
  };
}

/** A sitemap of a crawl: adds its pages like links of the starts. It is no page itself. */
export function sitemapHandler(deps: SitemapDeps, crawls: CrawlRuns): TaskHandler {
  return {
    strategy: "http",
    onFailed: (task, { code, reason, message }) =>
      unread(task, message, { failure_code: code, failure_reason: reason }),
    async run(task, context) {
      const crawl = await crawls.of(task.runId);
      const site = await crawls.sites.of(siteOf(task.nextUrl ?? task.url ?? ""));
      const respect_robots = site?.respectRobots ?? crawl.options.respect_robots;
      const here: CrawlRun = { ...crawl, options: { ...crawl.options, respect_robots } };
      const work = (task.payload as SitemapPayload).by === "origin" ? readRobots : readFile;
      return withOverride(crawl, site, await work(deps, here, task, context));
    },
  };
}

async function readRobots(
  deps: SitemapDeps,
  crawl: CrawlRun,
  task: ClaimedTask,
  context: HandlerContext,
): Promise<Handled> {
  const { origin } = new URL(task.url ?? "");
  const named = await sitemapsInRobots(deps, crawl, origin, context);
  // Sitemaps listed in robots.txt are fetched next without a robots check, so its delay is set here.
  if (crawl.options.respect_robots)
    context.keepDelay(await deps.robots.check(`${origin}/robots.txt`, context.signal, context.via));
  const files =
    named.length > 0
      ? named.map((url) => sitemapTask(url, { depth: 0, by: "robots", namedAt: origin }))
      : [sitemapTask(`${origin}/sitemap.xml`, { depth: 0, by: "guess" })];
  const full = await addInBatches(deps.clock, crawl, context, files, (file) => file);
  const found = { sitemaps: files.length };
  const handled = read(found, full ? [readEvent(task, count(files.length, "sitemap"), found, [TOO_MANY])] : []);
  return { ...handled, answeredMs: null };
}

/** A crawl that ignores robots.txt still reads it for sitemaps, but does not need it to exist. */
async function sitemapsInRobots(
  { robots }: SitemapDeps,
  { options }: CrawlRun,
  origin: string,
  { signal, via }: HandlerContext,
): Promise<readonly string[]> {
  try {
    return await robots.sitemaps(origin, signal, via);
  } catch (error) {
    if (options.respect_robots || signal.aborted || !(error instanceof FetchFailure)) throw error;
    // Rate limits hold for every crawl, and a failed proxy has not reached the site.
    if (dispositionOf(error.failure) === "rate_limit" || isProxyFault(error.failure)) throw error;
    return [];
  }
}

async function readFile(
  deps: SitemapDeps,
  crawl: CrawlRun,
  task: ClaimedTask,
  context: HandlerContext,
): Promise<Handled> {
  const answer = await fetchFile(deps, crawl, task, context);
  return { ...(await readAnswer(deps, crawl, task, answer, context)), answeredMs: answer.headMs ?? null };
}

async function readAnswer(
  deps: SitemapDeps,
  crawl: CrawlRun,
  task: ClaimedTask,
  answer: PageAnswer,
  context: HandlerContext,
): Promise<Handled> {
  const { reader, clock } = deps;
  const { depth, by } = task.payload as SitemapPayload;
  const { signal } = context;
  if (answer.notFollowed !== undefined) return moved(answer, answer.notFollowed);
  const refused = classifyStatus(answer.status, parseRetryAfter(answer.headers["retry-after"] ?? "", clock.now()));
  if (refused !== null) {
    return by === "guess" && refused.reason === "http_not_found"
      ? nothingThere(task, refused.message)
      : { kind: "failed", failure: refused };
  }
  const file = { body: answer.body as Uint8Array, contentType: answer.contentType, url: answer.finalUrl, depth };
  const sitemap = await reader.readSitemap(file, { signal, owned: true });
  const why = sitemap.problems.join("; ");
  // Many sites answer every URL with a page, and nothing announced a sitemap here.
  if (sitemap.kind === "none")
    return by === "guess" ? nothingThere(task, why) : { kind: "failed", failure: failure("not_html", why) };
  if (sitemap.kind === "index") return readIndex(deps, crawl, task, sitemap, context);
  return readPages(deps, crawl, task, sitemap, context);
}

async function fetchFile(
  { strategies, limits, robots }: SitemapDeps,
  { options }: CrawlRun,
  task: ClaimedTask,
  context: HandlerContext,
): Promise<PageAnswer> {
  const { signal, via } = context;
  const url = task.nextUrl ?? task.url ?? "";
  const request = {
    url,
    credentials: null,
    timeoutMs: limits.httpTimeoutMs,
    maxBodyBytes: SITEMAP_LIMITS.bytes,
    signal,
    ...(via === undefined ? {} : { via }),
    // Another site has its own limits: the sitemap moves to that site's lane.
    followRedirects: (from: URL, to: URL) => siteOf(from) === siteOf(to),
  };
  if (!options.respect_robots) return strategies.http.fetch(request);
  const rules = withAllowedOrigin((task.payload as SitemapPayload).namedAt, spacedByRobots(robots, context));
  await rules.check(url, signal, via);
  return fetchObeying(strategies.http, request, rules);
}

/** A site that lists a sitemap in robots.txt allows it to be read; that says nothing about other hosts. */
function withAllowedOrigin(origin: string | undefined, rules: RobotsRules): RobotsRules {
  return {
    check: async (url, signal, via) => (new URL(url).origin === origin ? 0 : rules.check(url, signal, via)),
    mayFollow: (url, via) => url.origin === origin || rules.mayFollow(url, via),
  };
}

function moved({ redirects, finalUrl, status }: PageAnswer, to: string): Handled {
  if (siteOf(to) === siteOf(finalUrl)) {
    const why = `redirects to ${shownUrl(to)}, which the site's robots.txt disallows`;
    return { kind: "failed", failure: failure("robots_disallowed", why, { httpStatus: status }) };
  }
  return { kind: "moved", url: to, redirects: [...redirects.map(({ from }) => from), finalUrl], httpStatus: status };
}

/** Pages that the crawl does not reach may still exist. */
const SEES_PART: Report = { run: { events: [], facts: { sees_part: true } } };

const TOO_MANY = `some were skipped, because a crawl reads at most ${MOST_SITEMAPS} sitemaps`;

export async function readIndex(
  { clock }: Pick<SitemapDeps, "clock">,
  crawl: CrawlRun,
  task: ClaimedTask,
  { sitemaps, problems }: SitemapReading,
  context: HandlerContext,
): Promise<Handled> {
  const { depth } = task.payload as SitemapPayload;
  if (sitemaps.length === 0 && problems.length > 0) {
    const why = problems.join("; ");
    return { kind: "skipped", why, report: { events: [unread(task, why, {})], ...SEES_PART } };
  }
  const { isStart } = task.payload as SitemapPayload;
  const payload: SitemapPayload = { depth: depth + 1, by: "index", ...(isStart === true ? { isStart } : {}) };
  const full = await addInBatches(clock, crawl, context, sitemaps, (url) => sitemapTask(url, payload));
  const notes = full ? [...problems, TOO_MANY] : problems;
  const found = { sitemaps: sitemaps.length };
  const events = [readEvent(task, count(sitemaps.length, "sitemap"), found, notes)];
  return read(found, events, notes.length === 0 ? {} : SEES_PART);
}

const AT_START = { depth: 0, from: null };
const BELOW_START = { depth: 1, from: null };

/** The depth of the pages that a sitemap lists. */
function positionOf(task: ClaimedTask): typeof AT_START {
  return (task.payload as SitemapPayload).isStart === true ? AT_START : BELOW_START;
}

export async function readPages(
  { clock }: Pick<SitemapDeps, "clock">,
  crawl: CrawlRun,
  task: ClaimedTask,
  { kind, urls, problems, truncated }: SitemapReading,
  context: HandlerContext,
): Promise<Handled> {
  const { scope, counted } = crawl;
  const position = positionOf(task);
  const { by } = task.payload as SitemapPayload;
  const left: Partial<Record<LeftReason, number>> = {};
  const skips = new Skips(crawl);
  const tooDeep: string[] = [];
  let pages = 0;
  const toPage = (url: string): Discovered | null => {
    const decision = scope.decide(url, position);
    if (!decision.follow) {
      left[decision.why] = (left[decision.why] ?? 0) + 1;
      if (decision.why === "too_long") skips.add(url.slice(0, 200), decision.why);
      else if (decision.why !== "not_http") skips.add(crawlKey(url), decision.why);
      // One is enough to know that a deeper crawl would find more pages.
      const nearer = decision.why === "depth" && tooDeep.length === 0 ? scope.decide(url, AT_START) : decision;
      if (nearer.follow) tooDeep.push(nearer.key);
      return null;
    }
    pages += 1;
    if (!counted.has(decision.key)) scope.admit(decision, position);
    counted.add(decision.key);
    const site = siteOf(decision.url);
    const score = crawl.goal?.scoreOfListed(decision.url);
    return {
      key: decision.key,
      url: decision.url,
      site,
      lane: laneOfSite(site),
      depth: position.depth,
      ...(score === undefined ? {} : { score }),
      handler: CRAWL_HANDLER,
    };
  };
  // With a goal, a page further down may replace a less promising one.
  const full = await addInBatches(clock, crawl, context, urls, toPage, { readsOn: crawl.goal !== null });
  const outside = urls.length - pages;
  const found = { pages, left };
  const words = full
    ? "more pages than max_pages allows"
    : `${count(pages, "page")}${outside === 0 ? "" : `, ${outside} skipped by the scope of the crawl`}`;
  const traps = crawl.traps.toKeep();
  return read(found, [readEvent(task, words, found, problems, by === "start" ? NAMES[kind] : SITEMAP)], {
    ...skips.report(),
    ...(tooDeep.length === 0 ? {} : { tooDeep }),
    // A feed has only the newest entries.
    ...(truncated || kind === "feed" ? SEES_PART : {}),
    ...(traps === null ? {} : { traps }),
  });
}

/** Each batch is a transaction that other writers wait for. */
const BATCH_SIZE = 500;

/**
 * Adds the entries of a list in batches; after an interruption it starts over, and known entries are not added twice.
 * Returns whether a limit of the crawl has left out entries: it stops there, unless it reads on.
 */
async function addInBatches<T>(
  clock: Clock,
  { scope }: CrawlRun,
  context: HandlerContext,
  list: readonly T[],
  toDiscovered: (entry: T) => Discovered | null,
  { readsOn }: { readsOn: boolean } = { readsOn: false },
): Promise<boolean> {
  let full = false;
  const auxiliaryLimit = originsOf(scope.starts).length + MOST_SITEMAPS;
  for (let from = 0; from < list.length; from += BATCH_SIZE) {
    context.signal.throwIfAborted();
    const found = list.slice(from, from + BATCH_SIZE).flatMap((entry) => toDiscovered(entry) ?? []);
    const { leftOut } = await context.addDiscovered({ found, auxiliaryLimit });
    full ||= leftOut;
    if (leftOut && !readsOn) return true;
    // A list of 50,000 takes seconds: other work runs in between.
    await sleep(clock, 0, context.signal);
  }
  return full;
}

function read(detail: unknown, events: readonly RunEvent[], more: Report = {}): Handled {
  return { kind: "completed", artifacts: [], results: [], detail, report: { ...more, events } };
}

/** Bounded for the run's log: the site decides how long its URLs are. */
export function addressOf({ url }: ClaimedTask): string {
  return shownUrl(url ?? "").slice(0, 2000);
}

function nothingThere(task: ClaimedTask, why: string): Handled {
  const url = addressOf(task);
  const message = `No sitemap: ${url}: ${why}`;
  const event: RunEvent = { type: "sitemap.not_found", level: "info", message, meta: { url } };
  return { kind: "skipped", why, report: { events: [event] } };
}

const SITEMAP = { type: "sitemap.read", name: "Sitemap" } as const;
const NAMES = {
  urlset: SITEMAP,
  index: SITEMAP,
  feed: { type: "feed.read", name: "Feed" },
  text: { type: "url_list.read", name: "List" },
  none: SITEMAP,
} as const;

function readEvent(
  task: ClaimedTask,
  words: string,
  found: object,
  notes: readonly string[],
  { type, name }: (typeof NAMES)[keyof typeof NAMES] = SITEMAP,
): RunEvent {
  const url = addressOf(task);
  const message = `${name} read: ${url}: ${[words, ...notes].join("; ")}`;
  return { type, level: notes.length === 0 ? "info" : "warn", message, meta: { url, ...found } };
}

function unread(task: ClaimedTask, why: string, more: object): RunEvent {
  const url = addressOf(task);
  return { type: "sitemap.failed", level: "warn", message: `Sitemap not read: ${url}: ${why}`, meta: { url, ...more } };
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
