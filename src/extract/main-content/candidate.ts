/**
 * A rule-based first guess at the main content element. Paragraphs score by length and commas, reduced by their link
 * share; from the body downwards, the search follows the child with most of the points, and stops where the points
 * spread: at the column of an article, at the list of a forum's posts.
 */
import type { Element } from "../dom/nodes.ts";
import { isBlock, textOf } from "../dom/text.ts";
import { isHidden } from "../article/visible.ts";
import { layoutNames } from "./marks.ts";
import { OTHERS } from "./survey.ts";
import { isSurrounding } from "./surroundings.ts";

interface Weight {
  chars: number;
  linkChars: number;
  links: number;
  points: number;
}

export interface Candidate {
  root: Element;
  /** False: not part of the content. */
  keep(element: Element): boolean;
}

const DOMINANT = 0.7;
const PARTS = new Set(
  "p pre blockquote li ul ol dl dd dt td th tr tbody thead tfoot table h1 h2 h3 h4 h5 h6 span a b strong em i font figure code".split(
    " ",
  ),
);

export function findCandidate(body: Element): Candidate {
  const strict = weigh(body, true);
  const strictBody = strict.get(body) as Weight;
  // When nearly everything looks like surroundings, that filter is disabled.
  const loose = strictBody.chars >= 140 ? strict : weigh(body, false);
  const skipsSurroundings = strictBody.chars >= (loose.get(body) as Weight).chars * (loose === strict ? 0 : 0.4);
  const weights = skipsSurroundings ? strict : loose;
  const root = descend(body, weights);
  const total = weights.get(root)?.chars ?? 0;
  return {
    root,
    keep(element) {
      if (isHidden(element) || (skipsSurroundings && isSurrounding(element))) return false;
      const weight = weights.get(element);
      return weight === undefined || !skipsSurroundings || !isLinkList(element, weight, total);
    },
  };
}

function weigh(body: Element, skipsSurroundings: boolean): Map<Element, Weight> {
  const weights = new Map<Element, Weight>();
  const visit = (element: Element, inLink: boolean): Weight => {
    const weight: Weight = { chars: 0, linkChars: 0, links: 0, points: 0 };
    // Text directly in this block and in its inline elements.
    let direct = 0;
    let directLinks = 0;
    let commas = 0;
    for (let node = element.first; node !== null; node = node.next) {
      if (node.kind === 3) {
        const length = visibleLength(node.data);
        if (length === 0) continue;
        weight.chars += length;
        direct += length;
        commas += countCommas(node.data);
        if (inLink) weight.linkChars += length;
        continue;
      }
      if (isHidden(node) || (skipsSurroundings && isSurrounding(node))) continue;
      const link = inLink || node.tag.name === "a";
      const below = visit(node, link);
      weight.chars += below.chars;
      weight.linkChars += below.linkChars;
      weight.links += below.links + (node.tag.name === "a" ? 1 : 0);
      weight.points += below.points;
      if (!isBlock(node)) {
        direct += below.chars;
        directLinks += below.linkChars;
      }
    }
    if (direct >= 25 && isBlock(element)) {
      const share = direct === 0 ? 0 : Math.min(1, directLinks / direct);
      weight.points += (1 + Math.min(commas, 10) + Math.min(direct / 100, 5)) * (1 - share);
    }
    weights.set(element, weight);
    return weight;
  };
  visit(body, false);
  return weights;
}

/** Number of characters, with runs of white space as one. */
function visibleLength(text: string): number {
  let count = 0;
  let gap = true;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const space = code === 32 || (code >= 9 && code <= 13) || code === 160;
    if (!space || !gap) count += 1;
    gap = space;
  }
  return gap && count > 0 ? count - 1 : count;
}

/** Non-ASCII commas: `،`, `、`, `。` and `，`. */
const COMMAS: ReadonlySet<number> = new Set([0x060c, 0x3001, 0x3002, 0xff0c]);

function countCommas(text: string): number {
  let count = 0;
  const end = Math.min(text.length, 10_000);
  for (let at = 0; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x2c || (code >= 0x060c && COMMAS.has(code))) count += 1;
  }
  return count;
}

function descend(body: Element, weights: Map<Element, Weight>): Element {
  let current = body;
  for (;;) {
    if (isArticle(current)) return current;
    const next = dominantChild(current, weights);
    if (next === null || (isMain(current) && !leadsToArticle(current, weights))) break;
    if (PARTS.has(next.tag.name)) break;
    current = next;
  }
  return isMain(current) ? current : includeHeadline(current, weights);
}

/** The headline is often next to the text column, not in it: climbs to include it, if that adds little else. */
function includeHeadline(found: Element, weights: Map<Element, Weight>): Element {
  const chars = weights.get(found)?.chars ?? 0;
  if (hasHeadline(found)) return found;
  for (let up = found.parent; up !== null; up = up.parent) {
    if ((weights.get(up)?.chars ?? Number.POSITIVE_INFINITY) > chars * 1.3) return found;
    if (hasHeadline(up)) return up;
  }
  return found;
}

function hasHeadline(element: Element): boolean {
  return element.document.buckets.heading.slice(0, 100).some((heading) => {
    if (heading.tag.name !== "h1") return false;
    let up = heading.parent;
    while (up !== null && up !== element) up = up.parent;
    return up === element;
  });
}

function dominantChild(element: Element, weights: Map<Element, Weight>): Element | null {
  const total = weights.get(element)?.points ?? 0;
  if (total === 0) return null;
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 1 && (weights.get(node)?.points ?? 0) >= total * DOMINANT) return node;
  }
  return null;
}

function leadsToArticle(main: Element, weights: Map<Element, Weight>): boolean {
  for (let next = dominantChild(main, weights); next !== null; next = dominantChild(next, weights)) {
    if (isArticle(next)) return true;
  }
  return false;
}

function isArticle(element: Element): boolean {
  return element.tag.name === "article" || element.attr("itemprop") === "articleBody";
}

function isMain(element: Element): boolean {
  return element.tag.name === "main" || element.attr("role") === "main";
}

/** "More from this site" inside an article: short, and mostly links. */
function isLinkList(element: Element, weight: Weight, total: number): boolean {
  if (!isBlock(element) || weight.links < 3 || isIntroduced(element)) return false;
  return weight.linkChars > weight.chars * 0.8 && weight.chars < total * 0.3;
}

/** An unnamed list after a paragraph belongs to it. */
function isIntroduced(element: Element): boolean {
  if (!/^[uo]l$/.test(element.tag.name) || layoutNames(element) !== "") return false;
  let before = element.prev;
  while (before !== null && before.kind === 3 && before.data.trim() === "") before = before.prev;
  return before !== null && before.kind === 1 && before.tag.name === "p" && !OTHERS.test(textOf(before).slice(0, 80));
}
