/** The readable text of an element. */
import { type Element, MAX_TEXT, type Node } from "./nodes.ts";

const BLOCKS = new Set(
  "address article aside blockquote br caption center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol optgroup option p pre search section summary table tbody td tfoot th thead title tr ul".split(
    " ",
  ),
);
const SILENT = new Set(["script", "style", "template", "noscript"]);

export function isBlock(element: Element): boolean {
  return BLOCKS.has(element.tag.name);
}

/** What is one space already is left alone: most text has nothing else, and then nothing is copied. */
const UNEVEN = /[^\S ]\s*| \s+/g;

/** Runs of white space, no-break spaces included, are one space. */
export function oneSpaced(text: string): string {
  return text.replace(UNEVEN, " ");
}

/** The same, without any at the ends. */
export function squeeze(text: string): string {
  return oneSpaced(text).trim();
}

/** The text as a reader sees it, on one line: blocks are apart although no space stands between their tags. */
export function textOf(element: Element): string {
  const only = element.first;
  if (only !== null && only.kind === 3 && only.next === null) return squeeze(only.data);
  const parts: string[] = [];
  collect(element, parts, { left: MAX_TEXT });
  return squeeze(parts.join(""));
}

/** Every character inside, as it stands: what scripts and data hold. */
export function rawText(element: Element): string {
  const only = element.first;
  if (only !== null && only.kind === 3 && only.next === null) return only.data;
  const parts: string[] = [];
  gather(element, parts, { left: MAX_TEXT });
  return parts.join("");
}

function gather(element: Element, parts: string[], room: { left: number }): void {
  for (let node = element.first; node !== null && room.left > 0; node = node.next) {
    if (node.kind === 3) {
      parts.push(node.data);
      room.left -= node.data.length;
    } else gather(node, parts, room);
  }
}

function collect(element: Element, parts: string[], room: { left: number }): void {
  for (let node: Node | null = element.first; node !== null && room.left > 0; node = node.next) {
    if (node.kind === 3) {
      parts.push(node.data);
      room.left -= node.data.length;
    } else if (!SILENT.has(node.tag.name)) {
      const block = isBlock(node);
      if (block) parts.push(" ");
      collect(node, parts, room);
      if (block) parts.push(" ");
    }
  }
}
