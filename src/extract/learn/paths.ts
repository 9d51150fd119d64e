/** Selector paths to an element: its anchor and those of some ancestors. */
import type { Element } from "../dom/nodes.ts";
import { type Anchor, anchorCss, anchorsOf, anchorXPath, hasAnchor, withNth } from "./anchors.ts";
import type { LabelledPage } from "./labelled-page.ts";

export interface Step {
  anchor: Anchor;
  /** A child of the previous step. */
  isChild: boolean;
}

export interface Path {
  /** From the outermost to the element itself. */
  steps: readonly Step[];
  cost: number;
}

const MAX_LEVELS = 14;
/** Distant ancestors are less specific. */
const LEVEL_COST = 0.12;
const ANCESTOR_SHARE = 0.5;
const CHILD_COST = 0.5;
const PLAIN_TAG = 3;

/** `root`: the start of the path, an item or the page. */
export function pathsTo(element: Element, root: Element): Path[] {
  const anchors = anchorsOf(element);
  const paths: Path[] = [];
  const add = (steps: Step[], cost: number) => void paths.push({ steps, cost });
  const stepTo = (anchor: Anchor): Step => ({ anchor, isChild: false });
  for (const anchor of anchors) {
    add([stepTo(anchor)], anchor.cost);
    const positioned = withNth(anchor, element);
    add([stepTo(positioned)], positioned.cost);
  }
  const ancestors = ancestorsOf(element, root);
  for (const [level, ancestor] of ancestors.entries()) {
    const distance = level * LEVEL_COST;
    for (const base of anchorsOf(ancestor)) {
      for (const outer of base.attr === null ? [withNth(base, ancestor)] : [base, withNth(base, ancestor)]) {
        const outerCost = outer.cost * ANCESTOR_SHARE + distance;
        for (const anchor of anchors) {
          add([stepTo(outer), stepTo(anchor)], anchor.cost + outerCost);
          const positioned = withNth(anchor, element);
          add([stepTo(outer), stepTo(positioned)], positioned.cost + outerCost);
        }
      }
      if (base.attr !== null) paths.push(childPath(base, ancestor, element));
      if (base.attr !== null && level > 0) paths.push(...throughParent(base, distance, element));
    }
  }
  const top = ancestors.at(-1);
  if (top !== undefined) paths.push(childPath({ ...anchorsOf(top).at(-1)!, cost: 6 }, top, element));
  return paths;
}

/** A chain of child steps from an ancestor. */
function childPath(anchor: Anchor, ancestor: Element, element: Element): Path {
  const steps: Step[] = [];
  let cost = anchor.cost;
  for (let at: Element | null = element; at !== null && at !== ancestor; at = at.parent) {
    const plain = anchorsOf(at).at(-1)!;
    const isOnly = !hasSameTagSibling(at);
    const step = isOnly ? plain : withNth(plain, at);
    cost += CHILD_COST + (step.cost - plain.cost) * 0.6;
    steps.unshift({ anchor: step, isChild: true });
  }
  return { steps: [{ anchor, isChild: false }, ...steps], cost: cost + PLAIN_TAG };
}

/** `#details tr:nth-of-type(3) td:nth-of-type(2)`: the position of the row and that of the cell. */
function throughParent(anchor: Anchor, distance: number, element: Element): Path[] {
  const { parent } = element;
  if (parent === null) return [];
  const row = withNth(anchorsOf(parent).at(-1)!, parent);
  const cell = withNth(anchorsOf(element).at(-1)!, element);
  const steps = [anchor, row, cell].map((step, index) => ({ anchor: step, isChild: index === 2 }));
  return [{ steps, cost: anchor.cost * ANCESTOR_SHARE + distance + row.cost + cell.cost - PLAIN_TAG }];
}

function hasSameTagSibling(element: Element): boolean {
  const { name } = element.tag;
  for (let node = element.parent?.first ?? null; node !== null; node = node.next) {
    if (node !== element && node.kind === 1 && node.tag.name === name) return true;
  }
  return false;
}

function ancestorsOf(element: Element, root: Element): Element[] {
  const list: Element[] = [];
  for (let at = element.parent; at !== null && list.length < MAX_LEVELS; at = at.parent) {
    if (at === root || at.tag.name === "html" || at.parent === null) break;
    list.push(at);
  }
  return list;
}

/** In document order. */
export function* elementsAt(page: LabelledPage, { steps }: Path): Generator<Element> {
  for (const element of page.withAnchor(steps.at(-1)!.anchor)) {
    if (matchesSteps(element, steps, steps.length - 1)) yield element;
  }
}

function matchesSteps(element: Element, steps: readonly Step[], index: number): boolean {
  const { anchor, isChild } = steps[index]!;
  if (!hasAnchor(element, anchor)) return false;
  if (index === 0) return true;
  if (isChild) return element.parent !== null && matchesSteps(element.parent, steps, index - 1);
  for (let at = element.parent; at !== null; at = at.parent) if (matchesSteps(at, steps, index - 1)) return true;
  return false;
}

export function pathCss({ steps }: Path): string {
  return steps.map(({ anchor, isChild }) => (isChild ? "> " : "") + anchorCss(anchor)).join(" ");
}

export function pathXPath({ steps }: Path): string {
  return steps.map(({ anchor, isChild }) => (isChild ? "/" : "//") + anchorXPath(anchor)).join("");
}
