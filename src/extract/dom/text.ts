/** The readable text of an element. */
import type { Element, Node } from "./nodes.ts";

const BLOCKS = new Set(
  "address article aside blockquote br caption center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol optgroup option p pre search section summary table tbody td tfoot th thead title tr ul".split(
    " ",
  ),
);
const SILENT = new Set(["script", "style", "template", "noscript"]);

export function isBlock(element: Element): boolean {
  return BLOCKS.has(element.tag.name);
}

/** Runs of white space, no-break spaces included, are one space. */
export function squeeze(text: string): string {
  return /^\S*$/.test(text) ? text : text.replace(/\s+/g, " ").trim();
}

/** The text as a reader sees it, on one line: blocks are apart although no space stands between their tags. */
export function textOf(element: Element): string {
  const only = element.first;
  if (only !== null && only.kind === 3 && only.next === null) return squeeze(only.data);
  return squeeze(collect(element));
}

/** Every character inside, as it stands: what scripts and data hold. */
export function rawText(element: Element): string {
  let out = "";
  for (let node = element.first; node !== null; node = node.next) out += node.kind === 3 ? node.data : rawText(node);
  return out;
}

function collect(element: Element): string {
  let out = "";
  for (let node: Node | null = element.first; node !== null; node = node.next) {
    if (node.kind === 3) out += node.data;
    else if (!SILENT.has(node.tag.name)) out += isBlock(node) ? ` ${collect(node)} ` : collect(node);
  }
  return out;
}
