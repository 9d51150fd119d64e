/** Links, including those around headings and images. */
import { isHidden } from "../article/visible.ts";
import { type Element, elementsBelow } from "../dom/nodes.ts";
import { squeeze } from "../dom/text.ts";
import type { Mark } from "./tokens.ts";
import { textStart } from "./text-start.ts";
import type { Render, Writer } from "./writer.ts";

/** A heading later in a link is not its title. */
const MAX_SEARCHED = 200;
const MAX_HEADING = 1000;

export function writeLink(link: Element, writer: Writer, render: Render): void {
  const rawHref = link.attr("href");
  const href = rawHref === undefined ? null : writer.conversion.resolve(rawHref);
  if (href === null) {
    render.inside(link, writer);
    return;
  }
  const mark: Mark = { kind: "link", href, written: false };
  const heading = writer.mode === "block" ? headingIn(link) : null;
  if (heading !== null) {
    writer.conversion.headingLinks.set(heading, mark);
    render.inside(link, writer);
    writer.conversion.headingLinks.delete(heading);
    if (mark.written) return;
  }
  writer.inline.open(mark);
  if (heading === null) render.inside(link, writer);
  // The permalink sign next to a heading needs no label.
  if (!mark.written && !rawHref?.startsWith("#")) writer.inline.text(labelOf(link));
  writer.inline.close(mark);
}

function headingIn(link: Element): Element | null {
  const search = { left: MAX_SEARCHED };
  const find = (parent: Element): Element | null => {
    for (let node = parent.first; node !== null && search.left > 0; node = node.next) {
      if (node.kind !== 1 || isHidden(node)) continue;
      search.left -= 1;
      if (node.tag.rule === "heading" && textStart(node, MAX_HEADING) !== "") return node;
      const found = find(node);
      if (found !== null) return found;
    }
    return null;
  };
  return find(link);
}

function labelOf(link: Element): string {
  const label = squeeze(link.attr("aria-label") ?? link.attr("title") ?? "");
  if (label !== "") return label;
  for (const element of elementsBelow(link))
    if (element.tag.name === "img") return squeeze(element.attr("alt") ?? element.attr("title") ?? "");
  return "";
}
