/** When a page was published and changed. */
import { textOf } from "../dom/text.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { parseDate } from "../values/date.ts";
import { jsonLd, type KnownField, meta, microdata, type Source } from "./source.ts";
import { Surroundings } from "./surroundings.ts";

function timeElement(wanted: (marks: string) => boolean): Source {
  return (facts) => {
    const surroundings = new Surroundings(facts);
    const found = facts.document.buckets.time.slice(0, 200).find((element) => {
      const marks = `${element.attr("itemprop") ?? ""} ${element.attr("class") ?? ""} ${element.attr("pubdate") === undefined ? "" : "published"}`;
      if (!wanted(marks) || surroundings.hold(element)) return false;
      return element.attr("datetime") !== undefined || textOf(element) !== "";
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
  order:
    "JSON-LD `datePublished`; microdata; `article:published_time` and other `<meta>`; `<time>`, neither in comments nor in teasers of other pages; `dateCreated`",
  read: (facts) =>
    date(
      facts,
      jsonLd("datePublished", "uploadDate"),
      microdata("datePublished", "uploadDate"),
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
      timeElement((marks) => /publish|posted|entry-date/i.test(marks)),
      jsonLd("dateCreated"),
      microdata("dateCreated"),
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
