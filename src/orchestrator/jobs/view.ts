import type { CrawlOptions, CrawlRecipe } from "../../domain/crawl-options.ts";
import { type BrowserWish, type DocumentWish, wholeBrowserWish } from "../../domain/page-wishes.ts";
import type { JsonValue } from "../../domain/queue-item.ts";
import type { Recipe, Schedule, StrategyName } from "../../domain/recipe.ts";
import { without } from "../../base/without.ts";
import type { RunState } from "../../domain/states.ts";
import { withoutSecrets } from "../../domain/workflow/secrets.ts";
import type { WorkflowRecipe } from "../../domain/workflow/source.ts";
import type { JobRecord } from "../../store/job-records.ts";
import type { LastRunRecord } from "../../store/progress-port.ts";
import { progressOf } from "../runs/view.ts";
import { asGiven } from "./crawl-input.ts";
import type { SourceInput } from "./input.ts";
import { sourceAsGiven } from "./workflow-input.ts";
import { nextTimeOf } from "./next-times.ts";

/** A job as users see it. The values of headers and cookies are not in it. */
export interface JobView {
  id: string;
  name: string | null;
  kind: "page" | "crawl" | "workflow";
  /** null: of a workflow, which has no address of its own. */
  target_url: string | null;
  site: string | null;
  strategy: StrategyName;
  requires_auth: boolean;
  fields: string[] | Record<string, unknown> | null;
  items: string | Record<string, unknown> | null;
  schema: boolean | Record<string, unknown> | null;
  extract: Record<string, unknown> | null;
  max_attempts: number | null;
  escalate: boolean;
  respect_robots: boolean;
  timeout_seconds: number | null;
  session_id: string | null;
  replay: JsonValue;
  browser: Required<BrowserWish> | null;
  document: DocumentWish | null;
  /** `pool`, or a proxy's address without its user name and password. */
  proxy: string | null;
  schedule: Schedule | null;
  timezone: string | null;
  tags: string[];
  header_names: string[];
  cookie_names: string[];
  /** Of a crawl: what it is asked for each time. */
  crawl: JobCrawlView | null;
  /** Of a workflow: what it is made from each time. */
  workflow: SourceInput | null;
  /** How its newest run is getting on; null: it has had none. */
  last_run: LastRunView | null;
  /** When its schedule starts it next, if somebody works then; never in the past. */
  next_run_at: string | null;
  created_at: string;
  updated_at: string;
}

export interface LastRunView {
  id: string;
  kind: string;
  status: RunState;
  progress: number;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

type Reading = "fields" | "items" | "schema" | "extract";
type PageWish = "document" | "browser";

/** Keys that crawls of earlier versions lack. */
type Later = "stay_within" | "follow_links" | "delay_seconds" | "only_changed";

/** What a saved crawl is asked for, in the words of `POST /scraping/async-scrape`. */
export interface JobCrawlView
  extends
    Omit<CrawlOptions, "urls" | "include" | "exclude" | "sealed_proxy" | "sealed" | Reading | PageWish | Later>,
    Required<Pick<CrawlOptions, Later>>,
    Pick<JobView, Reading | PageWish> {
  url: string | string[];
  include: string[];
  exclude: string[];
  header_names: string[];
}

const isoOrNull = (time: number | null) => (time === null ? null : new Date(time).toISOString());

function toLastRunView({ id, kind, status, progress, createdAt, startedAt, finishedAt }: LastRunRecord): LastRunView {
  return {
    id,
    kind,
    status,
    progress: progressOf({ kind, status, progress }),
    created_at: new Date(createdAt).toISOString(),
    started_at: isoOrNull(startedAt),
    finished_at: isoOrNull(finishedAt),
  };
}

function toCrawlView(crawl: CrawlOptions): JobCrawlView {
  const { document = null, browser = null, header_names = [] } = crawl;
  return {
    ...(asGiven(crawl) as Omit<JobCrawlView, "header_names">),
    proxy: crawl.proxy ?? null,
    extract: (crawl.extract ?? null) as JobView["extract"],
    document,
    browser: browser === null ? null : wholeBrowserWish(browser),
    header_names: [...header_names],
  };
}

export function toJobView(job: JobRecord, lastRun: LastRunRecord | null, now: number): JobView {
  const { header_names, cookie_names, crawl, workflow, ...recipe } = without(
    job.recipe as Recipe & Partial<CrawlRecipe & WorkflowRecipe>,
    "sealed",
    "sealed_proxy",
  );
  return {
    id: job.id,
    name: job.name,
    kind: job.kind as JobView["kind"],
    target_url: job.url === "" ? null : job.url,
    site: job.site === "" ? null : job.site,
    ...recipe,
    proxy: recipe.proxy ?? null,
    document: recipe.document ?? null,
    browser: recipe.browser === null ? null : wholeBrowserWish(recipe.browser),
    fields: recipe.fields as JobView["fields"],
    items: recipe.items as JobView["items"],
    schema: recipe.schema as JobView["schema"],
    extract: (recipe.extract ?? null) as JobView["extract"],
    tags: [...job.tags],
    header_names: [...header_names],
    cookie_names: [...cookie_names],
    crawl: crawl === undefined ? null : toCrawlView(crawl),
    workflow: workflow === undefined ? null : withoutSecrets(sourceAsGiven(workflow)),
    last_run: lastRun === null ? null : toLastRunView(lastRun),
    next_run_at: isoOrNull(nextTimeOf(job, now)),
    created_at: new Date(job.createdAt).toISOString(),
    updated_at: new Date(job.updatedAt).toISOString(),
  };
}
