/** Collects paragraphs, list items and tables in order, and writes lists as nested as they are. */
import { type HtmlWriter, type TableCell, tableOf } from "../html.ts";

interface ListLevel {
  isOrdered: boolean;
  /** The number that the next item has by itself. */
  next: number;
  level: number;
}

/** A place that takes blocks: the document, or a cell of a table. */
export class Blocks {
  readonly #parts: string[] = [];
  readonly #writer: HtmlWriter | null;
  /** The open lists, outermost first. */
  #lists: ListLevel[] = [];

  /** Without a writer the markup is collected. */
  constructor(writer: HtmlWriter | null) {
    this.#writer = writer;
  }

  block(markup: string): void {
    this.endLists();
    this.#add(markup);
  }

  heading(level: number, html: string): void {
    const name = `h${Math.min(6, Math.max(1, level))}`;
    this.block(`<${name}>${html}</${name}>\n`);
  }

  /** Without markup of its own in a cell that has nothing else. */
  paragraph(html: string): void {
    this.block(`<p>${html}</p>\n`);
  }

  /** `number`: the item's own, where the document says it. */
  item(level: number, isOrdered: boolean, html: string, number: number | null = null): void {
    while (this.#lists.length > 0 && this.#lists.at(-1)!.level > level) this.#closeList();
    const last = this.#lists.at(-1);
    if (last !== undefined && last.level === level && last.isOrdered !== isOrdered) this.#closeList();
    if (this.#lists.at(-1)?.level === level) this.#add("</li>\n");
    else {
      this.#lists.push({ isOrdered, level, next: 1 });
      this.#add(isOrdered ? "<ol>" : "<ul>");
    }
    const list = this.#lists.at(-1)!;
    const own = isOrdered && number !== null && number !== list.next ? ` value="${number}"` : "";
    list.next = (number ?? list.next) + 1;
    this.#add(`<li${own}>${html}`);
  }

  table(rows: readonly (readonly TableCell[])[], headers: number): void {
    if (rows.length > 0) this.block(tableOf(rows, headers));
  }

  endLists(): void {
    while (this.#lists.length > 0) this.#closeList();
  }

  #closeList(): void {
    const list = this.#lists.pop();
    this.#add(list?.isOrdered === true ? "</li></ol>\n" : "</li></ul>\n");
  }

  #add(markup: string): void {
    if (this.#writer === null) this.#parts.push(markup);
    else this.#writer.raw(markup);
  }

  /** The collected markup; a single paragraph is its text. */
  toString(): string {
    this.endLists();
    const markup = this.#parts.join("").trim();
    const single = /^<p>((?:(?!<p>)[^])*)<\/p>$/.exec(markup);
    return single?.[1] ?? markup.replaceAll("<p></p>", "");
  }
}
