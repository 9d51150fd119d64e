/** What the server says is wrong, put where people can mend it. */
import { capital } from "./format.ts";
import { EMPTY, type FieldProblem, type Form } from "./new-form.ts";

const FIELD_OF: Readonly<Record<string, keyof Form>> = {
  url: "url",
  target_url: "url",
  max_depth: "depth",
  max_pages: "pages",
  max_concurrent_articles: "concurrency",
  timeout_minutes: "minutes",
  include: "include",
  exclude: "exclude",
  strategy: "strategy",
  proxy: "proxy",
  respect_robots: "respectRobots",
  retry_attempts: "tries",
  max_attempts: "tries",
  timeout_seconds: "timeout",
  browser: "waitFor",
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

/** What is wrong, by the field of the form that it belongs to; what belongs to none is told above the form. */
export function problemsByField(problems: readonly FieldProblem[]): {
  fields: Partial<Record<keyof Form, string>>;
  /** Of the params of a template, by their path in them. */
  params: FieldProblem[];
  others: FieldProblem[];
} {
  const fields: Partial<Record<keyof Form, string>> = {};
  const params: FieldProblem[] = [];
  const others: FieldProblem[] = [];
  for (const problem of problems) {
    const path = problem.path.replace(/^(?:body|crawl|workflow)\./, "");
    const [, head = ""] = /^([a-z_]+)/.exec(path) ?? [];
    const field = FIELD_OF[head];
    if (head === "params") params.push({ path: path.slice(head.length).replace(/^\./, ""), message: problem.message });
    else if (field === undefined) others.push(problem);
    else {
      const inner = path.slice(head.length).replace(/^\./, "");
      const said = inner === "" ? sentence(problem.message) : `${inner}: ${problem.message}`;
      fields[field] = fields[field] === undefined ? said : `${fields[field]} ${said}`;
    }
  }
  return { fields, params, others };
}

/** Messages of the API go on from the name of the field; here they stand below it. */
function sentence(message: string): string {
  const upper = capital(message);
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}

/** Fields that stand under "More options": one with a mistake must be seen. */
export const MORE: readonly (keyof Form)[] = [
  "concurrency",
  "minutes",
  "include",
  "exclude",
  "strategy",
  "proxy",
  "respectRobots",
  "tries",
  "timeout",
  "waitFor",
  "headers",
  "cookies",
];

/** How many of them were set. */
export function moreSet(form: Form): number {
  const keys = [...MORE, "anySite", "sitemap", "ignoreRobots"] as const;
  const ofKind = keys.filter((key) => {
    if (["timeout", "waitFor", "headers", "cookies", "respectRobots"].includes(key)) return form.kind === "scrape";
    return form.kind === "crawl" || ["strategy", "proxy", "tries"].includes(key);
  });
  return ofKind.filter((key) => form[key] !== EMPTY[key]).length;
}
