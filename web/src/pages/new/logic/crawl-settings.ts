/** Crawl settings without a dedicated field: shown, sent and kept by their declaration. */
import { CRAWL_DEFAULTS, crawlSettings } from "../../../../../src/domain/crawl/crawl-settings.ts";
import { type Json, number } from "./new-values.ts";

/** These have their own fields. */
const LAID_OUT: ReadonlySet<string> = new Set([
  ...["max_depth", "max_pages", "timeout_minutes", "max_concurrent_articles", "retry_attempts", "max_attempts"],
  ...["include", "exclude", "follow", "read", "same_site", "use_sitemap", "only_changed", "article", "respect_robots"],
]);

export interface OtherSetting {
  name: string;
  label: string;
  help: string | undefined;
  widget: "choice" | "number" | "text" | "switch";
  choices: readonly { value: string; name: string }[];
  usual: unknown;
}

type Schema = { type?: string; enum?: readonly string[]; description?: string };

export const OTHER_SETTINGS: readonly OtherSetting[] = crawlSettings
  .filter(([name]) => !LAID_OUT.has(name))
  .map(([name, { schema, label, form, default: usual }]) => {
    const { type, enum: values = [], description } = schema as Schema;
    const widget = values.length > 0 ? "choice" : type === "boolean" ? "switch" : type === "string" ? "text" : "number";
    const choices = values.map((value) => ({ value, name: form?.choices?.[value] ?? value }));
    return { name, label, help: form?.help ?? sentence(description), widget, choices, usual };
  });

export function isOtherSetting(name: string): boolean {
  return OTHER_SETTINGS.some((setting) => setting.name === name);
}

function sentence(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const usuals: Json = { ...CRAWL_DEFAULTS };

/** Settings of a crawl that differ from the default. */
export function otherSettingsIn(crawl: Json): Json {
  const set = OTHER_SETTINGS.filter(({ name }) => (crawl[name] ?? usuals[name]) !== usuals[name]);
  return Object.fromEntries(set.map(({ name }) => [name, crawl[name]]));
}

/** As sent: numbers are texts while they are typed. */
export function otherSettingsOf(kept: Json): Json {
  const numbers = OTHER_SETTINGS.filter(({ name, widget }) => widget === "number" && typeof kept[name] === "string");
  return { ...kept, ...Object.fromEntries(numbers.map(({ name }) => [name, number(String(kept[name]))])) };
}

/** For a single page: the user may have set them before switching the kind of run. */
export function withoutOtherSettings(kept: Json): Json {
  return Object.fromEntries(Object.entries(kept).filter(([key]) => !OTHER_SETTINGS.some(({ name }) => name === key)));
}

/** The kept settings after a change. */
export function withSetting(kept: Json, { name, usual }: OtherSetting, value: unknown): Json {
  const { [name]: _, ...others } = kept;
  return value === usual || value === "" ? others : { ...others, [name]: value };
}
