/** Selects the part of a page for a document. */
import { isHidden } from "../article/visible.ts";
import { type Element, elementsBelow } from "../dom/nodes.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { budget } from "../select/budget.ts";
import type { CssQuery } from "../select/css.ts";
import type { DocumentPlan } from "./spec.ts";

export interface Content {
  /** In document order, not nested. */
  roots: readonly Element[];
  /** For elements inside the roots. */
  keepsInHtml(element: Element): boolean;
  keepsInText(element: Element): boolean;
  /** Whether the selectors include the element, main content or not. */
  has(element: Element): boolean;
}

const MAX_MATCHES = 10_000;

/** `include` selectors take precedence over main content detection. */
export function chooseContent(facts: PageFacts, plan: DocumentPlan): Content {
  const top = facts.document.root;
  budget.reset();
  const excluded = matchesOf(plan.exclude, top);
  const included = plan.include.length === 0 ? null : matchesOf(plan.include, top);
  const isNotExcluded = (element: Element) => !excluded.has(element);
  const has = (element: Element) => isSelected(element, included, excluded);
  if (included !== null) {
    const roots = topmost(included, top).filter(has);
    return {
      roots,
      has,
      keepsInHtml: isNotExcluded,
      keepsInText: (element) => isNotExcluded(element) && !isHidden(element),
    };
  }
  const main = plan.onlyMainContent ? facts.mainContent : null;
  if (main !== null && has(main.root)) {
    const keeps = (element: Element) => isNotExcluded(element) && main.keep(element);
    return { roots: [main.root], has, keepsInHtml: keeps, keepsInText: keeps };
  }
  const body = bodyOf(top);
  return {
    roots: has(body) ? [body] : [],
    has,
    keepsInHtml: isNotExcluded,
    keepsInText: (element) => isNotExcluded(element) && !isHidden(element),
  };
}

function matchesOf(queries: readonly CssQuery[], top: Element): Set<Element> {
  const found = new Set<Element>();
  for (const query of queries) for (const element of query.select(top, MAX_MATCHES)) found.add(element);
  return found;
}

function bodyOf(top: Element): Element {
  for (let node = top.first; node !== null; node = node.next) {
    if (node.kind !== 1 || node.tag.name !== "html") continue;
    for (let child = node.first; child !== null; child = child.next)
      if (child.kind === 1 && child.tag.name === "body") return child;
  }
  return top;
}

function isBelow(element: Element, set: ReadonlySet<Element>): boolean {
  for (let up = element.parent; up !== null; up = up.parent) if (set.has(up)) return true;
  return false;
}

function isSelected(element: Element, included: ReadonlySet<Element> | null, excluded: ReadonlySet<Element>): boolean {
  let inside = included === null;
  for (let up: Element | null = element; up !== null; up = up.parent) {
    if (excluded.has(up)) return false;
    inside ||= included?.has(up) === true;
  }
  return inside;
}

/** In document order. */
function topmost(set: ReadonlySet<Element>, top: Element): Element[] {
  const found: Element[] = [];
  for (const element of elementsBelow(top)) if (set.has(element) && !isBelow(element, set)) found.push(element);
  return found;
}
