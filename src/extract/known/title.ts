/** The title: sources that agree take precedence over a single one. */
import { agrees, isSameName } from "../facts/agreement.ts";
import { typesOf } from "../facts/json-ld.ts";
import type { Entities, PageFacts } from "../facts/page-facts.ts";
import { type KnownField, meta, textOf } from "./source.ts";

export const title: KnownField = {
  name: "title",
  meaning: "the title",
  order:
    "JSON-LD `headline`, `name`; microdata; `og:title`; `twitter:title`; `<title>`; the first `<h1>`. One that agrees with what `og:title`, `<title>` or an `<h1>` says goes before one that agrees with none, and anything before the mere name of the site",
  read: (facts) => {
    const all = candidatesOf(facts);
    const site = facts.addresses.isStartPage ? [] : siteNames(facts);
    const pageTitles = all.filter(({ text }) => !site.some((name) => isSameName(text, name)));
    const [best = null] = pageTitles.length > 0 ? [pageTitles.find(isConfirmed) ?? pageTitles[0]] : all;
    return best?.text ?? null;

    function isConfirmed({ text, from }: Candidate): boolean {
      return all.some((other) => other.from !== from && SHOWN.has(other.from) && agrees(text, other.text));
    }
  },
};

type Origin = "json-ld" | "microdata" | "og" | "twitter" | "tag" | "heading";

interface Candidate {
  text: string;
  from: Origin;
}

/** Sources that people see on the page, in its tab or in link previews. */
const SHOWN: ReadonlySet<Origin> = new Set(["og", "tag", "heading"]);

function candidatesOf(facts: PageFacts): Candidate[] {
  const found: [Origin, (string | null)[]][] = [
    ["json-ld", [fromMain(facts, facts.entities, "headline"), fromMain(facts, facts.entities, "name")]],
    ["microdata", [fromMain(facts, facts.microdata, "headline"), fromMain(facts, facts.microdata, "name")]],
    ["og", [meta("og:title")(facts)]],
    ["twitter", [meta("twitter:title")(facts)]],
    ["tag", [facts.title]],
    ["heading", facts.headlines],
  ];
  return found.flatMap(([from, texts]) => texts.flatMap((text) => (text === null ? [] : [{ text, from }])));
}

function fromMain(facts: PageFacts, { graph, main }: Entities, key: string): string | null {
  const [value, ...others] = main === null ? [] : graph.valuesAt(main, key);
  // Several names belong to parts: breadcrumbs, variants.
  return others.length > 0 && key === "name" ? null : textOf(facts, value);
}

/** From `og:site_name` and the entities of the site and the publisher. */
export function siteNames(facts: PageFacts): string[] {
  const { graph, main } = facts.entities;
  const sites = graph.entities.filter((entity) => typesOf(entity).includes("WebSite"));
  const named = [meta("og:site_name", "application-name")(facts), ...sites.map((site) => textOf(facts, site))];
  const publishers = main === null ? [] : graph.valuesAt(main, "publisher").map((value) => textOf(facts, value));
  return [...named, ...publishers].filter((name) => name !== null);
}
