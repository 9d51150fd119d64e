/** Detects parts of a page that are not content. */
import { standalone } from "../../domain/text/standalone.ts";
import { type Element, VERDICTS } from "../dom/nodes.ts";
import { layoutNames } from "./marks.ts";

const SURROUNDINGS = new Set(["nav", "footer", "aside", "form", "menu"]);
const ROLES = new Set(["navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar", "dialog"]);
const UNLIKELY =
  /(?:^|[\s_-])(?:ad|ads|advert\w*|banner|breadcrumbs?|comments?|community|cookies?|consent|disqus|footer|gdpr|masthead|menu|modal|nav|navbar|navigation|newsletter|outbrain|pagination|pager|popup|promo\w*|recommend\w*|related|replies|rss|share|sharing|sharedaddy|shoutbox|sidebar|site-header|skip-link|social\w*|sponsor\w*|subscribe|subscription|supplemental|taboola|toc|toolbar|widget)(?:[\s_-]|$)/i;
const LIKELY = /(?:^|[\s_-])(?:article|body|content|entry|h-?entry|main|page|post|story|text|blog|thread)(?:[\s_-]|$)/i;

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
  const names = layoutNames(element);
  return names.length > 1 && nameSurroundings(names);
}

const verdicts = new Map<string, boolean>();
const MAX_VERDICTS = 20_000;
const MAX_LENGTH = 200;

/** The pages of a site have the same names. */
function nameSurroundings(names: string): boolean {
  let verdict = verdicts.get(names);
  if (verdict === undefined) {
    verdict = UNLIKELY.test(names) && !LIKELY.test(names);
    if (verdicts.size >= MAX_VERDICTS) verdicts.clear();
    if (names.length <= MAX_LENGTH) verdicts.set(standalone(names), verdict);
  }
  return verdict;
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
