/** Maps server errors to form fields. */
import { capital } from "../../../logic/format.ts";
import { EMPTY, type Form } from "./new-form.ts";
import type { FieldProblem } from "./new-values.ts";
import { isOtherSetting, OTHER_SETTINGS } from "./crawl-settings.ts";

/** A field of the form, or a crawl setting without a dedicated one. */
export type FieldKey = keyof Form | `kept.${string}`;

const FIELD_OF: Readonly<Record<string, keyof Form>> = {
  url: "url",
  target_url: "url",
  max_depth: "depth",
  max_pages: "pages",
  max_concurrent_articles: "concurrency",
  timeout_minutes: "minutes",
  include: "include",
  exclude: "exclude",
  follow: "follow",
  read: "read",
  strategy: "strategy",
  proxy: "proxy",
  session_id: "session",
  respect_robots: "respectRobots",
  retry_attempts: "tries",
  max_attempts: "tries",
  timeout_seconds: "timeout",
  document: "formats",
  browser: "actions",
  headers: "headers",
  cookies: "cookies",
  fields: "rules",
  items: "items",
  schema: "schema",
  template: "template",
  template_version: "templateVersion",
  definition: "definition",
  schedule: "schedule",
  timezone: "timezone",
  tags: "tags",
  name: "name",
};

/** Errors of composite fields are shown at their parts. */
const PART_OF: Readonly<Record<string, Readonly<Record<string, keyof Form>>>> = {
  document: { formats: "formats", include_tags: "includeTags", exclude_tags: "excludeTags" },
  browser: { actions: "actions", wait_for: "waitFor", wait_ms: "waitMs" },
};

/** Errors by form field; the others are shown above the form. */
export function problemsByField(problems: readonly FieldProblem[]): {
  fields: Partial<Record<FieldKey, string>>;
  /** Of a template's params, by path. */
  params: FieldProblem[];
  others: FieldProblem[];
} {
  const fields: Partial<Record<FieldKey, string>> = {};
  const params: FieldProblem[] = [];
  const others: FieldProblem[] = [];
  for (const problem of problems) {
    const path = problem.path.replace(/^(?:body|crawl|workflow)\./, "");
    const [, head = "", part = ""] = /^([a-z_]+)(?:\.([a-z_]+))?/.exec(path) ?? [];
    const ofPart = PART_OF[head]?.[part];
    const field: FieldKey | undefined = ofPart ?? FIELD_OF[head] ?? (isOtherSetting(head) ? `kept.${head}` : undefined);
    if (head === "params") params.push({ path: path.slice(head.length).replace(/^\./, ""), message: problem.message });
    else if (field === undefined) others.push(problem);
    else {
      const inner = path.slice(ofPart === undefined ? head.length : head.length + 1 + part.length).replace(/^\./, "");
      const said = inner === "" ? sentence(problem.message) : `${inner}: ${problem.message}`;
      fields[field] = fields[field] === undefined ? said : `${fields[field]} ${said}`;
    }
  }
  return { fields, params, others };
}

/** API messages continue the field's name; here they are sentences below it. */
function sentence(message: string): string {
  const upper = capital(message);
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}

/** Fields under "More options": expanded if one has an error. */
export const MORE: readonly (keyof Form)[] = [
  "concurrency",
  "minutes",
  "include",
  "exclude",
  "follow",
  "read",
  "strategy",
  "proxy",
  "session",
  "respectRobots",
  "tries",
  "timeout",
  "headers",
  "cookies",
  "waitFor",
  "waitMs",
  "actions",
];

const OF_PAGES: readonly (keyof Form)[] = ["timeout", "cookies", "respectRobots"];
const OF_CRAWLS: readonly (keyof Form)[] = [
  ...([
    "concurrency",
    "minutes",
    "include",
    "exclude",
    "follow",
    "read",
    "anySite",
    "sitemap",
    "onlyChanged",
    "ignoreRobots",
  ] as const),
];

/** How many of them are set. */
export function moreSet(form: Form): number {
  const others = form.kind === "crawl" ? OF_PAGES : OF_CRAWLS;
  const keys = [...MORE, "anySite", "sitemap", "onlyChanged", "ignoreRobots", "mobile", "blockResources"] as const;
  const own = keys.filter((key) => !others.includes(key) && form[key] !== EMPTY[key] && !isEmpty(form[key]));
  const generic = form.kind === "crawl" ? OTHER_SETTINGS.filter(({ name }) => form.kept[name] !== undefined) : [];
  return own.length + generic.length;
}

const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
