/** Links that lead on in a list: to its next page, or to one of its pages by number. */
import type { Element } from "./dom/nodes.ts";
import { textOf } from "./dom/text.ts";

const NEXT_WORDS =
  /^(?:[«»›→<>\s]*)(?:next(?: page)?|older(?: posts| entries| articles)?|load more|show more|weiter|nächste(?: seite)?|suivante?|page suivante|siguiente|successiv[ao]|avanti|próxim[ao]|volgende|nästa|neste|dalej|次へ|下一页)[\s»›→>.…]*$|^[»›→>]{1,2}$/iu;
const PAGE_ADDRESS = /\/pages?[/-]?\d{1,6}(?:[/?#.]|$)|[?&](?:page|paged|pg|p|pageno|offset|start)=\d{1,9}(?:[&#]|$)/i;
/** Longer texts are titles. */
const MOST_TEXT = 30;

/** Whether a link looks like pagination, by its rel, its address or its text. */
export function isPagination(element: Element, address: string): boolean {
  if (/(?:^|\s)next(?:\s|$)/i.test(element.attr("rel") ?? "")) return true;
  if (PAGE_ADDRESS.test(address)) return true;
  const text = textOf(element).trim();
  const words = text === "" ? (element.attr("aria-label") ?? element.attr("title") ?? "").trim() : text;
  if (words === "" || words.length > MOST_TEXT) return false;
  if (NEXT_WORDS.test(words)) return true;
  // A bare number is the page of that number; four digits are a year.
  return /^\d{1,3}$/.test(words) && new RegExp(`(?:^|[/=_-])0*${words}(?:[/&?#.]|$)`).test(address);
}
