/** Publication and modification dates of a page. */
import { type Element, following } from "../dom/nodes.ts";
import { textOf } from "../dom/text.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { parseDate } from "../values/date.ts";
import { jsonLd, type KnownField, meta, microdata, type Source } from "./source.ts";
import { Repetition } from "./repetition.ts";
import { shortText } from "./short-text.ts";
import { Surroundings } from "./surroundings.ts";

const MAX_TIMES = 500;
/** Elements after the headline that are searched. */
const UNDER_HEADLINE = 80;
const MAX_LINE = 60;
const MARKED =
  /(?:^|[\s_-])(?:date|pub-?date|publish(?:ed)?(?:-?(?:date|on|at))?|posted(?:-?on)?|post-?date|entry-?date|timestamp)(?:[\s_-]|$)/i;
const OTHER_DATE = /updat|modif|event|due|expir|deadline|copyright|birth|picker|calendar/i;

/** Ignores repeated times (posts, comments, teasers): none of them is the page's. */
function timeElement(wanted: (marks: string) => boolean): Source {
  return (facts) => {
    const times = facts.document.buckets.time.slice(0, MAX_TIMES);
    if (times.length === 0) return null;
    const surroundings = Surroundings.of(facts);
    const listed = new Repetition(times);
    const found = times.find((element) => {
      const marks = `${element.attr("itemprop") ?? ""} ${element.attr("class") ?? ""} ${element.attr("pubdate") === undefined ? "" : "published"}`;
      if (!wanted(marks) || surroundings.hold(element) || listed.includes(element)) return false;
      const text = element.attr("datetime") ?? textOf(element);
      return text !== "" && !isUnset(parseDate(text, facts.language));
    });
    return found === undefined ? null : (found.attr("datetime") ?? textOf(found));
  };
}

/** A short text under the headline with a date class; several different dates belong to a list and are ignored. */
const markedDate: Source = (facts) => {
  const surroundings = Surroundings.of(facts);
  const heading = facts.document.buckets.heading.find((element) => element.tag.name === "h1");
  const found = new Set<string>();
  let next = heading === undefined ? null : following(heading, facts.document.root);
  for (let visited = 0; next !== null && visited < UNDER_HEADLINE;) {
    if (next.kind === 1) {
      visited += 1;
      const parsed = isMarked(next) && !surroundings.hold(next) ? dateIn(shortText(next, MAX_LINE), facts) : null;
      if (parsed !== null) found.add(parsed);
    }
    next = (next.kind === 1 ? next.first : null) ?? following(next, facts.document.root);
  }
  return found.size === 1 ? ([...found][0] ?? null) : null;
};

function isMarked(element: Element): boolean {
  const marks = `${element.attr("class") ?? ""} ${element.attr("id") ?? ""}`;
  return MARKED.test(marks) && !OTHER_DATE.test(marks);
}

function dateIn(text: string | null, facts: PageFacts): string | null {
  return text === null || /updat|modif|aktualis/i.test(text) ? null : parseDate(text, facts.language);
}

function date(facts: PageFacts, ...sources: Source[]): string | null {
  for (const source of sources) {
    const found = source(facts);
    const parsed = found === null ? null : parseDate(found, facts.language);
    if (parsed !== null && !isUnset(parsed)) return parsed;
  }
  return null;
}

const MOST_OFFSET_MS = 14 * 3_600_000;
const QUARTER_MS = 900_000;

/** The begin of Unix time in some zone, as programs print it for a date that is not set. */
function isUnset(date: string | null): boolean {
  if (date === null) return false;
  if (date === "1970-01-01" || date === "1969-12-31") return true;
  const moment = Date.parse(date);
  return Math.abs(moment) <= MOST_OFFSET_MS && moment % QUARTER_MS === 0;
}

const META_NAMES = [
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
];

export const publishedAt: KnownField = {
  name: "published_at",
  meaning: "when it was published, as ISO 8601",
  order:
    "JSON-LD `datePublished`; microdata; `article:published_time` and other `<meta>`; `<time>`, neither in comments nor in teasers of other pages; `dateCreated`; a date under the headline whose class names one",
  read: (facts) =>
    date(
      facts,
      jsonLd("datePublished", "uploadDate"),
      microdata("datePublished", "uploadDate"),
      ...META_NAMES.map((name) => meta(name)),
      timeElement((marks) => /publish|posted|entry-date/i.test(marks)),
      jsonLd("dateCreated"),
      microdata("dateCreated"),
      timeElement((marks) => /date-?created/i.test(marks)),
      timeElement((marks) => !/modif|updat/i.test(marks)),
      markedDate,
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
