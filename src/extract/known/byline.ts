/** The visible byline of an article: in or near it, not in comments or teasers. */
import { type Element, elementsBelow } from "../dom/nodes.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { type NameContext, personNames } from "./person-names.ts";
import { Repetition } from "./repetition.ts";
import { shortText } from "./short-text.ts";
import { Surroundings } from "./surroundings.ts";

const BYLINE =
  /by-?line|author(?!i[sz]|it|e)|(?:^|[\s_-])(?:writer|writtenby|written-by|posted-by|post-by)(?:[\s_-]|$)/i;
/** Parts of an author box other than the name. */
const NOT_THE_NAME =
  /avatar|bio|image|img|photo|picture|portrait|social|follow|about|desc|icon|email|twitter|count|role|job|position|title|heading|label|archive|more|share|-link-list|category|date|time/i;
const MAX_ELEMENTS = 50_000;
const MAX_LINE = 150;

/** Author markup, most reliable first. */
const MARKS: readonly ((element: Element) => boolean)[] = [
  (element) => hasWord(element.attr("itemprop"), "author"),
  (element) => hasWord(element.attr("rel"), "author"),
  (element) => {
    const names = `${element.attr("class") ?? ""} ${element.attr("id") ?? ""}`;
    return BYLINE.test(names) && !NOT_THE_NAME.test(names);
  },
];
/** `By Ann Lee` under the headline, in an element without markup. */
const WRITTEN_BY =
  /^(?:(?:Article|Written|Posted|Published|Started|Words|Story|Text) )?[Bb][Yy]:? (?=\p{Lu}|\d\p{L}|$)/u;
const MAX_WRITTEN_BY = 80;
/** Elements after the headline that are searched. */
const UNDER_HEADLINE = 60;

export function visibleAuthors(facts: PageFacts, context: NameContext): string[] {
  const surroundings = Surroundings.of(facts);
  const found: Element[][] = [...MARKS, WRITTEN_BY].map(() => []);
  let visited = 0;
  let headline = Number.NEGATIVE_INFINITY;
  for (const element of elementsBelow(facts.document.root)) {
    visited += 1;
    if (visited > MAX_ELEMENTS) break;
    if (element.tag.name === "h1") headline = visited;
    const isMarked = element.attrTo - element.attrFrom >= 8;
    let mark = isMarked ? MARKS.findIndex((fits) => fits(element)) : -1;
    if (mark < 0 && visited - headline < UNDER_HEADLINE && isWrittenBy(element)) mark = MARKS.length;
    const list = found[mark];
    if (list !== undefined && list.length < 50 && !surroundings.hold(element)) list.push(element);
  }
  for (const list of found) {
    const listed = new Repetition(list);
    for (const element of list) {
      const names = listed.includes(element) ? [] : namesIn(element, context);
      if (names.length > 0) return withNeighbours(element, list, names, context);
    }
  }
  return [];
}

function isWrittenBy(element: Element): boolean {
  if (element.first?.kind !== 3 || !WRITTEN_BY.test(element.first.data.trimStart())) return false;
  const text = shortText(element, MAX_WRITTEN_BY);
  return text !== null && !/[.:]$/.test(text);
}

/** Several authors may have adjacent elements. */
function withNeighbours(element: Element, list: readonly Element[], names: string[], context: NameContext): string[] {
  const neighbours = list.filter((other) => other !== element && isNear(other, element));
  return [...new Set([...names, ...neighbours.flatMap((other) => namesIn(other, context))])];
}

function isNear(element: Element, other: Element): boolean {
  const [parent, otherParent] = [element.parent, other.parent];
  if (parent === null || otherParent === null || parent === other) return false;
  if (parent === otherParent) return true;
  return parent.parent !== null && parent.parent === otherParent.parent && shortText(parent.parent, MAX_LINE) !== null;
}

const TO_A_PERSON = /author|people|profile|staff|writer|member|user/i;

/** Names with markup, else links to people, else the element's text. */
function namesIn(element: Element, context: NameContext): string[] {
  const text = lineOf(element);
  if (text === null) return [];
  const parts = [...inner(element)];
  const named = parts.filter((part) => hasWord(part.attr("itemprop"), "name") || hasWord(part.attr("rel"), "author"));
  const links = parts.filter((part) => part.tag.name === "a" && TO_A_PERSON.test(part.attr("href") ?? ""));
  for (const list of [named, links]) {
    const names = list.flatMap((part) => personNames(lineOf(part) ?? "", context));
    if (names.length > 0) return [...new Set(names)];
  }
  return personNames(text, context);
}

function lineOf(element: Element): string | null {
  return element.tag.name === "meta" ? (element.attr("content") ?? null) : shortText(element, MAX_LINE);
}

function* inner(element: Element): Generator<Element> {
  let count = 0;
  for (const part of elementsBelow(element)) {
    count += 1;
    if (count > 100) return;
    yield part;
  }
}

function hasWord(list: string | undefined, word: string): boolean {
  return list !== undefined && list.toLowerCase().split(/\s+/).includes(word);
}
