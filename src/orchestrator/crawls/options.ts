import type { FieldError } from "../../base/errors.ts";
import type { CrawlInput, CrawlOptions } from "../../domain/crawl-options.ts";
import { compileScope } from "../../domain/crawl-scope.ts";
import type { ProxyWish } from "../../domain/proxy-wish.ts";
import { parsePlan } from "../../extract/plan.ts";
import type { JobDeps } from "../jobs/deps.ts";
import { invalid } from "../invalid.ts";
import { refuseForbidden } from "../jobs/input.ts";
import { readProxy } from "../jobs/proxy-input.ts";

type Checks = Pick<JobDeps, "policy" | "respectRobots" | "seal">;

/** What a crawl is asked for, checked as a whole, with all that was not said filled in. */
export function crawlOptionsFrom(deps: Checks, input: CrawlInput): CrawlOptions {
  const problems: FieldError[] = [];
  const options = readCrawlOptions(deps, input, problems);
  if (problems.length > 0) throw invalid(problems);
  return options;
}

/** The same for a caller who looks at more; `pathOf` says where a key stands in what was sent, `before` what holds now. */
export function readCrawlOptions(
  deps: Checks,
  input: CrawlInput,
  problems: FieldError[],
  pathOf: (path: string) => string = (path) => path,
  before: ProxyWish | null = null,
): CrawlOptions {
  const wrong = (errors: readonly FieldError[] = []) =>
    problems.push(...errors.map(({ path, message }) => ({ path: pathOf(path), message })));
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
    ...readProxy(input.proxy, deps, before, pathOf("proxy"), problems),
  };
  const scope = compileScope({ ...options, url: input.url });
  wrong(scope.errors);
  if (options.fields !== null || options.items !== null || options.schema !== null) {
    wrong(parsePlan({ fields: options.fields, items: options.items, schema: options.schema }).errors);
  }
  const starts = options.urls.map((url, n) => ({ url, path: typeof input.url === "string" ? "url" : `url[${n}]` }));
  wrong(starts.filter(({ url }) => hasPassword(url)).map(({ path }) => ({ path, message: NO_PASSWORDS })));
  if (scope.errors !== undefined) return options;
  for (const { url, path } of starts) refuseForbidden(pathOf(path), url, deps.policy);
  return options;
}

const NO_PASSWORDS =
  "has a user name or a password, which would be stored and shown in clear, and a crawl cannot sign in: leave it out, or save a job for the page";

function hasPassword(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.username !== "" || url.password !== "");
}
