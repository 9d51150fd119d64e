/** The author of a page. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { isSameName } from "../facts/agreement.ts";
import { isObject, type JsonObject, typesOf } from "../facts/json-ld.ts";
import { pageEntity } from "../facts/main-entity.ts";
import type { Entities, PageFacts } from "../facts/page-facts.ts";
import { visibleAuthors } from "./byline.ts";
import { isAddress, type NameContext, personNames } from "./person-names.ts";
import { type KnownField, textOf } from "./source.ts";
import { siteNames } from "./title.ts";

interface Authors {
  people: string[];
  organisations: string[];
}

export const author: KnownField = {
  name: "author",
  meaning: "who wrote it; several names are joined by commas",
  order:
    "JSON-LD `author`; microdata; `<meta name=author>`, `article:author` and others; the byline in or near the article (`itemprop=author`, `rel=author`, a class that names an author); else the organisation that these name. Addresses and `@handles` are no names",
  read: (facts) => {
    const context = { language: facts.language, sites: siteNames(facts), isByline: false };
    const organisations: string[] = [];
    for (const read of SOURCES) {
      const found = read(facts, context);
      if (found.people.length > 0) return [...new Set(found.people)].join(", ");
      organisations.push(...found.organisations);
    }
    return organisations[0] ?? null;
  },
};

const NO_AUTHORS: Authors = { people: [], organisations: [] };

type AuthorSource = (facts: PageFacts, context: NameContext) => Authors;

const META = ["author", "article:author", "parsely-author", "sailthru.author", "byl", "dc.creator", "citation_author"];

const SOURCES: readonly AuthorSource[] = [
  (facts, context) => fromEntities(facts, facts.entities, context),
  (facts, context) => fromEntities(facts, facts.microdata, context),
  (facts, context) => {
    for (const name of META) {
      const found = facts.metaAll(name).map((content) => classify(content, null, facts, context));
      const people = found.flatMap((authors) => authors.people);
      const organisations = found.flatMap((authors) => authors.organisations);
      if (people.length + organisations.length > 0) return { people, organisations };
    }
    return NO_AUTHORS;
  },
  (facts, context) => {
    const label = [1, 2].find((number) =>
      /\b(?:by|von|par|por|da|door|av|af|author|autor)\b/i.test(facts.meta(`twitter:label${number}`) ?? ""),
    );
    const name = label === undefined ? null : facts.meta(`twitter:data${label}`);
    return name === null ? NO_AUTHORS : classify(name, null, facts, context);
  },
  (facts, context) => ({ people: visibleAuthors(facts, { ...context, isByline: true }), organisations: [] }),
];

function fromEntities(facts: PageFacts, { graph, main }: Entities, context: NameContext): Authors {
  const page = pageEntity(graph);
  for (const entity of main === page ? [main] : [main, page]) {
    if (entity === null) continue;
    for (const key of ["author", "creator"]) {
      const found = graph.valuesAt(entity, key).map((value) => classify(value, graph.byId.bind(graph), facts, context));
      const people = found.flatMap((authors) => authors.people);
      const organisations = found.flatMap((authors) => authors.organisations);
      if (people.length + organisations.length > 0) return { people, organisations };
    }
  }
  return NO_AUTHORS;
}

/** Whether a value names people or an organisation. */
function classify(
  value: JsonValue,
  byId: ((id: string) => JsonObject | undefined) | null,
  facts: PageFacts,
  context: NameContext,
): Authors {
  const entity = typeof value === "string" ? (byId?.(value) ?? value) : value;
  const name = (textOf(facts, entity) ?? fullName(facts, entity) ?? "").trim();
  if (name === "" || isAddress(name)) return NO_AUTHORS;
  if (isOrganisation(entity) || context.sites.some((site) => isSameName(site, name)))
    return { people: [], organisations: [name] };
  return { people: personNames(name, context), organisations: [] };
}

function fullName(facts: PageFacts, value: JsonValue): string | null {
  if (!isObject(value)) return null;
  const parts = [value["givenName"], value["familyName"]].flatMap((part) => textOf(facts, part) ?? []);
  return parts.length === 0 ? null : parts.join(" ");
}

function isOrganisation(value: JsonValue): boolean {
  return (
    isObject(value) && typesOf(value).some((type) => /Organization$|^(?:Corporation|Brand|\w*Business)$/.test(type))
  );
}
