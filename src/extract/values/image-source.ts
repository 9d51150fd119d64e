/** The URL of an image. Lazy images have it in another attribute, and a placeholder in `src`. */
import type { Element } from "../dom/nodes.ts";
import { largestSource } from "./source-set.ts";

const LAZY_ATTRIBUTES = [
  "data-src",
  "data-original",
  "data-lazy-src",
  "data-lazy",
  "data-original-src",
  "data-full-src",
];
const LAZY_SRCSETS = ["data-srcset", "data-lazy-srcset"];
/** The full file name must match: `empty-00012.jpg` and `google-pixel.png` are images. */
const PLACEHOLDER =
  /(?:^|\/)(?:blank|spacer|placeholder|transparent|pixel|1x1|clear|empty|loading|loader|lazy|lazyload|gr[ae]y|trans|dummy|no-?image)(?:[-_](?:\d+x\d+|image|img|pixel|placeholder))?\.(?:gif|png|svg|jpe?g|webp)(?:[?#]|$)/i;

/** Unambiguous words, regardless of what precedes and follows them. */
const NAMED_PLACEHOLDER =
  /(?:^|[/_.-])(?:placeholder|no-?image|spacer)(?:[_.-][\w.-]*)?\.(?:gif|png|svg|jpe?g|webp)(?:[?#]|$)/i;

/** A placeholder or a tracking pixel. */
export function isPlaceholder(address: string): boolean {
  return PLACEHOLDER.test(address) || NAMED_PLACEHOLDER.test(address);
}

/** Null: no URL of the actual image. */
export function imageSource(element: Element): string | null {
  return (
    firstUsable(element, LAZY_ATTRIBUTES) ??
    usable(element.attr("src")) ??
    fromSrcset(element) ??
    (element.parent?.tag.name === "picture" ? fromPicture(element.parent) : null)
  );
}

function firstUsable(element: Element, names: readonly string[]): string | null {
  for (const name of names) {
    const address = usable(element.attr(name));
    // `data-lazy="true"` and the like are flags.
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

function fromSrcset(element: Element): string | null {
  for (const name of [...LAZY_SRCSETS, "srcset"]) {
    const address = largestSource(element.attr(name) ?? "", (each) => usable(each) !== null);
    if (address !== null) return address;
  }
  return null;
}

function fromPicture(picture: Element): string | null {
  for (let node = picture.first; node !== null; node = node.next) {
    const address = node.kind === 1 && node.tag.name === "source" ? fromSrcset(node) : null;
    if (address !== null) return address;
  }
  return null;
}

/** A 1-pixel image is a tracking pixel. */
export function isPixel(element: Element): boolean {
  const isOne = (size: string | undefined) => size !== undefined && /^\s*[01](?:px)?\s*$/.test(size);
  if (isOne(element.attr("width")) || isOne(element.attr("height"))) return true;
  return /(?:^|;)\s*(?:width|height)\s*:\s*[01]px/i.test(element.attr("style") ?? "");
}
