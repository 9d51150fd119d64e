import type { CrawlOptions, CrawlRecipe } from "../../domain/crawl-options.ts";
import type { JsonValue } from "../../domain/queue-item.ts";
import type { Recipe, Schedule, StrategyName } from "../../domain/recipe.ts";
import { without } from "../../base/without.ts";
import type { JobRecord } from "../../store/job-records.ts";
import { asGiven } from "./crawl-input.ts";

/** A job as users see it. The values of headers and cookies are not in it. */
export interface JobView {
  id: string;
  name: string | null;
  kind: "page" | "crawl";
  target_url: string;
  site: string;
  strategy: StrategyName;
  requires_auth: boolean;
  fields: string[] | Record<string, unknown> | null;
  items: string | Record<string, unknown> | null;
  schema: boolean | Record<string, unknown> | null;
  max_attempts: number | null;
  escalate: boolean;
  respect_robots: boolean;
  timeout_seconds: number | null;
  session_id: string | null;
  replay: JsonValue;
  browser: { wait_for: string | null; block_resources: boolean } | null;
  schedule: Schedule | null;
  timezone: string | null;
  tags: string[];
  header_names: string[];
  cookie_names: string[];
  /** Of a crawl: what it is asked for each time. */
  crawl: JobCrawlView | null;
  /** When its schedule starts it next. */
  next_run_at: string | null;
  created_at: string;
  updated_at: string;
}

type Reading = "fields" | "items" | "schema";

/** What a saved crawl is asked for, in the words of `POST /scraping/async-scrape`. */
export interface JobCrawlView
  extends Omit<CrawlOptions, "urls" | "include" | "exclude" | Reading>, Pick<JobView, Reading> {
  url: string | string[];
  include: string[];
  exclude: string[];
}

export function toJobView(job: JobRecord): JobView {
  const { header_names, cookie_names, crawl, ...recipe } = without(
    job.recipe as Recipe & Partial<CrawlRecipe>,
    "sealed",
  );
  return {
    id: job.id,
    name: job.name,
    kind: job.kind as JobView["kind"],
    target_url: job.url,
    site: job.site,
    ...recipe,
    fields: recipe.fields as JobView["fields"],
    items: recipe.items as JobView["items"],
    schema: recipe.schema as JobView["schema"],
    tags: [...job.tags],
    header_names: [...header_names],
    cookie_names: [...cookie_names],
    crawl: crawl === undefined ? null : (asGiven(crawl) as JobCrawlView),
    next_run_at: job.nextAt === null ? null : new Date(job.nextAt).toISOString(),
    created_at: new Date(job.createdAt).toISOString(),
    updated_at: new Date(job.updatedAt).toISOString(),
  };
}
