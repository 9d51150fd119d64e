/** The start of an element's text. Bounded, since nested elements would otherwise read the full text repeatedly. */
import { isHidden } from "../article/visible.ts";
import { type Element, following, type Node } from "../dom/nodes.ts";
import { squeeze } from "../dom/text.ts";

/** Empty: the first `length` characters are white space. */
export function textStart(element: Element, length: number): string {
  let text = "";
  for (let node: Node | null = element.first; node !== null && text.length < length;) {
    if (node.kind === 3) text += node.data.slice(0, length);
    node = (node.kind === 1 && !isHidden(node) ? node.first : null) ?? following(node, element);
  }
  return squeeze(text);
}
