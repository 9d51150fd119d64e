/** The page's content: the article in its forms, links, headings, tables. */
import { type Element, elementsBelow } from "../dom/nodes.ts";
import { squeeze, textOf } from "../dom/text.ts";
import { type Grid, readGrid } from "../values/table-grid.ts";
import { PAGE_TYPES } from "../main-content/page-type.ts";
import type { KnownField } from "./source.ts";

const MAX_LIST = 10_000;

export const text: KnownField = {
  name: "text",
  meaning: "the article as plain text",
  order: "the article itself",
  read: (facts) => facts.article?.text ?? (squeeze(facts.text.slice(0, 1_000_000)) || null),
};

export const markdown: KnownField = {
  name: "markdown",
  meaning: "the article as Markdown",
  order: "the article itself",
  read: (facts) => facts.article?.markdown ?? null,
};

export const html: KnownField = {
  name: "html",
  meaning: "the article as clean HTML, without scripts and event handlers",
  order: "the article itself",
  read: (facts) => facts.article?.html ?? null,
};

export const wordCount: KnownField = {
  name: "word_count",
  meaning: "how many words the article has",
  order: "the article itself",
  read: (facts) => facts.article?.wordCount ?? null,
};

export const contentHash: KnownField = {
  name: "content_hash",
  meaning: "SHA-256 of the article's text: equal for equal content",
  order: "the article itself",
  read: (facts) => facts.article?.contentHash ?? null,
};

export const pageType: KnownField = {
  name: "page_type",
  meaning: `what kind of page it is: ${PAGE_TYPES.map((type) => `\`${type}\``).join(", ")}; null when nothing says so`,
  order: "structured data, the generator, the address, how the page is built",
  read: (facts) => facts.pageType?.type ?? null,
};

export const pageTypeReason: KnownField = {
  name: "page_type_reason",
  meaning: "what says that it is of that type",
  order: "as for `page_type`",
  read: (facts) => facts.pageType?.reason ?? null,
};

export const links: KnownField = {
  name: "links",
  meaning: "the addresses that the page links to, each once",
  order: "`<a href>` and `<area href>`",
  list: true,
  read: (facts) => facts.linkUrls(Number.POSITIVE_INFINITY),
};

export const headings: KnownField = {
  name: "headings",
  meaning: "the headings, as `{level, text}`",
  order: "`<h1>` to `<h6>`",
  list: true,
  read: (facts) =>
    facts.document.buckets.heading
      .slice(0, MAX_LIST)
      .map((element) => ({ level: Number(element.tag.name[1]), text: textOf(element) }))
      .filter((heading) => heading.text !== ""),
};

export const tables: KnownField = {
  name: "tables",
  meaning:
    "the tables, each a list of rows, each a list of texts; a cell over several rows or columns stands in each of them",
  order: "`<table>` with more than one column",
  list: true,
  read: (facts) => {
    const found: string[][][] = [];
    let cells = 0;
    for (const element of elementsBelow(facts.document.root)) {
      if (element.tag.name !== "table" || cells > MAX_LIST * 10) continue;
      const rows = textsOf(readGrid(element, () => true));
      cells += rows.reduce((sum, row) => sum + row.length, 0);
      if (rows.some((row) => row.length > 1)) found.push(rows);
    }
    return found;
  },
};

function textsOf({ rows }: Grid): string[][] {
  const texts = new Map<Element, string>();
  const read = (cell: Element): string => {
    const text = texts.get(cell) ?? textOf(cell);
    texts.set(cell, text);
    return text;
  };
  return rows.map((row) => row.map((slot) => (slot === null ? "" : read(slot.cell))));
}
