/** Whether something on a page is one of several of its kind: a teaser, a product in a list, a post. */
import type { Element } from "../dom/nodes.ts";

const MAX_SIBLINGS = 200;

export class Repetition {
  readonly #holders = new Set<Element>();

  constructor(elements: readonly Element[]) {
    for (const element of elements) {
      for (let up: Element | null = element; up !== null && !this.#holders.has(up); up = up.parent)
        this.#holders.add(up);
    }
  }

  /** At least three like elements stand side by side, and each holds one. */
  includes(element: Element): boolean {
    for (let up: Element | null = element.parent; up?.parent; up = up.parent) {
      const shape = shapeOf(up);
      let like = 0;
      let looked = 0;
      for (let node = up.parent.first; node !== null && looked < MAX_SIBLINGS; node = node.next) {
        looked += 1;
        if (node.kind === 1 && node !== up && this.#holders.has(node) && shapeOf(node) === shape) like += 1;
      }
      if (like >= 2) return true;
    }
    return false;
  }
}

function shapeOf(element: Element): string {
  return `${element.tag.name} ${(element.attr("class") ?? "").trim().split(/\s+/)[0] ?? ""}`;
}
