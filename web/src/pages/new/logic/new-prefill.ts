/** Fills the form from a job to edit, or a run to clone. */
import { CRAWL_DEFAULTS, EMPTY, type Form } from "./new-form.ts";
import { otherSettingsIn } from "./crawl-settings.ts";
import { definedOnly, type Json } from "./new-values.ts";
import { pageOptionsFrom } from "./page-options.ts";
import { itemsFromJson, rulesFromFields } from "./rules.ts";

const typed = (value: unknown) => (value === undefined || value === null ? "" : String(value));
const typedLines = (value: unknown) => (Array.isArray(value) ? value.join("\n") : typed(value));
const unless = (value: unknown, usual: unknown) => (value === usual ? "" : typed(value));
const typedJson = (value: unknown) => (value === undefined || value === null ? "" : JSON.stringify(value, null, 2));

function formReading({ fields, items, schema }: Json): Pick<Form, "rules" | "items" | "schema"> {
  return { rules: rulesFromFields(fields), items: itemsFromJson(items), schema: typedJson(schema) };
}

function formOfCrawl(crawl: Json): Partial<Form> {
  const kept = definedOnly({
    extract: crawl["extract"] ?? undefined,
    ...otherSettingsIn(crawl),
    export_format: (crawl["export_format"] ?? "json") === "json" ? undefined : crawl["export_format"],
  });
  const retries = crawl["retry_attempts"];
  const tries = crawl["max_attempts"] ?? (typeof retries === "number" ? retries + 1 : undefined);
  return {
    kind: "crawl",
    url: typedLines(crawl["url"]),
    depth: unless(crawl["max_depth"], CRAWL_DEFAULTS.max_depth),
    pages: unless(crawl["max_pages"], CRAWL_DEFAULTS.max_pages),
    concurrency: unless(crawl["max_concurrent_articles"], CRAWL_DEFAULTS.max_concurrent_articles),
    minutes: unless(crawl["timeout_minutes"], CRAWL_DEFAULTS.timeout_minutes),
    tries: unless(tries, CRAWL_DEFAULTS.max_attempts),
    include: typedLines(crawl["include"]),
    exclude: typedLines(crawl["exclude"]),
    follow: typedLines(crawl["follow"]),
    read: typedLines(crawl["read"]),
    anySite: crawl["same_site"] === false,
    sitemap: crawl["use_sitemap"] === true,
    onlyChanged: crawl["only_changed"] === true,
    ignoreRobots: crawl["respect_robots"] === false,
    article: crawl["article"] === true,
    strategy: typed(crawl["strategy"] ?? "auto"),
    proxy: typed(crawl["proxy"]),
    session: typed(crawl["session_id"]),
    ...formReading(crawl),
    ...pageOptionsFrom(crawl),
    kept,
  };
}

function formOfPage(job: Json): Partial<Form> {
  const kept = definedOnly({
    extract: job["extract"] ?? undefined,
    requires_auth: job["requires_auth"] === true ? true : undefined,
    escalate: job["escalate"] === false ? false : undefined,
    documents: job["documents"] === false ? false : undefined,
    replay: job["replay"] ?? undefined,
  });
  return {
    kind: "scrape",
    url: typed(job["target_url"]),
    strategy: typed(job["strategy"] ?? "auto"),
    proxy: typed(job["proxy"]),
    session: typed(job["session_id"]),
    respectRobots: job["respect_robots"] === true,
    tries: typed(job["max_attempts"]),
    timeout: typed(job["timeout_seconds"]),
    ...formReading(job),
    ...pageOptionsFrom(job),
    kept,
  };
}

function formOfWorkflow(source: Json): Partial<Form> {
  const template = source["template"] ?? null;
  if (template === null) {
    const params = source["params"] as Json | null | undefined;
    const hasParams = params !== undefined && params !== null && Object.keys(params).length > 0;
    const content = hasParams ? { definition: source["definition"], params } : source["definition"];
    return { kind: "workflow", source: "definition", definition: typedJson(content) };
  }
  return {
    kind: "workflow",
    source: "template",
    template: typed(template),
    templateVersion: typed(source["template_version"]),
    params: (source["params"] ?? {}) as Json,
  };
}

/** The form of a job, or of a run's recipe: both have the keys of `POST /jobs`. */
export function formOf(job: Json): Form {
  const schedule = job["schedule"] as Json | string | null | undefined;
  const { overlap, missed, jitter_seconds } = (typeof schedule === "object" ? (schedule ?? {}) : {}) as Json;
  const when = definedOnly({
    overlap: (overlap ?? "skip") === "skip" ? undefined : overlap,
    missed: (missed ?? "skip") === "skip" ? undefined : missed,
    jitter_seconds: (jitter_seconds ?? 0) === 0 ? undefined : jitter_seconds,
  });
  const cron = typeof schedule === "object" && schedule !== null ? schedule["cron"] : schedule;
  const zone = typeof schedule === "object" && schedule !== null ? schedule["timezone"] : null;
  const part =
    job["kind"] === "crawl"
      ? formOfCrawl({ url: job["target_url"], ...(job["crawl"] as Json) })
      : job["kind"] === "workflow"
        ? formOfWorkflow((job["workflow"] ?? {}) as Json)
        : formOfPage(job);
  return {
    ...EMPTY,
    ...part,
    name: typed(job["name"]),
    runName: job["kind"] === "workflow" ? typed(job["name"]) : "",
    schedule: typed(cron),
    when,
    timezone: typed(job["timezone"] ?? zone),
    tags: Array.isArray(job["tags"]) ? job["tags"].join(", ") : "",
  };
}
