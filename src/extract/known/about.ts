/** What a page says about itself: title, description, author, dates, site. */
import { textOf } from "../dom/text.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { parseDate } from "../values/date.ts";
import { first, jsonLd, type KnownField, meta, microdata, type Source } from "./source.ts";

const heading: Source = (facts) => {
  const found = facts.document.buckets.heading.find((element) => element.tag.name === "h1");
  return found === undefined ? null : textOf(found);
};

export const title: KnownField = {
  name: "title",
  meaning: "the title",
  order: "JSON-LD `headline`, `name`; microdata; `og:title`; `twitter:title`; `<title>`; the first `<h1>`",
  read: (facts) =>
    first(
      facts,
      jsonLd("headline", "name"),
      microdata("headline"),
      meta("og:title", "twitter:title"),
      (page) => page.title,
      heading,
    ),
};

export const description: KnownField = {
  name: "description",
  meaning: "a sentence or two about the page",
  order: "JSON-LD `description`; microdata; `og:description`; `twitter:description`; `<meta name=description>`",
  read: (facts) =>
    first(
      facts,
      jsonLd("description"),
      microdata("description"),
      meta("og:description", "twitter:description", "description", "dc.description"),
    ),
};

const byline: Source = (facts) => {
  const link = facts.document.buckets.link.find((element) => /(^|\s)author(\s|$)/i.test(element.attr("rel") ?? ""));
  return link === undefined ? null : textOf(link);
};

export const author: KnownField = {
  name: "author",
  meaning: "who wrote it; several names are joined by commas",
  order: "JSON-LD `author`; microdata; `<meta name=author>`, `article:author`; a link with `rel=author`",
  read: (facts) => {
    const named = first(
      facts,
      jsonLd("author", "creator"),
      microdata("author"),
      meta("author", "article:author", "dc.creator", "parsely-author", "twitter:creator"),
      byline,
    );
    // `article:author` is often the address of a profile, which is no name.
    if (named === null || !/^https?:/.test(named)) return named;
    return first(facts, byline) ?? named;
  },
};

function timeElement(wanted: (marks: string) => boolean): Source {
  return (facts) => {
    const found = facts.document.buckets.time.find((element) => {
      const marks = `${element.attr("itemprop") ?? ""} ${element.attr("class") ?? ""} ${element.attr("pubdate") === undefined ? "" : "published"}`;
      return wanted(marks) && (element.attr("datetime") !== undefined || textOf(element) !== "");
    });
    return found === undefined ? null : (found.attr("datetime") ?? textOf(found));
  };
}

function date(facts: PageFacts, ...sources: Source[]): string | null {
  for (const source of sources) {
    const found = source(facts);
    const parsed = found === null ? null : parseDate(found, facts.language);
    if (parsed !== null) return parsed;
  }
  return null;
}

export const publishedAt: KnownField = {
  name: "published_at",
  meaning: "when it was published, as ISO 8601",
  order: "JSON-LD `datePublished`; microdata; `article:published_time` and other `<meta>`; `<time>`",
  read: (facts) =>
    date(
      facts,
      jsonLd("datePublished", "uploadDate", "dateCreated"),
      microdata("datePublished"),
      meta(
        "article:published_time",
        "og:published_time",
        "datepublished",
        "date",
        "pubdate",
        "publishdate",
        "dc.date",
        "dc.date.issued",
        "parsely-pub-date",
        "sailthru.date",
        "citation_publication_date",
      ),
      timeElement((marks) => /publish|posted|entry-date|date-?created/i.test(marks)),
      timeElement((marks) => !/modif|updat/i.test(marks)),
    ),
};

export const modifiedAt: KnownField = {
  name: "modified_at",
  meaning: "when it was last changed, as ISO 8601",
  order: "JSON-LD `dateModified`; microdata; `article:modified_time`, `og:updated_time` and other `<meta>`; `<time>`",
  read: (facts) =>
    date(
      facts,
      jsonLd("dateModified"),
      microdata("dateModified"),
      meta("article:modified_time", "og:updated_time", "datemodified", "last-modified", "dc.date.modified", "revised"),
      timeElement((marks) => /modif|updat/i.test(marks)),
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
      jsonLd("publisher.name", "isPartOf.name"),
      meta("application-name", "apple-mobile-web-app-title"),
    ),
};

export const language: KnownField = {
  name: "language",
  meaning: "the language, as a tag like `en` or `pt-BR`",
  order: "`<html lang>`; `content-language`; `og:locale`; JSON-LD `inLanguage`; the article's words",
  read: (facts) => facts.language ?? first(facts, jsonLd("inLanguage")) ?? facts.article?.language ?? null,
};

export const canonicalUrl: KnownField = {
  name: "canonical_url",
  meaning: "the page's own address, as it wants to be known",
  order: "`<link rel=canonical>`; `og:url`; JSON-LD `url`",
  read: (facts) => {
    const named = facts.linkTag("canonical") ?? first(facts, meta("og:url"), jsonLd("url"));
    return named === null ? null : facts.resolve(named);
  },
};

export const keywords: KnownField = {
  name: "keywords",
  meaning: "a list of keywords or tags",
  order: "JSON-LD `keywords`; `article:tag`; `<meta name=keywords>`; links with `rel=tag`",
  read: (facts) => {
    const named = first(facts, jsonLd("keywords"), meta("keywords", "news_keywords", "article:tag", "parsely-tags"));
    const list = named === null ? [] : named.split(/[,;]/);
    if (list.length === 0) {
      for (const link of facts.document.buckets.link) {
        if (/(^|\s)tag(\s|$)/i.test(link.attr("rel") ?? "")) list.push(textOf(link));
      }
    }
    const words = [...new Set(list.map((word) => word.trim()).filter((word) => word !== ""))];
    return words.slice(0, 200);
  },
};
