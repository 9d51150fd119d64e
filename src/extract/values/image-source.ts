/** The address of a picture. Pages load pictures late: then it stands in another attribute, and `src` holds a blank one. */
import type { Element } from "../dom/nodes.ts";
import { largestSource } from "./source-set.ts";

const LATE = ["data-src", "data-original", "data-lazy-src", "data-lazy", "data-original-src", "data-full-src"];
const LATE_SETS = ["data-srcset", "data-lazy-srcset"];
/** The whole name says it: `empty-00012.jpg` and `google-pixel.png` are pictures. */
const PLACEHOLDER =
  /(?:^|\/)(?:blank|spacer|placeholder|transparent|pixel|1x1|clear|empty|loading|loader|lazy|lazyload|gr[ae]y|trans|dummy|no-?image)(?:[-_](?:\d+x\d+|image|img|pixel|placeholder))?\.(?:gif|png|svg|jpe?g|webp)(?:[?#]|$)/i;

/** These words mean nothing else, whatever stands before and after them. */
const NAMED_PLACEHOLDER =
  /(?:^|[/_.-])(?:placeholder|no-?image|spacer)(?:[_.-][\w.-]*)?\.(?:gif|png|svg|jpe?g|webp)(?:[?#]|$)/i;

/** Stands where a picture will be, or counts visitors. */
export function isPlaceholder(address: string): boolean {
  return PLACEHOLDER.test(address) || NAMED_PLACEHOLDER.test(address);
}

/** Null when the page has no address that leads to the picture itself. */
export function imageSource(element: Element): string | null {
  return (
    firstUsable(element, LATE) ??
    usable(element.attr("src")) ??
    offered(element) ??
    (element.parent?.tag.name === "picture" ? offeredByPicture(element.parent) : null)
  );
}

function firstUsable(element: Element, names: readonly string[]): string | null {
  for (const name of names) {
    const address = usable(element.attr(name));
    // `data-lazy="true"` and the like are switches.
    if (address !== null && /[/.]/.test(address)) return address;
  }
  return null;
}

function usable(address: string | undefined): string | null {
  const trimmed = address?.trim();
  if (trimmed === undefined || trimmed === "") return null;
  if (/^(?:data|blob|about|javascript):|^[{[#<]|\{\{|\$\{|["<>]/i.test(trimmed)) return null;
  return isPlaceholder(trimmed) ? null : trimmed;
}

function offered(element: Element): string | null {
  for (const name of [...LATE_SETS, "srcset"]) {
    const address = largestSource(element.attr(name) ?? "", (each) => usable(each) !== null);
    if (address !== null) return address;
  }
  return null;
}

function offeredByPicture(picture: Element): string | null {
  for (let node = picture.first; node !== null; node = node.next) {
    const address = node.kind === 1 && node.tag.name === "source" ? offered(node) : null;
    if (address !== null) return address;
  }
  return null;
}

/** One pixel wide is not a picture, it counts visitors. */
export function isPixel(element: Element): boolean {
  const isOne = (size: string | undefined) => size !== undefined && /^\s*[01](?:px)?\s*$/.test(size);
  if (isOne(element.attr("width")) || isOne(element.attr("height"))) return true;
  return /(?:^|;)\s*(?:width|height)\s*:\s*[01]px/i.test(element.attr("style") ?? "");
}
