/** The elements of a page that hold its lines, named so that they are recognised in the next fetch. */
import { MAX_NODES, type RegionTree } from "../../domain/monitor/content.ts";
import type { Element, Node } from "../dom/nodes.ts";
import { textOf } from "../dom/text.ts";

const MAX_DEPTH = 64;
const MAX_LABEL = 60;
const MAX_CLASSES = 3;
const HEADING = /^h[1-6]$/;

/** Part of a name: neither made by a build, nor the state of the element. */
const isSteady = (token: string) =>
  token.length <= 40 &&
  /^[a-z][\w-]*$/i.test(token) &&
  !/\d{3}|__[\w-]{4,}$|^(?:css|sc|jsx|emotion|svelte|ng|data-v)-|^(?:is|has)-|^v\d$/i.test(token) &&
  !/(?=[a-z-]*\d)(?=.*[a-f])[0-9a-f]{5,}/i.test(token) &&
  !/^(?:active|open|opened|closed|hidden|visible|loaded|loading|lazy|lazyloaded|current|selected|variant-\w+)$/i.test(
    token,
  );

export class RegionNames {
  readonly #ids = new Map<Element, number>();
  readonly #nodes: RegionTree["nodes"] = [];
  readonly #depths: number[] = [];
  readonly #lines: number[] = [];

  /** The next line is in this element; null: in none. */
  add(element: Element | null): void {
    this.#lines.push(element === null ? -1 : this.idOf(element));
  }

  idOf(element: Element): number {
    const known = this.#ids.get(element);
    if (known !== undefined) return known;
    const chain: Element[] = [];
    for (let up: Element | null = element; up !== null && !this.#ids.has(up); up = up.parent)
      if (up.tag.name !== "html" && up.tag.name !== "#document" && up.parent !== null) chain.push(up);
    for (const one of chain.toReversed()) {
      if (this.#nodes.length > MAX_NODES) return -1;
      const parent = one.parent === null ? -1 : (this.#ids.get(one.parent) ?? -1);
      const depth = parent < 0 ? 0 : this.#depths[parent]! + 1;
      // Deeper ones are part of the last.
      this.#ids.set(one, depth > MAX_DEPTH ? parent : this.#nodes.length);
      if (depth > MAX_DEPTH) continue;
      this.#nodes.push([parent, nameOf(one), labelOf(one)]);
      this.#depths.push(depth);
    }
    return this.#ids.get(element) ?? -1;
  }

  get tree(): RegionTree {
    return { nodes: this.#nodes, lines: this.#lines };
  }
}

function nameOf(element: Element): string {
  const { name } = element.tag;
  const id = element.attr("id")?.trim() ?? "";
  const classes = (element.attr("class") ?? "").split(/\s+/).filter((token) => token !== "" && isSteady(token));
  const some = classes.slice(0, MAX_CLASSES).map((token) => `.${token}`);
  return `${name}${isSteady(id) ? `#${id}` : ""}${some.join("")}`;
}

function labelOf(element: Element): string {
  const own = element.attr("aria-label");
  if (own !== undefined) return own.trim().slice(0, MAX_LABEL);
  const { name } = element.tag;
  if (HEADING.test(name) || name === "body" || name === "main" || name === "p" || name === "li") return "";
  const heading = firstHeading(element) ?? (/^(?:ul|ol|dl|table|div|nav)$/.test(name) ? headingBefore(element) : null);
  return heading === null ? "" : textOf(heading).slice(0, MAX_LABEL);
}

const nextElement = (node: Node | null, way: "next" | "prev"): Element | null => {
  for (let at = node; at !== null; at = at[way]) if (at.kind === 1) return at;
  return null;
};

/** Its own, not that of its first member. */
function firstHeading(element: Element): Element | null {
  const first = nextElement(element.first, "next");
  if (first === null || HEADING.test(first.tag.name)) return first;
  const second = nextElement(first.next, "next");
  const inside = nextElement(first.first, "next");
  const isMember = second === null || nameOf(second) === nameOf(first);
  return !isMember && inside !== null && HEADING.test(inside.tag.name) ? inside : null;
}

function headingBefore(element: Element): Element | null {
  const before = nextElement(element.prev, "prev");
  return before !== null && HEADING.test(before.tag.name) ? before : null;
}
