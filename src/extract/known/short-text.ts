/** The text of an element, if it is short. Bounded, so that repeated calls on a hostile page stay cheap. */
import type { Element } from "../dom/nodes.ts";
import { isBlock, squeeze } from "../dom/text.ts";

const SILENT: ReadonlySet<string> = new Set(["script", "style", "template", "noscript"]);
/** Includes white space between tags. */
const MAX_NODES = 300;

/** Null: longer than the limit. */
export function shortText(
  element: Element,
  limit: number,
  skip: (part: Element) => boolean = () => false,
): string | null {
  const parts: string[] = [];
  let left = limit * 4;
  let nodes = 0;
  const visit = (holder: Element): void => {
    for (let node = holder.first; node !== null && left >= 0 && nodes <= MAX_NODES; node = node.next) {
      nodes += 1;
      if (node.kind === 3) {
        const text = node.sourceLength > left * 8 ? node.data.slice(0, left * 8) : node.data;
        parts.push(text);
        left -= squeeze(text).length;
      } else if (!SILENT.has(node.tag.name) && !skip(node)) {
        const gap = isBlock(node) ? " " : "";
        parts.push(gap);
        visit(node);
        parts.push(gap);
      }
    }
  };
  visit(element);
  const text = left < 0 || nodes > MAX_NODES ? null : squeeze(parts.join(""));
  return text === null || text.length > limit ? null : text;
}
