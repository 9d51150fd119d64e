/** Elements that are invisible or not content. */
import { type Element, VERDICTS } from "../dom/nodes.ts";
import { NOT_TEXT } from "../dom/tags.ts";

export function isHidden(element: Element): boolean {
  if ((element.tag.flags & NOT_TEXT) !== 0) {
    // Declarative shadow roots contain content.
    return !(element.tag.name === "template" && element.attr("shadowrootmode") !== undefined);
  }
  if (element.attrTo - element.attrFrom < 6) return false;
  return element.verdict(VERDICTS.hidden, isMarkedHidden);
}

function isMarkedHidden(element: Element): boolean {
  if (element.attr("hidden") !== undefined || element.attr("aria-hidden") === "true") return true;
  const style = element.attr("style");
  return style !== undefined && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style);
}
