import { isHidden } from "../article/visible.ts";
import { type Element, elementsBelow } from "../dom/nodes.ts";
import { squeeze } from "../dom/text.ts";
import { imageSource, isPixel } from "../values/image-source.ts";
import { destination } from "./destination.ts";
import { escapeText } from "./escape.ts";
import type { Writer } from "./writer.ts";

export function writePicture(image: Element, writer: Writer): void {
  const source = imageSource(image);
  const address = source === null || isPixel(image) ? null : writer.conversion.resolve(source);
  if (address === null) return;
  const alt = squeeze(image.attr("alt") || image.attr("title") || "");
  const { dollars } = writer.inline.options;
  const text = escapeText(alt, { inLink: true, tildes: true, dollars, next: undefined });
  writer.inline.raw(`![${text}](${destination(address)})`);
}

/** Lazy images often have a `<noscript>` copy, which is used when the image itself has no usable URL. */
export function writeFallbackPictures(noscript: Element, writer: Writer): void {
  if (squeezedText(noscript) !== "" || isShownBefore(noscript)) return;
  for (const element of elementsBelow(noscript))
    if (element.tag.name === "img" && !isHidden(element)) writePicture(element, writer);
}

function squeezedText(element: Element): string {
  let text = "";
  for (let node = element.first; node !== null; node = node.next)
    text += node.kind === 3 ? squeeze(node.data) : squeezedText(node);
  return text;
}

/** Only the adjacent image counts; images further away are different ones. */
function isShownBefore(noscript: Element): boolean {
  let left = 2;
  for (let node = noscript.prev; node !== null && left > 0; node = node.prev) {
    if (node.kind !== 1) continue;
    const image = node.tag.name === "img" ? node : firstImage(node);
    if (image !== null) return imageSource(image) !== null;
    left -= 1;
  }
  return false;
}

function firstImage(element: Element): Element | null {
  if (element.tag.name === "noscript") return null;
  for (const inside of elementsBelow(element)) if (inside.tag.name === "img") return inside;
  return null;
}
