/** Metadata of a page. */
import type { PageFacts } from "../facts/page-facts.ts";

/** By the page's own names, plus normalized common ones. */
export type Metadata = Record<string, string | string[] | null>;

const MAX_NAMES = 200;
const MAX_VALUES = 50;
const MAX_NAME = 200;
const MAX_VALUE = 5000;

export function readMetadata(facts: PageFacts): Metadata {
  const found = new Map<string, string[]>();
  for (const element of facts.document.buckets.meta) {
    const name = (element.attr("property") ?? element.attr("name") ?? element.attr("itemprop"))?.trim().toLowerCase();
    const content = element.attr("content")?.trim();
    if (name === undefined || name === "" || name === "__proto__" || name.length > MAX_NAME) continue;
    if (content === undefined || content === "") continue;
    const values = found.get(name);
    if (values === undefined && found.size < MAX_NAMES) found.set(name, [content.slice(0, MAX_VALUE)]);
    else if (values !== undefined && values.length < MAX_VALUES && !values.includes(content))
      values.push(content.slice(0, MAX_VALUE));
  }
  const others = [...found].map(([name, values]) => [name, values.length === 1 ? values[0]! : values] as const);
  const metaValue = (...names: string[]) => facts.meta(...names)?.slice(0, MAX_VALUE) ?? null;
  return {
    ...Object.fromEntries(others),
    ...faviconOf(facts),
    title: facts.title?.slice(0, MAX_VALUE) ?? metaValue("og:title", "twitter:title"),
    description: metaValue("description", "og:description", "twitter:description"),
    language: facts.language,
    keywords: metaValue("keywords"),
    robots: metaValue("robots"),
  };
}

function faviconOf(facts: PageFacts): { favicon?: string } {
  const favicon = facts.linkTag("icon");
  return favicon === null ? {} : { favicon };
}
