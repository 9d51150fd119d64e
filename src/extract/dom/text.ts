/** The readable text of an element. */
import { type Element, MAX_TEXT, type Node } from "./nodes.ts";
import { BLOCK } from "./tags.ts";

const SILENT = new Set(["script", "style", "template", "noscript"]);

export function isBlock(element: Element): boolean {
  return (element.tag.flags & BLOCK) !== 0;
}

/** Skips single spaces: most text has nothing else, and is then not copied. */
const UNEVEN = /[^\S ]\s*| \s+/g;

/** Collapses runs of white space, including no-break spaces, to one space. */
export function oneSpaced(text: string): string {
  return text.replace(UNEVEN, " ");
}

/** Collapses and trims white space. */
export function squeeze(text: string): string {
  return oneSpaced(text).trim();
}

/** The visible text on one line, with spaces between blocks even without white space in the source. */
export function textOf(element: Element): string {
  const only = element.first;
  if (only !== null && only.kind === 3 && only.next === null) return squeeze(only.data);
  const parts: string[] = [];
  collect(element, parts, { left: MAX_TEXT });
  return squeeze(parts.join(""));
}

/** The verbatim text content, for scripts and data. */
export function rawText(element: Element): string {
  const only = element.first;
  if (only !== null && only.kind === 3 && only.next === null) return only.data;
  const parts: string[] = [];
  collectRaw(element, parts, { left: MAX_TEXT });
  return parts.join("");
}

function collectRaw(element: Element, parts: string[], budget: { left: number }): void {
  for (let node = element.first; node !== null && budget.left > 0; node = node.next) {
    if (node.kind === 3) {
      parts.push(node.data);
      budget.left -= node.data.length;
    } else collectRaw(node, parts, budget);
  }
}

function collect(element: Element, parts: string[], budget: { left: number }): void {
  for (let node: Node | null = element.first; node !== null && budget.left > 0; node = node.next) {
    if (node.kind === 3) {
      parts.push(node.data);
      budget.left -= node.data.length;
    } else if (!SILENT.has(node.tag.name)) {
      const block = isBlock(node);
      if (block) parts.push(" ");
      collect(node, parts, budget);
      if (block) parts.push(" ");
    }
  }
}
