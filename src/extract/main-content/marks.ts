/** Marks: hints from class names and ids about a part of a page. */
import { standalone } from "../../domain/text/standalone.ts";
import type { Element } from "../dom/nodes.ts";
import { textOf } from "../dom/text.ts";

/** One bit each, in this order; the model's columns follow it. */
export const MARKS: Readonly<Record<string, string>> = {
  nav: "nav navbar navigation menu submenu breadcrumb breadcrumbs crumbs toc pagination pager tabs tab steps skip jump sitemap",
  footer: "footer foot copyright colophon bottom legal disclaimer imprint",
  header: "header masthead topbar top toolbar hero banner",
  sidebar: "sidebar sidebars side aside rail widget widgets secondary complementary supplemental tertiary",
  comment: "comment comments commentlist reply replies respond disqus discussion",
  related:
    "related recommend recommended recommendations recommendation more also popular trending recirc recirculation teaser teasers latest outbrain taboola upsell crosssell cross similar suggested suggestions next previous prev readmore headlines carousel slider",
  advert:
    "ad ads adv advert advertisement advertising advertorial sponsor sponsored sponsors promo promos promotion dfp adslot adsense commercial",
  social: "share sharing shares social socials follow facebook twitter pinterest linkedin whatsapp addthis sharedaddy",
  signup:
    "newsletter subscribe subscription signup signin login register cookie cookies consent gdpr modal popup overlay lightbox paywall cta banner callout notice alert dialog",
  meta: "meta byline author authors bio avatar date time timestamp published updated tags tag category categories label credit credits kicker eyebrow info details",
  content:
    "article content contents entry post story body text main prose markdown richtext rte copy wysiwyg paragraph blog articlebody storybody page document docs bodytext",
  product:
    "product description desc spec specs specification specifications detail details feature features overview attributes ingredients material",
  card: "card cards item items tile tiles grid list listing listings result results row col column product products thumb entry box",
  forum:
    "message messages thread topic posts bbcode answer answers question cooked postbody messagebody quote bbp vbulletin",
  filter:
    "filter filters facet facets sort sorting refine refinement compare select dropdown option options search form",
  review: "review reviews rating ratings stars testimonial testimonials",
  caption: "caption captions figcaption credit image img picture photo gallery media video figure slideshow",
  hidden: "hidden hide collapse collapsed visually sr screen print noprint offscreen invisible accessibility",
  price: "price prices amount cart buy checkout shipping delivery stock basket bag quantity qty sku",
  title: "title headline heading head subtitle subhead summary lead intro deck standfirst dek excerpt",
  faq: "faq faqs accordion question answer toggle panel section",
};
export const MARK_NAMES = Object.keys(MARKS);

const BITS = new Map<string, number>();
for (const [index, name] of MARK_NAMES.entries()) {
  for (const word of (MARKS[name] as string).split(" ")) BITS.set(word, (BITS.get(word) ?? 0) | (1 << index));
}

const cache = new Map<string, number>();
const MAX_CACHED = 20_000;

/** The marks of a class list as bits: `articleBody-2` is article and body. */
export function marksOf(names: string): number {
  const cached = cache.get(names);
  if (cached !== undefined) return cached;
  let bits = 0;
  for (const word of names.slice(0, 500).match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [])
    bits |= BITS.get(word.toLowerCase()) ?? 0;
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(standalone(names), bits);
  return bits;
}

/** 1 to 6; 0: no heading. */
export function headingLevel({ tag: { name } }: Element): number {
  if (name.length !== 2 || name.charCodeAt(0) !== 104) return 0;
  const level = name.charCodeAt(1) - 48;
  return level >= 1 && level <= 6 ? level : 0;
}

export function isHeading(element: Element): boolean {
  return headingLevel(element) > 0;
}

/** The names that describe an element's role in the layout: its classes, and its id unless that names a chapter. */
export function layoutNames(element: Element): string {
  if (element.attrTo - element.attrFrom < 4) return "";
  return (element.layoutNames ??= readLayoutNames(element));
}

function readLayoutNames(element: Element): string {
  const classes = element.attr("class") ?? "";
  const id = element.attr("id");
  return id === undefined || namesChapter(element, id) ? classes : `${classes} ${id}`;
}

/** Ids of headings, sections and anchors derive from the chapter title: `cookies`, `related-work`. */
function namesChapter(element: Element, id: string): boolean {
  const { name } = element.tag;
  if (isHeading(element) || name === "section" || name === "a" || name === "dt") return true;
  const first = firstElement(element);
  return first !== null && isHeading(first) && slug(textOf(first)).includes(slug(id));
}

function firstElement(element: Element): Element | null {
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 1) return node;
    if (node.data.trim() !== "") return null;
  }
  return null;
}

function slug(text: string): string {
  return text
    .slice(0, 200)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
}
