import { type CrawlOptions, type CrawlRecipe, wholeCrawlOptions } from "../domain/crawl/crawl-options.ts";
import { fetchedUrl, type PageSnapshot, type Recipe } from "../domain/run/recipe.ts";
import { fetchUrl, siteOf } from "../domain/text/url.ts";
import { callersLimits } from "../domain/access/caller.ts";
import type { NewJob, SessionRecord } from "../store/records/job-records.ts";
import type { OrchestratorDeps } from "./deps.ts";
import { invalid } from "./invalid.ts";

type Deps = Pick<OrchestratorDeps, "store">;

/** A session is sent to its own origin only: with a page of another origin every run would fail. */
export async function requireSessionFor(deps: Deps, idOrName: string, page: PageSnapshot): Promise<SessionRecord> {
  return requireSession(deps, idOrName, [fetchedUrl(page)], "session_id");
}

async function requireSession(
  { store }: Deps,
  idOrName: string,
  urls: readonly string[],
  path: string,
): Promise<SessionRecord> {
  const session = await store.session(idOrName);
  if (session === null || isOutsideLimits(session))
    throw invalid([{ path, message: "there is no session with this id or name" }]);
  const origins = [...new Set(urls.flatMap((url) => URL.parse(fetchUrl(url) ?? "")?.origin ?? []))];
  if (origins.includes(session.origin)) return session;
  const where = urls.length === 1 ? "the origin of the page" : "the origins of the start URLs";
  const message = `the session belongs to ${session.origin} and is not sent to ${origins.join(", ")}, ${where}`;
  throw invalid([{ path, message }]);
}

/** A key with limits uses only sessions of its sites, and does not learn of others. */
function isOutsideLimits({ origin }: SessionRecord): boolean {
  return isSiteOutsideLimits(siteOf(origin));
}

function isSiteOutsideLimits(site: string): boolean {
  const limits = callersLimits();
  return limits !== null && limits.sites?.includes(site) !== true;
}

/** `requires_auth` takes the newest session of the page's origin. */
function refuseSessionsOutsideLimits(url: string): void {
  if (!isSiteOutsideLimits(siteOf(url))) return;
  const message = "this key uses sessions of the sites that it is limited to, and no others";
  throw invalid([{ path: "requires_auth", message }]);
}

/** The recipe of a page, with its session's name resolved to an id. */
export async function withPageSession<T extends { url: string; recipe: unknown }>(deps: Deps, job: T): Promise<T> {
  const recipe = job.recipe as Recipe;
  if (recipe.session_id === null) {
    if (recipe.requires_auth) refuseSessionsOutsideLimits(fetchedUrl({ url: job.url, recipe }));
    return job;
  }
  const session = await requireSessionFor(deps, recipe.session_id, { url: job.url, recipe });
  return { ...job, recipe: { ...recipe, session_id: session.id } };
}

/** Crawl options, with the session's name resolved to an id. */
export async function withCrawlSession(deps: Deps, options: CrawlOptions, path = "session_id"): Promise<CrawlOptions> {
  const { session_id: named = null, urls } = options;
  if (named === null) return options;
  return { ...options, session_id: (await requireSession(deps, named, urls, path)).id };
}

/** A page or crawl job, with the session's name resolved to an id. */
export async function withSession(deps: Deps, job: NewJob): Promise<NewJob> {
  if (job.kind !== "crawl") return withPageSession(deps, job);
  const recipe = job.recipe as CrawlRecipe;
  const crawl = await withCrawlSession(deps, wholeCrawlOptions(recipe.crawl), "crawl.session_id");
  return { ...job, recipe: { ...recipe, crawl, session_id: crawl.session_id ?? null } };
}
