/** The form for new runs and jobs, and the requests it sends. */
import { CRAWL_DEFAULTS as CRAWL_STORED } from "../../../../../src/domain/crawl/crawl-settings.ts";
import { otherSettingsOf, withoutOtherSettings } from "./crawl-settings.ts";
import { type FieldProblem, definedOnly, type Json, lines, list, number, pairs, text } from "./new-values.ts";
import { browserOf, documentOf, NO_PAGE_OPTIONS, type PageOptionFields } from "./page-options.ts";
import { type Items, itemsToJson, NO_ITEMS, type Rule, rulesToFields } from "./rules.ts";
import { tidied } from "./schema-form.ts";

export const KINDS = ["crawl", "scrape", "workflow"] as const;
export type Kind = (typeof KINDS)[number];

/** As typed: numbers are texts until they are sent, and lists have one entry per line. */
export interface Form extends PageOptionFields {
  kind: Kind;
  url: string;
  depth: string;
  pages: string;
  concurrency: string;
  minutes: string;
  include: string;
  follow: string;
  read: string;
  exclude: string;
  anySite: boolean;
  sitemap: boolean;
  onlyChanged: boolean;
  strategy: string;
  proxy: string;
  /** The id of a stored session; empty: none. */
  session: string;
  ignoreRobots: boolean;
  respectRobots: boolean;
  article: boolean;
  tries: string;
  timeout: string;
  headers: string;
  cookies: string;
  rules: readonly Rule[];
  items: Items;
  /** JSON Schema of each record. */
  schema: string;
  source: "template" | "definition";
  template: string;
  templateVersion: string;
  params: Readonly<Record<string, unknown>>;
  /** JSON or YAML. */
  definition: string;
  runName: string;
  name: string;
  schedule: string;
  timezone: string;
  tags: string;
  /** Keys of the schedule besides its times. */
  when: Readonly<Record<string, unknown>>;
  /** Keys without a field; sent unchanged. */
  kept: Readonly<Record<string, unknown>>;
}

export const EMPTY: Form = {
  ...NO_PAGE_OPTIONS,
  kind: "crawl",
  url: "",
  depth: "",
  pages: "",
  concurrency: "",
  minutes: "",
  include: "",
  follow: "",
  read: "",
  exclude: "",
  anySite: false,
  sitemap: false,
  onlyChanged: false,
  strategy: "auto",
  proxy: "",
  session: "",
  ignoreRobots: false,
  respectRobots: false,
  article: false,
  tries: "",
  timeout: "",
  headers: "",
  cookies: "",
  rules: [],
  items: NO_ITEMS,
  schema: "",
  source: "template",
  template: "",
  templateVersion: "",
  params: {},
  definition: "",
  runName: "",
  name: "",
  schedule: "",
  timezone: "",
  tags: "",
  when: {},
  kept: {},
};

export interface Order {
  body: Json;
  /** What cannot be sent as typed; the server validates the rest. */
  problems: FieldProblem[];
}

function schemaOf(typed: string, problems: FieldProblem[]): unknown {
  if (typed.trim() === "") return undefined;
  try {
    return JSON.parse(typed) as unknown;
  } catch (error) {
    problems.push({ path: "schema", message: `Invalid JSON: ${(error as Error).message}.` });
    return undefined;
  }
}

function reading(form: Form, problems: FieldProblem[]): Json {
  return definedOnly({
    fields: rulesToFields(form.rules) ?? undefined,
    items: itemsToJson(form.items) ?? undefined,
    schema: schemaOf(form.schema, problems),
    document: documentOf(form),
  });
}

/** Fetch options: browser and headers. */
function getting(form: Form, problems: FieldProblem[]): Json {
  // Only a browser can wait for an element; a crawl may wait on those pages that need one.
  const waits = form.kind === "scrape" && form.waitFor.trim() !== "";
  const strategy = form.strategy === "auto" && waits ? "browser" : form.strategy;
  return definedOnly({
    strategy: strategy === "auto" ? undefined : strategy,
    proxy: text(form.proxy),
    session_id: text(form.session),
    browser: browserOf(form, problems),
    headers: pairs(form.headers, ":", "headers", problems),
  });
}

function urls(typed: string): string | string[] {
  const all = lines(typed);
  return all.length <= 1 ? (all[0] ?? "") : all;
}

/** Drops keys of a page that a crawl does not have. */
function withoutPageKeys({ requires_auth: _auth, escalate: _escalate, replay: _replay, ...kept }: Json): Json {
  return kept;
}

function crawlPart(form: Form, problems: FieldProblem[]): Json {
  return definedOnly({
    url: urls(form.url),
    ...otherSettingsOf(withoutPageKeys(form.kept)),
    max_depth: number(form.depth),
    max_pages: number(form.pages),
    max_concurrent_articles: number(form.concurrency),
    timeout_minutes: number(form.minutes),
    include: list(form.include),
    exclude: list(form.exclude),
    follow: list(form.follow),
    read: list(form.read),
    same_site: form.anySite ? false : undefined,
    use_sitemap: form.sitemap ? true : undefined,
    respect_robots: form.ignoreRobots ? false : undefined,
    article: form.article ? true : undefined,
    ...getting(form, problems),
    max_attempts: number(form.tries),
    ...reading(form, problems),
  });
}

function pagePart(form: Form, problems: FieldProblem[]): Json {
  return definedOnly({
    ...withoutOtherSettings(form.kept),
    target_url: form.url.trim(),
    ...getting(form, problems),
    respect_robots: form.respectRobots ? true : undefined,
    documents: form.kept["documents"] === false ? false : undefined,
    timeout_seconds: number(form.timeout),
    cookies: pairs(form.cookies, "=", "cookies", problems),
    ...reading(form, problems),
  });
}

function workflowPart(form: Form): Json {
  const params = Object.keys(form.params).length === 0 ? undefined : tidied(form.params);
  return definedOnly({ template: form.template, template_version: number(form.templateVersion), params });
}

/** The body of `POST /scraping/async-scrape`, `/runs` or `/workflows`; a definition is sent as typed instead. */
export function orderOf(form: Form): Order {
  const problems: FieldProblem[] = [];
  if (form.kind === "crawl")
    return { body: definedOnly({ name: text(form.name), ...crawlPart(form, problems) }), problems };
  // A single page has one attempt unless more are set; a saved job uses the server's default.
  if (form.kind === "scrape")
    return {
      body: definedOnly({ name: text(form.name), ...pagePart(form, problems), max_attempts: number(form.tries) ?? 1 }),
      problems,
    };
  return { body: definedOnly({ ...workflowPart(form), name: text(form.runName), start: true }), problems };
}

/** How the playground fetches a page: as in a run, but without a proxy, which only runs use. */
export function previewOf(form: Form): Json {
  const { strategy, browser, headers, session_id } = getting(form, []);
  const cookies = form.kind === "scrape" ? pairs(form.cookies, "=", "cookies", []) : undefined;
  const isFetched = strategy === "http" || strategy === "browser";
  return definedOnly({ strategy: isFetched ? strategy : "auto", browser, headers, cookies, session_id });
}

/** Values that reset a job's emptied fields. */
const PAGE_BLANKS: Json = {
  strategy: "auto",
  proxy: null,
  session_id: null,
  respect_robots: false,
  timeout_seconds: null,
  document: null,
  browser: null,
  fields: null,
  items: null,
  schema: null,
  max_attempts: null,
};
const { retry_attempts: RETRIES, ...OTHER_DEFAULTS } = CRAWL_STORED;
export const CRAWL_DEFAULTS = { ...OTHER_DEFAULTS, max_attempts: RETRIES + 1 };
const CRAWL_BLANKS: Json = {
  ...CRAWL_DEFAULTS,
  strategy: "auto",
  proxy: null,
  session_id: null,
  document: null,
  browser: null,
  fields: null,
  items: null,
  schema: null,
};

function scheduleOf({ schedule, when }: Form): unknown {
  const cron = text(schedule);
  return cron === undefined || Object.keys(when).length === 0 ? cron : { cron, ...when };
}

/** A proxy URL with its password masked; unchanged in an edited job. */
const isMasked = (proxy: unknown) => typeof proxy === "string" && proxy.includes("***@");

function unmasked(body: Json, changes: boolean): Json {
  const { proxy, ...rest } = body;
  return changes && isMasked(proxy) ? rest : body;
}

/** The rules alone, to test them; emptied ones are null. */
export function rulesOrderOf(form: Form): Order {
  const problems: FieldProblem[] = [];
  const { fields = null, items = null, schema = null } = reading(form, problems);
  return { body: { fields, items, schema }, problems };
}

/**
 * The body of `POST /jobs`; `changes`: of `PATCH`, which includes emptied fields. `read`: a YAML definition as the
 * server parsed it.
 */
export function jobOrderOf(
  form: Form,
  { changes = false, read = null }: { changes?: boolean; read?: Json | null } = {},
): Order {
  const problems: FieldProblem[] = [];
  const blank = (value: unknown) => value ?? (changes ? null : undefined);
  const about = definedOnly({
    kind: form.kind === "scrape" ? "page" : form.kind,
    name: blank(text(form.name)),
    schedule: blank(scheduleOf(form)),
    timezone: blank(text(form.timezone)),
    tags: list(form.tags.replaceAll(",", "\n")) ?? (changes ? [] : undefined),
  });
  if (form.kind === "crawl")
    return {
      body: {
        ...about,
        crawl: unmasked(
          {
            ...(changes ? CRAWL_BLANKS : {}),
            ...crawlPart(form, problems),
            ...(form.onlyChanged ? { only_changed: true } : {}),
          },
          changes,
        ),
      },
      problems,
    };
  if (form.kind === "scrape")
    return {
      body: {
        ...about,
        ...unmasked(
          {
            ...(changes ? PAGE_BLANKS : {}),
            ...definedOnly({ ...pagePart(form, problems), max_attempts: number(form.tries) }),
          },
          changes,
        ),
      },
      problems,
    };
  if (form.source === "template") {
    const source = workflowPart(form);
    return {
      body: { ...about, workflow: changes ? { params: {}, template_version: null, ...source } : source },
      problems,
    };
  }
  const source = sourceOf(form.definition) ?? read;
  if (source === null)
    problems.push({
      path: "definition",
      message: "Enter a valid definition in YAML or JSON; the errors are listed below it.",
    });
  return { body: source === null ? about : { ...about, workflow: source }, problems };
}

/** A JSON definition, alone or with its params; null: neither. */
export function sourceOf(definition: string): Json | null {
  try {
    const typed = JSON.parse(definition) as Json | null;
    if (typeof typed !== "object" || typed === null) return null;
    return "steps" in typed ? { definition: typed } : typed;
  } catch {
    return null;
  }
}
