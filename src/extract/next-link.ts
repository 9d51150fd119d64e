/** Pagination links: to the next page, or to a numbered page. */
import type { Element } from "./dom/nodes.ts";
import { textOf } from "./dom/text.ts";

const NEXT_WORDS =
  /^(?:[«»›→<>\s]*)(?:next(?: page)?|older(?: posts| entries| articles)?|load more|show more|weiter|nächste(?: seite)?|suivante?|page suivante|siguiente|successiv[ao]|avanti|próxim[ao]|volgende|nästa|neste|dalej|次へ|下一页)[\s»›→>.…]*$|^[»›→>]{1,2}$/iu;
const PAGE_ADDRESS = /\/pages?[/-]?\d{1,6}(?:[/?#.]|$)|[?&](?:page|paged|pg|p|pageno|offset|start)=\d{1,9}(?:[&#]|$)/i;
/** Longer texts are titles. */
const MAX_TEXT = 30;

/** Whether a link looks like pagination, by its rel, its address or its text. */
export function isPagination(element: Element, address: string): boolean {
  if (/(?:^|\s)next(?:\s|$)/i.test(element.attr("rel") ?? "")) return true;
  if (PAGE_ADDRESS.test(address)) return true;
  const text = textOf(element).trim();
  const label = text === "" ? (element.attr("aria-label") ?? element.attr("title") ?? "").trim() : text;
  if (label === "" || label.length > MAX_TEXT) return false;
  if (NEXT_WORDS.test(label)) return true;
  // A bare number is a page number; four digits are a year.
  return /^\d{1,3}$/.test(label) && new RegExp(`(?:^|[/=_-])0*${label}(?:[/&?#.]|$)`).test(address);
}
