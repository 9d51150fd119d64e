/** Marks: hints from class names and ids about a part of a page. */
import { standalone } from "../../domain/text/standalone.ts";
import type { Element, ElementNames } from "../dom/nodes.ts";
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

/** Beyond the marks: names of parts around the content, and of the content. */
const UNLIKELY_BIT = 1 << MARK_NAMES.length;
const LIKELY_BIT = UNLIKELY_BIT << 1;
const UNLIKELY =
  /(?:^|[\s_-])(?:ad|ads|advert\w*|banner|breadcrumbs?|comments?|community|cookies?|consent|disqus|footer|gdpr|masthead|menu|modal|nav|navbar|navigation|newsletter|outbrain|pagination|pager|popup|promo\w*|recommend\w*|related|replies|rss|share|sharing|sharedaddy|shoutbox|sidebar|site-header|skip-link|social\w*|sponsor\w*|subscribe|subscription|supplemental|taboola|toc|toolbar|widget)(?:[\s_-]|$)/i;
const LIKELY = /(?:^|[\s_-])(?:article|body|content|entry|h-?entry|main|page|post|story|text|blog|thread)(?:[\s_-]|$)/i;

const cache = new Map<string, number>();
const MAX_CACHED = 20_000;
const MAX_LENGTH = 500;

/** `articleBody-2` has the marks article and body. The pages of a site have the same names. */
function bitsOf(names: string): number {
  const cached = cache.get(names);
  if (cached !== undefined) return cached;
  let bits = (UNLIKELY.test(names) ? UNLIKELY_BIT : 0) | (LIKELY.test(names) ? LIKELY_BIT : 0);
  for (const word of names.slice(0, MAX_LENGTH).match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [])
    bits |= BITS.get(word.toLowerCase()) ?? 0;
  if (names.length > MAX_LENGTH) return bits;
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(standalone(names), bits);
  return bits;
}

const NO_NAMES: ElementNames = { classes: 0, bits: 0 };

function namesOf(element: Element): ElementNames {
  if (element.attrTo - element.attrFrom < 4) return NO_NAMES;
  return (element.names ??= readNames(element));
}

function readNames(element: Element): ElementNames {
  const classes = element.attr("class") ?? "";
  const names = classes === "" ? NO_NAMES : namesOfClasses(element.document.classes, classes);
  const id = element.attr("id");
  if (id === undefined || namesChapter(element, id)) return names;
  return { classes: names.classes, bits: names.bits | bitsOf(id) };
}

/** Long lists of classes that begin alike are alike. */
const SIGNIFICANT = 40;

function namesOfClasses(known: Map<string, ElementNames>, classes: string): ElementNames {
  let names = known.get(classes);
  if (names === undefined) {
    const number =
      classes.length > SIGNIFICANT ? namesOfClasses(known, classes.slice(0, SIGNIFICANT)).classes : known.size + 1;
    known.set(classes, (names = { classes: number, bits: bitsOf(classes) }));
  }
  return names;
}

export function marksOf(element: Element): number {
  return namesOf(element).bits & (UNLIKELY_BIT - 1);
}

/** A number for the classes of an element on its page; 0: none. */
export function classesOf(element: Element): number {
  return namesOf(element).classes;
}

/** Named like navigation, an advertisement, comments or the like. */
export function isNamedSurrounding(element: Element): boolean {
  return (namesOf(element).bits & (UNLIKELY_BIT | LIKELY_BIT)) === UNLIKELY_BIT;
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
