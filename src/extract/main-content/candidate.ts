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
import { measureLength } from "./text-measure.ts";

/** What is below each element, by `Element.at`: flat lists, because a page has thousands of elements. */
class Weights {
  /** Characters of visible text, those in links, and links; −1: not visited. */
  readonly chars: Int32Array;
  readonly linkChars: Int32Array;
  readonly links: Int32Array;
  readonly points: Float64Array;

  constructor(size: number) {
    this.chars = new Int32Array(size).fill(-1);
    this.linkChars = new Int32Array(size);
    this.links = new Int32Array(size);
    this.points = new Float64Array(size);
  }
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
  const strictChars = strict.chars[body.at]!;
  // When nearly everything looks like surroundings, that filter is disabled.
  const loose = strictChars >= 140 ? strict : weigh(body, false);
  const skipsSurroundings = strictChars >= loose.chars[body.at]! * (loose === strict ? 0 : 0.4);
  const weights = skipsSurroundings ? strict : loose;
  const root = descend(body, weights);
  const total = Math.max(0, weights.chars[root.at]!);
  return {
    root,
    keep(element) {
      if (isHidden(element) || (skipsSurroundings && isSurrounding(element))) return false;
      return !skipsSurroundings || !isLinkList(element, weights, total);
    },
  };
}

function weigh(body: Element, skipsSurroundings: boolean): Weights {
  const weights = new Weights(body.document.elements);
  weighElement(body, false, skipsSurroundings, weights);
  return weights;
}

function weighElement(element: Element, inLink: boolean, skipsSurroundings: boolean, weights: Weights): void {
  let [chars, linkChars, links, points] = [0, 0, 0, 0];
  // Text directly in this block and in its inline elements.
  let [direct, directLinks, commas] = [0, 0, 0];
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 3) {
      const measured = measureLength(node.data);
      const { length } = measured;
      if (length === 0) continue;
      chars += length;
      direct += length;
      commas += measured.commas;
      if (inLink) linkChars += length;
      continue;
    }
    if (isHidden(node) || (skipsSurroundings && isSurrounding(node))) continue;
    const isLink = node.tag.name === "a";
    weighElement(node, inLink || isLink, skipsSurroundings, weights);
    const { at } = node;
    chars += weights.chars[at]!;
    linkChars += weights.linkChars[at]!;
    links += weights.links[at]! + (isLink ? 1 : 0);
    points += weights.points[at]!;
    if (!isBlock(node)) {
      direct += weights.chars[at]!;
      directLinks += weights.linkChars[at]!;
    }
  }
  if (direct >= 25 && isBlock(element)) {
    const share = Math.min(1, directLinks / direct);
    points += (1 + Math.min(commas, MAX_COMMAS) + Math.min(direct / 100, 5)) * (1 - share);
  }
  const { at } = element;
  weights.chars[at] = chars;
  weights.linkChars[at] = linkChars;
  weights.links[at] = links;
  weights.points[at] = points;
}

const MAX_COMMAS = 10;

function descend(body: Element, weights: Weights): Element {
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
function includeHeadline(found: Element, weights: Weights): Element {
  const chars = Math.max(0, weights.chars[found.at]!);
  if (hasHeadline(found)) return found;
  for (let up = found.parent; up !== null; up = up.parent) {
    const around = weights.chars[up.at]!;
    if (around < 0 || around > chars * 1.3) return found;
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

function dominantChild(element: Element, weights: Weights): Element | null {
  const total = weights.points[element.at]!;
  if (total === 0) return null;
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 1 && weights.points[node.at]! >= total * DOMINANT) return node;
  }
  return null;
}

function leadsToArticle(main: Element, weights: Weights): boolean {
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
function isLinkList(element: Element, { chars, linkChars, links }: Weights, total: number): boolean {
  const { at } = element;
  if (!isBlock(element) || links[at]! < 3) return false;
  return linkChars[at]! > chars[at]! * 0.8 && chars[at]! < total * 0.3 && !isIntroduced(element);
}

/** An unnamed list after a paragraph belongs to it. */
function isIntroduced(element: Element): boolean {
  if (!/^[uo]l$/.test(element.tag.name) || layoutNames(element) !== "") return false;
  let before = element.prev;
  while (before !== null && before.kind === 3 && before.data.trim() === "") before = before.prev;
  return before !== null && before.kind === 1 && before.tag.name === "p" && !OTHERS.test(textOf(before).slice(0, 80));
}
