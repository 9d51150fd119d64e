/** What a page says about itself. */
import type { PageFacts } from "../facts/page-facts.ts";

/** By the names that the page uses, beside the ones that everybody asks for. */
export type Metadata = Record<string, string | string[] | null>;

const MOST_NAMES = 200;
const MOST_VALUES = 50;
const LONGEST_NAME = 200;
const LONGEST_VALUE = 5000;

export function readMetadata(facts: PageFacts): Metadata {
  const found = new Map<string, string[]>();
  for (const element of facts.document.buckets.meta) {
    const name = (element.attr("property") ?? element.attr("name") ?? element.attr("itemprop"))?.trim().toLowerCase();
    const content = element.attr("content")?.trim();
    if (name === undefined || name === "" || name === "__proto__" || name.length > LONGEST_NAME) continue;
    if (content === undefined || content === "") continue;
    const values = found.get(name);
    if (values === undefined && found.size < MOST_NAMES) found.set(name, [content.slice(0, LONGEST_VALUE)]);
    else if (values !== undefined && values.length < MOST_VALUES && !values.includes(content))
      values.push(content.slice(0, LONGEST_VALUE));
  }
  const others = [...found].map(([name, values]) => [name, values.length === 1 ? values[0]! : values] as const);
  const said = (...names: string[]) => facts.meta(...names)?.slice(0, LONGEST_VALUE) ?? null;
  return {
    ...Object.fromEntries(others),
    ...faviconOf(facts),
    title: facts.title?.slice(0, LONGEST_VALUE) ?? said("og:title", "twitter:title"),
    description: said("description", "og:description", "twitter:description"),
    language: facts.language,
    keywords: said("keywords"),
    robots: said("robots"),
  };
}

function faviconOf(facts: PageFacts): { favicon?: string } {
  const favicon = facts.linkTag("icon");
  return favicon === null ? {} : { favicon };
}
