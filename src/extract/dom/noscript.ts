/** Pages whose whole content is in `<noscript>`: their scripts build the page again from data. */
import { detach, type Document, type Element } from "./nodes.ts";
import { textOf } from "./text.ts";

/** A notice that the page needs scripts is shorter. */
const MIN_CHARACTERS = 500;

/** Moves the content out of each `<noscript>` that has more text than the rest of the page. */
export function unwrapNoscript(document: Document): void {
  const long = document.buckets.noscript.filter(
    (element) => isInBody(element) && textOf(element).length >= MIN_CHARACTERS,
  );
  if (long.length === 0) return;
  const others = textOf(document.root).length;
  for (const element of long) if (textOf(element).length > others) unwrap(element);
}

function isInBody(element: Element): boolean {
  for (let up = element.parent; up !== null; up = up.parent) if (up.tag.name === "body") return true;
  return false;
}

function unwrap(element: Element): void {
  const { parent } = element;
  if (parent === null) return;
  for (let node = element.first; node !== null; node = element.first) {
    detach(node);
    parent.insertBefore(node, element);
  }
  detach(element);
}
