/** Detects parts of a page that are not content. */
import { type Element, VERDICTS } from "../dom/nodes.ts";
import { isNamedSurrounding } from "./marks.ts";

const SURROUNDINGS = new Set(["nav", "footer", "aside", "form", "menu"]);
const ROLES = new Set(["navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar", "dialog"]);
/** Navigation, advertisements, comments and the like. */
export function isSurrounding(element: Element): boolean {
  return element.verdict(VERDICTS.surrounding, looksLikeSurroundings);
}

function looksLikeSurroundings(element: Element): boolean {
  const { name } = element.tag;
  if (SURROUNDINGS.has(name)) return name !== "form" || !wrapsPage(element);
  if (name === "header") return !isInside(element);
  if (element.attrTo - element.attrFrom < 6 || name === "body" || name === "article" || name === "main") return false;
  const role = element.attr("role");
  if (role !== undefined && ROLES.has(role)) return true;
  return isNamedSurrounding(element);
}

/** Old server frameworks put the whole page into one form. */
function wrapsPage(form: Element): boolean {
  return form.parent?.tag.name === "body" && form.first !== null && (form.last as unknown) !== form.first;
}

function isInside(element: Element): boolean {
  for (let up = element.parent; up !== null; up = up.parent) {
    if (up.tag.name === "article" || up.tag.name === "main" || up.tag.name === "section") return true;
  }
  return false;
}
