/** Detects repeated elements: teasers, products in a list, posts. */
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

  /** At least three similar siblings each contain one of the elements. */
  includes(element: Element): boolean {
    for (let up: Element | null = element.parent; up?.parent; up = up.parent) {
      const shape = shapeOf(up);
      let similar = 0;
      let visited = 0;
      for (let node = up.parent.first; node !== null && visited < MAX_SIBLINGS; node = node.next) {
        visited += 1;
        if (node.kind === 1 && node !== up && this.#holders.has(node) && shapeOf(node) === shape) similar += 1;
      }
      if (similar >= 2) return true;
    }
    return false;
  }
}

function shapeOf(element: Element): string {
  return `${element.tag.name} ${(element.attr("class") ?? "").trim().split(/\s+/)[0] ?? ""}`;
}
