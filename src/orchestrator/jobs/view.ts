import type { JsonValue } from "../../domain/queue-item.ts";
import type { Recipe, Schedule, StrategyName } from "../../domain/recipe.ts";
import { without } from "../../base/without.ts";
import type { JobRecord } from "../../store/job-records.ts";

/** A job as users see it. The values of headers and cookies are not in it. */
export interface JobView {
  id: string;
  name: string | null;
  kind: string;
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
  /** When its schedule starts it next. */
  next_run_at: string | null;
  created_at: string;
  updated_at: string;
}

export function toJobView(job: JobRecord): JobView {
  const { header_names, cookie_names, ...recipe } = without(job.recipe as Recipe, "sealed");
  return {
    id: job.id,
    name: job.name,
    kind: job.kind,
    target_url: job.url,
    site: job.site,
    ...recipe,
    fields: recipe.fields as JobView["fields"],
    items: recipe.items as JobView["items"],
    schema: recipe.schema as JobView["schema"],
    tags: [...job.tags],
    header_names: [...header_names],
    cookie_names: [...cookie_names],
    next_run_at: job.nextAt === null ? null : new Date(job.nextAt).toISOString(),
    created_at: new Date(job.createdAt).toISOString(),
    updated_at: new Date(job.updatedAt).toISOString(),
  };
}
