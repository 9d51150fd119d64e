import {
  CRAWL_HANDLER,
  type CrawlInput,
  type CrawlOptions,
  type CrawlSnapshot,
} from "../../domain/crawl/crawl-options.ts";
import { crawlStarts } from "../../domain/crawl/crawl-scope.ts";
import { askForSitemaps, originsOf } from "../../domain/crawl/crawl-sitemaps.ts";
import type { MonitorOptions } from "../../domain/monitor/options.ts";
import { laneOfSite, resolverKey } from "../../domain/lane/lane.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { siteOf } from "../../domain/text/url.ts";
import type { IdempotencyKey } from "../../store/records/job-records.ts";
import type { NewRun, NewTask, RunRecord } from "../../store/ports/port.ts";
import type { CrawlDeps } from "../jobs/deps.ts";
import { requireExtractor } from "../jobs/extractor-input.ts";
import { needingProxies } from "../proxies/rules.ts";
import { invalid } from "../invalid.ts";
import { withCrawlSession } from "../session-for-page.ts";
import { crawlOptionsFrom } from "./options.ts";
import { admitCrawls } from "./turns.ts";
import { callersTrace } from "../runs/callers-trace.ts";

/** Submits a crawl: committed when this returns; starts when admission allows it. */
export async function startCrawl(
  deps: CrawlDeps,
  { name, ...input }: CrawlInput & { name?: string },
  once?: IdempotencyKey,
  { temporary = false }: { temporary?: boolean } = {},
): Promise<RunRecord> {
  const checked = crawlOptionsFrom(deps, input);
  if (checked.only_changed === true) throw invalid([{ path: "only_changed", message: NOT_SAVED }]);
  await requireExtractor(deps, checked);
  const options = await withCrawlSession(deps, checked);
  const { run, tasks } = newCrawlRun(deps, options, { name: name ?? null });
  const asked: NewRun = temporary ? { ...run, temporary } : run;
  const { created } = await deps.store.startRun(asked, tasks, deps.clock.now(), once);
  await admitCrawls(deps);
  return (await deps.store.run(created.id)) ?? created;
}

const NOT_SAVED =
  "compares with the previous run, but only a saved crawl has one: save it as a job (POST /jobs, orb jobs create --crawl) and run that";

/** The run of a crawl, saved as a job or not, with its first tasks. */
export function newCrawlRun(
  { random, proxyRules }: Pick<CrawlDeps, "random" | "proxyRules">,
  options: CrawlOptions,
  { id, name, monitor = null }: { id?: string; name?: string | null; monitor?: MonitorOptions | null } = {},
): { run: NewRun; tasks: NewTask[] } {
  const starts = crawlStarts(options.urls);
  const [first] = starts;
  const snapshot: CrawlSnapshot = { options, ...(monitor === null ? {} : { monitor }) };
  // A crawl's concurrency over all its sites is a shared limit, like a concurrency key's.
  const resolver = `crawl-${random.uuid()}`;
  const run: NewRun = {
    kind: "crawl",
    url: first!.url,
    site: siteOf(first!.url),
    maxAttempts: options.retry_attempts + 1,
    pagesLimit: options.max_pages,
    timeLimitMs: Math.round(options.timeout_minutes * 60_000),
    budget: { key: resolverKey(resolver), cap: atOnce(options) },
    snapshot,
    meta: { url: first!.url, max_depth: options.max_depth, max_pages: options.max_pages },
    ...(id === undefined ? {} : { jobId: id }),
    ...(name === undefined ? {} : { name }),
    ...callersTrace(),
  };
  const sitemaps = options.use_sitemap ? originsOf(starts).map((origin) => toSitemapTask(origin, resolver)) : [];
  return {
    run: needingProxies(run, proxyRules),
    tasks: [...starts.map((start) => toTask(start, resolver)), ...sitemaps],
  };
}

/** With a delay between pages, concurrency is 1. */
function atOnce({ delay_seconds = 0, max_concurrent_articles }: CrawlOptions): number {
  return delay_seconds > 0 ? 1 : max_concurrent_articles;
}

function toTask({ url, key }: { url: string; key: string }, resolver: string): NewTask {
  const site = siteOf(url);
  const payload: JsonValue = { depth: 0 };
  return { key, lane: laneOfSite(site), site, resolver, url, priority: 0, handler: CRAWL_HANDLER, payload };
}

function toSitemapTask(origin: string, resolver: string): NewTask {
  const { key, lane, site, url, handler = null, auxiliary } = askForSitemaps(origin);
  return { key, lane, site, resolver, url, priority: 1, handler, payload: auxiliary, auxiliary: true };
}
