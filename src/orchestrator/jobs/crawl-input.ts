/** Input of a saved crawl. Page options are below `crawl`, with the keys of a direct crawl. */
import type { FieldError } from "../../base/errors.ts";
import { without } from "../../base/without.ts";
import {
  type CrawlInput,
  type CrawlOptions,
  type CrawlRecipe,
  pageRecipeOf,
  type StoredCrawlOptions,
  wholeCrawlOptions,
} from "../../domain/crawl/crawl-options.ts";
import { fetchUrl, siteOf } from "../../domain/text/url.ts";
import type { NewJob } from "../../store/records/job-records.ts";
import { readCrawlOptions } from "../crawls/options.ts";
import type { JobDeps } from "./deps.ts";
import { invalid } from "../invalid.ts";
import { type JobInput, policiesOf } from "./input.ts";
import { readMonitor } from "./monitor-input.ts";
import { firstTime, readSchedule } from "./schedule-input.ts";

/**
 * A crawl job, ready to store. Throws `input_invalid` (or `forbidden_target`) with every invalid field. `before` is the
 * current job.
 */
export function crawlJobFrom(input: JobInput, deps: JobDeps, before: CrawlOptions | null = null): NewJob {
  const problems: FieldError[] = [];
  refuseKeysOfPages(input, problems);
  const schedule = readSchedule(input, problems, deps);
  const crawlStart = input.crawl?.url ?? input.crawl?.urls;
  const starts = crawlStart === undefined && input.target_url !== undefined ? { url: input.target_url } : {};
  if (crawlStart === undefined && input.target_url === undefined) {
    problems.push({ path: "target_url", message: "is required: the start URL of the crawl" });
    throw invalid(problems);
  }
  const pathOf = (path: string) => (crawlStart === undefined && path === "url" ? "target_url" : `crawl.${path}`);
  const crawl = readCrawlOptions(deps, { ...input.crawl, ...starts }, problems, pathOf, before);
  if (input.target_url !== undefined && crawlStart !== undefined && !beginsAt(input.target_url, crawl))
    problems.push({ path: "target_url", message: "differs from crawl.url; set only one of them" });
  const monitor = readMonitor(input.monitor, crawl.document ?? null, problems, "crawl.document");
  if (problems.length > 0) throw invalid(problems);
  const recipe: CrawlRecipe = {
    ...pageRecipeOf(crawl),
    ...(monitor === null ? {} : { monitor }),
    schedule,
    timezone: input.timezone ?? null,
    crawl,
  };
  const first = fetchUrl(crawl.urls[0]!)!;
  return {
    name: input.name ?? null,
    kind: "crawl",
    url: first,
    site: siteOf(first),
    tags: input.tags ?? [],
    recipe,
    ...firstTime(schedule, deps),
    ...policiesOf(input),
  };
}

const UNDER_CRAWL = [
  "strategy",
  "fields",
  "items",
  "schema",
  "extract",
  "respect_robots",
  "documents",
  "proxy",
  "document",
  "browser",
  "headers",
  "session_id",
] as const;
const OF_PAGES = ["requires_auth", "escalate", "timeout_seconds", "replay", "cookies"] as const;

/** Page-only keys would be stored and never used. */
function refuseKeysOfPages(input: JobInput, problems: FieldError[]): void {
  const isSet = (key: keyof JobInput) => input[key] !== undefined && input[key] !== null;
  for (const path of UNDER_CRAWL.filter(isSet))
    problems.push({ path, message: `for a crawl, set crawl.${path} instead` });
  if (isSet("max_attempts"))
    problems.push({
      path: "max_attempts",
      message: "for a crawl, set crawl.max_attempts instead",
    });
  if (isSet("workflow"))
    problems.push({ path: "workflow", message: 'is only for workflows: set "kind": "workflow", or remove it' });
  for (const path of OF_PAGES.filter(isSet)) problems.push({ path, message: "is only for page jobs, not for crawls" });
}

const beginsAt = (url: string, { urls }: CrawlOptions) => fetchUrl(url) === fetchUrl(urls[0] ?? "");

/** Stored crawl options as a request would contain them. */
export function toCrawlInput(stored: StoredCrawlOptions): CrawlInput & { session_id: string | null } {
  const {
    urls,
    session_id = null,
    ...rest
  } = without(wholeCrawlOptions(stored), "sealed_proxy", "sealed", "header_names");
  return { ...rest, session_id, url: urls.length === 1 ? urls[0]! : urls };
}

/**
 * Merges a change into a saved crawl, key by key below `crawl`. A single start may be changed by either of its names;
 * several starts are changed below `crawl`.
 */
export function changedCrawl(before: JobInput, change: JobInput): JobInput {
  // Of two names for the same field, the one in this request wins.
  const known = before.crawl ?? {};
  const crawl = change.crawl?.max_attempts === undefined ? known : without(known, "retry_attempts");
  const isMoved =
    (change.target_url !== undefined && typeof crawl.url === "string") || change.crawl?.urls !== undefined;
  return { ...before, ...change, crawl: { ...(isMoved ? without(crawl, "url") : crawl), ...change.crawl } };
}
