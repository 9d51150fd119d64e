/** Two users changed one job: the other's changes, and merging both. */
import { capital, words } from "../../../logic/format.ts";
import type { Form } from "./new-form.ts";

export interface FormChange {
  key: keyof Form;
  name: string;
  before: string;
  after: string;
  /** Also changed here. */
  isContested: boolean;
}

const NAMES: Partial<Record<keyof Form, string>> = {
  url: "URL",
  pages: "Pages",
  depth: "Depth",
  concurrency: "Concurrent pages",
  minutes: "Time limit in minutes",
  anySite: "Follow links to other sites",
  sitemap: "Also start from the sitemap",
  onlyChanged: "Only new and changed pages",
  ignoreRobots: "Ignore robots.txt",
  respectRobots: "Respect robots.txt",
  timeout: "Time limit in seconds",
  rules: "Fields",
  schema: "JSON Schema of a record",
  waitFor: "Wait for",
  waitMs: "Then wait, in milliseconds",
  mobile: "Emulate a phone",
  asDocument: "Full page content",
  kept: "Other settings",
  when: "Schedule details",
};

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
/** Not editable by users. */
const NOT_SHOWN: ReadonlySet<keyof Form> = new Set(["kind", "runName"]);

/** `base` is the common version. */
export function changesBy(base: Form, theirs: Form, mine: Form): FormChange[] {
  return (Object.keys(base) as (keyof Form)[])
    .filter((key) => !NOT_SHOWN.has(key) && !isSame(base[key], theirs[key]))
    .map((key) => ({
      key,
      name: NAMES[key] ?? capital(words(key)),
      before: shown(base[key]),
      after: shown(theirs[key]),
      isContested: !isSame(base[key], mine[key]) && !isSame(mine[key], theirs[key]),
    }));
}

/** Theirs, with the changes made here. */
export function merged(base: Form, theirs: Form, mine: Form): Form {
  const changedKeys = (Object.keys(mine) as (keyof Form)[]).filter((key) => !isSame(base[key], mine[key]));
  return { ...theirs, ...Object.fromEntries(changedKeys.map((key) => [key, mine[key]])) };
}

const LONGEST = 120;

function shown(value: unknown): string {
  if (value === true) return "Yes";
  if (value === false) return "No";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text === "" || text === "[]" || text === "{}") return "empty";
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
