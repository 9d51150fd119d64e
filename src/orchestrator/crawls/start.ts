import type { FieldError } from "../../base/errors.ts";
import type { CrawlOptions, CrawlSnapshot } from "../../domain/crawl-options.ts";
import { compileScope } from "../../domain/crawl-scope.ts";
import { laneOfSite, resolverKey } from "../../domain/lane.ts";
import type { JsonValue } from "../../domain/queue-item.ts";
import { siteOf } from "../../domain/url.ts";
import { parsePlan } from "../../extract/plan.ts";
import type { NewTask, RunRecord } from "../../store/port.ts";
import type { Once } from "../../store/job-records.ts";
import type { RunDeps } from "../runs/start.ts";
import { invalid, refuseForbidden } from "../jobs/input.ts";

export interface CrawlDeps extends RunDeps {
  /** How many crawls may be running at once; the others wait. */
  maxConcurrentCrawls: number;
  respectRobots: boolean;
}

/** The name under which the worker knows how a page of a crawl is got; no handler of a user can have it. */
export const CRAWL_HANDLER = "@crawl";

export type CrawlInput = Partial<Omit<CrawlOptions, "urls">> & { url: string | readonly string[] };

/** What a crawl is asked for, checked as a whole, with all that was not said filled in. */
export function crawlOptionsFrom(deps: CrawlDeps, input: CrawlInput): CrawlOptions {
  const problems: FieldError[] = [];
  const options: CrawlOptions = {
    urls: typeof input.url === "string" ? [input.url] : [...input.url],
    max_depth: input.max_depth ?? 2,
    max_pages: input.max_pages ?? 1000,
    timeout_minutes: input.timeout_minutes ?? 30,
    max_concurrent_articles: input.max_concurrent_articles ?? 10,
    retry_attempts: input.retry_attempts ?? 3,
    partial_results_ok: input.partial_results_ok ?? true,
    export_format: input.export_format ?? "json",
    include: input.include ?? [],
    exclude: input.exclude ?? [],
    same_site: input.same_site ?? true,
    use_sitemap: input.use_sitemap ?? false,
    strategy: input.strategy ?? "auto",
    fields: input.fields ?? null,
    items: input.items ?? null,
    schema: input.schema ?? null,
    article: input.article ?? null,
    respect_robots: input.respect_robots ?? deps.respectRobots,
  };
  const scope = compileScope({ ...options, url: input.url });
  if (scope.errors !== undefined) problems.push(...scope.errors);
  if (options.fields !== null || options.items !== null || options.schema !== null) {
    const { errors } = parsePlan({ fields: options.fields, items: options.items, schema: options.schema });
    if (errors !== undefined) problems.push(...errors);
  }
  if (problems.length > 0) throw invalid(problems);
  for (const [index, url] of options.urls.entries())
    refuseForbidden(typeof input.url === "string" ? "url" : `url[${index}]`, url, deps.policy);
  return options;
}

/** Submits a crawl: it is on disk when this answers, and begins when it is its turn. */
export async function startCrawl(deps: CrawlDeps, input: CrawlInput, once?: Once): Promise<RunRecord> {
  const options = crawlOptionsFrom(deps, input);
  const scope = compileScope({ ...options, url: options.urls }).ok!;
  const [first] = scope.starts;
  const snapshot: CrawlSnapshot = { options };
  // What a crawl may do at once, over all its sites, is a limit that crosses lanes, as a resolver's is.
  const resolver = `crawl-${deps.random.uuid()}`;
  await deps.store.setBudgetCap(resolverKey(resolver), options.max_concurrent_articles);
  const { made } = await deps.store.startRun(
    {
      kind: "crawl",
      url: first!.url,
      site: siteOf(first!.url),
      maxAttempts: options.retry_attempts + 1,
      pagesLimit: options.max_pages,
      timeLimitMs: Math.round(options.timeout_minutes * 60_000),
      snapshot,
      meta: { url: first!.url, max_depth: options.max_depth, max_pages: options.max_pages },
    },
    scope.starts.slice(0, options.max_pages).map((start) => toTask(start, resolver)),
    deps.clock.now(),
    once,
  );
  await admitCrawls(deps);
  return (await deps.store.run(made.id)) ?? made;
}

function toTask({ url, key }: { url: string; key: string }, resolver: string): NewTask {
  const site = siteOf(url);
  const payload: JsonValue = { depth: 0 };
  return { key, lane: laneOfSite(site), site, resolver, url, priority: 0, handler: CRAWL_HANDLER, payload };
}

/** Lets crawls begin as long as there is room, and tells the engine. */
export async function admitCrawls(
  deps: Pick<CrawlDeps, "store" | "clock" | "wake" | "maxConcurrentCrawls">,
): Promise<void> {
  const { lanes } = await deps.store.admitCrawls(deps.maxConcurrentCrawls, deps.clock.now());
  if (lanes.length > 0) await deps.wake(lanes);
}
