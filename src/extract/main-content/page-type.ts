/** Classifies the type of a page, with the reason. */
import type { BlockPage } from "./blocks.ts";
import type { Box } from "./boxes.ts";

export const PAGE_TYPES = ["article", "documentation", "product", "collection", "listing", "forum", "service"] as const;

export interface PageType {
  type: (typeof PAGE_TYPES)[number];
  reason: string;
}

interface PageSigns {
  context: { signals: Readonly<Record<string, number>> };
  page: BlockPage;
  url: string | null;
  generator: string | null;
  /** The page has a publication date or an author. */
  isPublished: boolean;
}

const FORUMS = /discourse|phpbb|vbulletin|xenforo|simple machines|flarum|invision|mybb|nodebb|vanilla/i;
const MANUALS =
  /sphinx|docusaurus|mkdocs|gitbook|doxygen|javadoc|rustdoc|vitepress|vuepress|hugo-book|antora|asciidoctor|readme\.io|typedoc|jekyll-docs|starlight/i;
const DOCS_HOST = /^(docs?|developers?|dev|help|support|learn|manual|wiki|api|reference)\./;
const DOCS_PATH = /\/(docs?|documentation|reference|manual|handbook|api|guides?|kb|help)(\/|$)/;
const FORUM_PATH =
  /\/(forums?|threads?|topics?|viewtopic|showthread|discussions?|boards?|questions|community)(\/|\.php|$)|\/t\/[\w-]+\/\d+|\/r\/\w+\/comments\//;
const LIST_PATH = /\/(collections?|category|categories|c|shop|browse|catalog|sale|plp|l)(\/|$)/;
const PRODUCT_PATH = /\/(products?|p|dp|item|itm|pd)\//;
const ARTICLE_PATH = /\/(19|20)\d\d\/\d\d?\/|\/(blog|news|article|articles|story|stories|posts?)\/[^/]+/;
const MIN_PROSE_WORDS = 300;

/** Strongest evidence first; null: none. */
export function pageTypeOf({ context, page, url, generator, isPublished }: PageSigns): PageType | null {
  const { signals } = context;
  const address = url === null ? null : URL.parse(url);
  const path = (address?.pathname ?? "").toLowerCase();
  const prices = pricedItems(page);
  const isArticlePath = ARTICLE_PATH.test(path);
  const prose = page.body.paragraphWords;
  const isProse = prose >= MIN_PROSE_WORDS && prose > page.body.words * 0.3;
  const rules: readonly [PageType["type"], boolean, string][] = [
    ["forum", signals["ld_forum"] === 1, "structured data names a discussion or a question"],
    ["forum", FORUMS.test(generator ?? ""), "the generator is forum software"],
    ["documentation", MANUALS.test(generator ?? ""), "the generator writes documentation"],
    ["product", signals["ld_product"] === 1 && prices < 12, "structured data names a product"],
    ["product", signals["og_product"] === 1, "og:type is product"],
    ["forum", FORUM_PATH.test(path), "the address is that of a discussion"],
    ["article", signals["ld_article"] === 1 && isProse, "structured data names an article"],
    ["documentation", DOCS_HOST.test(address?.hostname ?? "") && prose > 0, "the host is one for documentation"],
    ["documentation", DOCS_PATH.test(path), "the address is that of documentation"],
    ["collection", LIST_PATH.test(path) && !PRODUCT_PATH.test(path), "the address is that of a collection"],
    ["collection", prices >= 12 && !isArticlePath, `${prices} items alike with prices`],
    ["product", PRODUCT_PATH.test(path), "the address is that of a product"],
    ["article", isArticlePath && isProse, "the address is that of an article"],
    ["article", signals["og_article"] === 1 && isPublished && isProse, "og:type is article, with a date or an author"],
    ["listing", isList(page) && prose < page.body.words * 0.25, "most of it is items alike with links"],
    ["service", page.body.headings >= 4 && isStory(page), "sections of text under headings of their own"],
  ];
  const found = rules.find(([, holds]) => holds);
  return found === undefined ? null : { type: found[0], reason: found[2] };
}

/** Number of boxes of the same shape, each with a link and an amount of money. */
function pricedItems({ blocks }: BlockPage): number {
  const items = new Set<Box>();
  for (const block of blocks) {
    if (block.words > 12 || !block.money) continue;
    let item: Box | null = null;
    for (let up: Box | null = block.box; up !== null; up = up.parent)
      if (up.repeats >= 3 && up.linkWords > 0 && up.words > 3) item = up;
    if (item !== null) items.add(item);
  }
  return items.size;
}

function isList({ boxes, body }: BlockPage): boolean {
  const inItems = new Map<number, Map<number, number>>();
  for (const box of boxes) {
    if (box.repeats < 5 || box.linkWords === 0 || box.blocks < 2) continue;
    const { depth, shape } = box;
    let words = inItems.get(depth);
    if (words === undefined) inItems.set(depth, (words = new Map()));
    words.set(shape, (words.get(shape) ?? 0) + box.words);
  }
  return [...inItems.values()].some((shapes) => [...shapes.values()].some((words) => words > body.words * 0.35));
}

function isStory({ body }: BlockPage): boolean {
  return body.paragraphWords >= MIN_PROSE_WORDS && body.paragraphWords > body.words * 0.45;
}
