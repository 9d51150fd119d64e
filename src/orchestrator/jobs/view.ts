import { isoOf, isoOrNull } from "../../base/iso.ts";
import type { CrawlSettings } from "../../domain/crawl/crawl-settings.ts";
import type { CrawlOptions, CrawlRecipe, StoredCrawlOptions } from "../../domain/crawl/crawl-options.ts";
import { DEFAULT_ON_DEGRADED, type OnDegraded } from "../../domain/health/on-degraded.ts";
import { type BrowserOptions, type DocumentRequest, wholeBrowserOptions } from "../../domain/page/page-options.ts";
import { FIXTURES_SETTING } from "../../domain/page/fixture.ts";
import { MONITOR_DEFAULTS, type MonitorOptions } from "../../domain/monitor/options.ts";
import type { JobNotify } from "../../domain/notify/rules.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Recipe, Schedule, StrategyName } from "../../domain/run/recipe.ts";
import { without } from "../../base/without.ts";
import type { RunState } from "../../domain/run/states.ts";
import { withoutSecrets } from "../../domain/text/sealed-text.ts";
import { shownDefinition, shownParams } from "../../domain/workflow/secrets/secrets.ts";
import type { WorkflowRecipe } from "../../domain/workflow/source.ts";
import type { JobRecord } from "../../store/records/job-records.ts";
import type { LastRunRecord } from "../../store/ports/progress-port.ts";
import { jobVersion } from "../../store/versions.ts";
import { progressOf } from "../runs/view.ts";
import { toCrawlInput } from "./crawl-input.ts";
import type { SourceInput } from "./input.ts";
import { toSourceInput } from "./workflow-input.ts";
import { nextTimeOf } from "./next-times.ts";

/** A job as the API returns it, without the values of headers and cookies. */
export interface JobView {
  id: string;
  name: string | null;
  kind: "page" | "crawl" | "workflow";
  /** null: a workflow, which has no URL. */
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
  documents: boolean;
  timeout_seconds: number | null;
  session_id: string | null;
  replay: JsonValue;
  browser: Required<BrowserOptions> | null;
  document: DocumentRequest | null;
  /** `pool`, or a proxy URL without its credentials. */
  proxy: string | null;
  schedule: Schedule | null;
  timezone: string | null;
  tags: string[];
  /** Retention of ended runs, by count and by days; 0: no limit, null: the configured default. */
  keep_runs: number | null;
  keep_days: number | null;
  /** What happens when the records of a run are worse than before. */
  on_degraded: OnDegraded;
  /** Saved pages for tests of its rules; null: a workflow, which has none. */
  fixtures: number | null;
  auto_repair: boolean;
  /** What is compared from run to run; null: nothing. */
  monitor: MonitorOptions | null;
  /** Channels that are notified of its runs, by id. */
  notify: readonly JobNotify[];
  header_names: string[];
  cookie_names: string[];
  /** Crawl: its options. */
  crawl: JobCrawlView | null;
  /** Workflow: its source. */
  workflow: SourceInput | null;
  /** Progress of its newest run; null: it has had none. */
  last_run: LastRunView | null;
  /** The next scheduled start; never in the past. */
  next_run_at: string | null;
  /** Version of the changeable fields; a change that sends an outdated one is refused. */
  version: string;
  created_at: string;
  updated_at: string;
}

interface LastRunView {
  id: string;
  kind: string;
  status: RunState;
  progress: number;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

type Reading = "fields" | "items" | "schema" | "extract";
type PageOptionName = "document" | "browser";

/** The options of a saved crawl, with the keys of `POST /scraping/async-scrape`. */
interface JobCrawlView
  extends
    Omit<
      CrawlOptions,
      "urls" | keyof CrawlSettings | "sealed_proxy" | "sealed" | "session_id" | Reading | PageOptionName
    >,
    CrawlSettings,
    Pick<JobView, Reading | PageOptionName> {
  url: string | string[];
  session_id: string | null;
  header_names: string[];
}

function toLastRunView({ id, kind, status, progress, createdAt, startedAt, finishedAt }: LastRunRecord): LastRunView {
  return {
    id,
    kind,
    status,
    progress: progressOf({ kind, status, progress }),
    created_at: isoOf(createdAt),
    started_at: isoOrNull(startedAt),
    finished_at: isoOrNull(finishedAt),
  };
}

function toCrawlView(crawl: StoredCrawlOptions): JobCrawlView {
  const { document = null, browser = null, header_names = [] } = crawl;
  const input = toCrawlInput(crawl) as Omit<JobCrawlView, "header_names" | "max_attempts">;
  return {
    ...input,
    max_attempts: input.retry_attempts + 1,
    proxy: crawl.proxy ?? null,
    extract: (crawl.extract ?? null) as JobView["extract"],
    document,
    browser: browser === null ? null : withoutSecrets(wholeBrowserOptions(browser)),
    header_names: [...header_names],
  };
}

/** A template's schema is not loaded here; its params are stored sealed. */
function shownSource({ definition, params, ...source }: SourceInput): SourceInput {
  const schema = (definition as { params?: JsonValue } | null | undefined)?.params ?? null;
  return {
    ...(definition === undefined ? {} : { definition: shownDefinition(definition as JsonValue) }),
    ...source,
    ...(params === undefined || params === null ? {} : { params: shownParams(schema, params) }),
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
    documents: recipe.documents ?? true,
    document: recipe.document ?? null,
    browser: recipe.browser === null ? null : withoutSecrets(wholeBrowserOptions(recipe.browser)),
    fields: recipe.fields as JobView["fields"],
    items: recipe.items as JobView["items"],
    schema: recipe.schema as JobView["schema"],
    extract: (recipe.extract ?? null) as JobView["extract"],
    tags: [...job.tags],
    // Responses stored for idempotent replay may predate these fields.
    keep_runs: job.keepRuns ?? null,
    keep_days: job.keepDays ?? null,
    on_degraded: job.onDegraded ?? DEFAULT_ON_DEGRADED,
    fixtures: job.kind === "workflow" ? null : (job.fixtures ?? FIXTURES_SETTING.default),
    auto_repair: job.autoRepair ?? false,
    monitor: (recipe.monitor ?? null) === null ? null : { ...MONITOR_DEFAULTS, ...recipe.monitor! },
    notify: recipe.notify ?? [],
    header_names: [...header_names],
    cookie_names: [...cookie_names],
    crawl: crawl === undefined ? null : toCrawlView(crawl),
    workflow: workflow === undefined ? null : shownSource(toSourceInput(workflow)),
    last_run: lastRun === null ? null : toLastRunView(lastRun),
    next_run_at: isoOrNull(nextTimeOf(job, now)),
    version: jobVersion(job),
    created_at: isoOf(job.createdAt),
    updated_at: isoOf(job.updatedAt),
  };
}
