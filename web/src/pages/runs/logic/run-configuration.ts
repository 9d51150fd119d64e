/** The request of a run for display: short values by name, structured ones as text. */
import { crawlSettings } from "../../../../../src/domain/crawl/crawl-settings.ts";
import { sentence, words } from "../../../logic/format.ts";
import { isPlain } from "../../../logic/nested.ts";

export interface Named {
  /** For people. */
  name: string;
  /** Its key in requests and files. */
  key: string;
  value: string;
}

const isShort = (value: unknown) =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/** As in the form for new runs. */
const NAMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(crawlSettings.map(([name, { label }]) => [name, label])),
  target_url: "URL",
  url: "URL",
  timeout_seconds: "Time limit in seconds",
  strategy: "Fetch with",
  escalate: "Browser when needed",
  requires_auth: "Requires login",
  session_id: "Session",
  export_format: "Export format",
  items: "Items",
  fields: "Fields",
  schema: "JSON Schema of a record",
  document: "Full page content",
  browser: "Browser actions",
  replay: "Replayed API calls",
};

const VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...Object.fromEntries(crawlSettings.flatMap(([name, { form }]) => (form?.choices ? [[name, form.choices]] : []))),
  strategy: { auto: "Automatic", http: "Plain requests", browser: "Browser" },
  kind: { page: "Page", crawl: "Crawl", workflow: "Workflow" },
};

/** Crawl settings are listed with those of the job; unset ones are omitted. */
export function configurationOf(recipe: object): { plain: Named[]; rules: Named[] } {
  const { crawl, ...rest } = recipe as Record<string, unknown>;
  const plain: Named[] = [];
  const rules: Named[] = [];
  const all = { ...rest, ...(isPlain(crawl) ? crawl : {}) };
  for (const [key, value] of Object.entries(all)) {
    if (value === null || value === undefined) continue;
    if (Array.isArray(value) && value.length === 0) continue;
    const said = (text: string): Named => ({ name: NAMES[key] ?? sentence(key), key, value: text });
    if (typeof value === "boolean") plain.push(said(value ? "Yes" : "No"));
    else if (isShort(value)) plain.push(said(VALUES[key]?.[String(value)] ?? String(value)));
    else if (Array.isArray(value) && value.every(isShort)) plain.push(said(value.map(String).join(", ")));
    else rules.push(said(JSON.stringify(value, null, 2)));
  }
  // The URL of a crawl is in both its job and its options.
  return { plain: plain.filter(({ key }) => key !== "target_url" || !("url" in all)), rules };
}

/** Whether the key differs from the name. */
export function hasOwnKey({ name, key }: Named): boolean {
  return words(key).toLowerCase() !== name.toLowerCase();
}
