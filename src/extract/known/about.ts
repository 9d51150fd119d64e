/** Fields about the page: description, site, language, URL, keywords. */
import { textOf } from "../dom/text.ts";
import { isObject } from "../facts/json-ld.ts";
import { languageTag, type PageFacts } from "../facts/page-facts.ts";
import { first, jsonLd, type KnownField, meta, microdata, type Source, textOf as textOfValue } from "./source.ts";

/** Some systems put HTML into the description. */
function withoutTags(source: Source): Source {
  return (facts) =>
    facts.clean(source(facts)?.replace(/<\/?(?:p|br|em|i|b|strong|span|a|div|ul|ol|li|h\d)\b[^<>]*>/gi, " "));
}

export const description: KnownField = {
  name: "description",
  meaning: "a sentence or two about the page",
  order: "JSON-LD `description`; microdata; `og:description`; `twitter:description`; `<meta name=description>`",
  read: (facts) =>
    first(
      facts,
      withoutTags(jsonLd("description")),
      withoutTags(microdata("description")),
      withoutTags(meta("og:description", "twitter:description", "description", "dc.description")),
    ),
};

export const siteName: KnownField = {
  name: "site_name",
  meaning: "the site's name",
  order: "`og:site_name`; JSON-LD `publisher.name`; `<meta name=application-name>`",
  read: (facts) =>
    first(
      facts,
      meta("og:site_name"),
      jsonLd("publisher", "isPartOf"),
      meta("application-name", "apple-mobile-web-app-title"),
    ),
};

export const language: KnownField = {
  name: "language",
  meaning: "the language, as a tag like `en` or `pt-BR`",
  order: "`<html lang>`; `content-language`; `og:locale`; JSON-LD `inLanguage`; the article's words",
  read: (facts) => {
    const named = first(facts, jsonLd("inLanguage.alternateName", "inLanguage"));
    return facts.language ?? languageTag(named) ?? facts.article?.language ?? null;
  },
};

export const canonicalUrl: KnownField = {
  name: "canonical_url",
  meaning: "the page's own address, as it wants to be known",
  order: "`<link rel=canonical>`; `og:url`; JSON-LD `url`",
  read: (facts) => {
    const named = facts.linkTag("canonical") ?? first(facts, meta("og:url"), ownAddress);
    return named === null ? null : facts.resolve(named);
  },
};

function ownAddress(facts: PageFacts): string | null {
  const url = facts.entities.main?.["url"];
  return facts.clean(isObject(url) ? url["@id"] : url);
}

const MAX_KEYWORDS = 200;

export const keywords: KnownField = {
  name: "keywords",
  meaning: "a list of keywords or tags",
  order: "JSON-LD `keywords`; `article:tag`; `<meta name=keywords>`; links with `rel=tag`",
  list: true,
  read: (facts) => {
    const lists = [
      () => keywordsIn(facts),
      () => split(facts.metaAll("article:tag").flatMap((tag) => facts.clean(tag) ?? [])),
      () => split(listed(meta("keywords", "news_keywords", "parsely-tags")(facts))),
      () => taggedLinks(facts),
    ];
    const found = lists.map((list) => list()).find((list) => list.length > 0) ?? [];
    return [...new Set(found)].slice(0, MAX_KEYWORDS);
  },
};

function keywordsIn(facts: PageFacts): string[] {
  for (const { graph, main } of [facts.entities, facts.microdata]) {
    const values = main === null ? [] : graph.valuesAt(main, "keywords");
    const words = split(values.flatMap((value) => textOfValue(facts, value) ?? []));
    if (words.length > 0) return words;
  }
  return [];
}

function listed(text: string | null): string[] {
  return text === null ? [] : [text];
}

/** A single text is split; of several texts, each is a keyword. */
function split(texts: readonly string[]): string[] {
  const [only, ...others] = texts;
  const words = only !== undefined && others.length === 0 ? only.split(/[,;]/) : texts;
  return words.map((word) => word.trim()).filter((word) => word !== "");
}

function taggedLinks(facts: PageFacts): string[] {
  const links = facts.document.buckets.link.filter((link) => /(^|\s)tag(\s|$)/i.test(link.attr("rel") ?? ""));
  return links.slice(0, MAX_KEYWORDS).flatMap((link) => textOf(link) || []);
}
