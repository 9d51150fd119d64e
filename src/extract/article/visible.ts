/** Elements that are invisible or not content. */
import type { Element } from "../dom/nodes.ts";

const NEVER = new Set(
  "script style noscript template svg math iframe object embed applet canvas audio video map head link meta button input select textarea dialog datalist frame frameset".split(
    " ",
  ),
);

export function isHidden(element: Element): boolean {
  if (NEVER.has(element.tag.name)) {
    // Declarative shadow roots contain content.
    return !(element.tag.name === "template" && element.attr("shadowrootmode") !== undefined);
  }
  if (element.attrTo - element.attrFrom < 6) return false;
  if (element.attr("hidden") !== undefined || element.attr("aria-hidden") === "true") return true;
  const style = element.attr("style");
  return style !== undefined && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style);
}
