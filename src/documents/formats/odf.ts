/** OpenDocument files: texts, spreadsheets and presentations have one vocabulary. */
import { damaged, type DocumentLimits, DocumentError } from "../document.ts";
import { type DocumentFacts, escapeText, type HtmlWriter, linked, type TableCell } from "../html.ts";
import { type Attributes, readXmlChunks, XmlReader } from "../xml.ts";
import { ZipFile } from "../zip.ts";
import { Blocks } from "./blocks.ts";
import { isoDate, textsOf } from "./ooxml.ts";

export async function readOdf(
  bytes: Uint8Array,
  limits: DocumentLimits,
  writer: HtmlWriter,
): Promise<DocumentFacts & { pageCount?: number }> {
  const zip = new ZipFile(bytes, { left: limits.inflatedBytes });
  if (!zip.has("content.xml")) throw damaged("the file lacks its text");
  if ((await zip.textIfAny("META-INF/manifest.xml")).includes("encryption-data"))
    throw new DocumentError("document_encrypted", "the document is protected by a password");
  const text = new OdfText(writer, limits.pages);
  await readXmlChunks(zip.chunks("content.xml"), new XmlReader(text));
  text.end();
  const facts = factsOf(await zip.textIfAny("meta.xml"));
  return text.slides === 0 ? facts : { ...facts, pageCount: text.slides };
}

function factsOf(xml: string): DocumentFacts {
  const meta = textsOf(xml);
  const first = (name: string) => meta.get(name)?.[0] ?? null;
  const author = first("initial-creator") ?? first("creator");
  return {
    title: first("title"),
    authors: author === null ? [] : [author],
    description: first("description") ?? first("subject"),
    keywords: meta.get("keyword")?.join(", ") ?? null,
    language: first("language"),
    created: isoDate(first("creation-date")),
    modified: isoDate(first("date")),
    generator: first("generator"),
  };
}

interface OpenTable {
  rows: { cells: TableCell[]; repeat: number }[];
  headers: number;
  outer: Blocks;
  /** The name of a spreadsheet's sheet; null: a table of a text. */
  sheet: string | null;
}

interface OpenCell {
  blocks: Blocks;
  columns: number;
  rows: number;
  repeat: number;
}

/** Comments, deleted text, and the forms that are not text. */
const SKIPPED: ReadonlySet<string> = new Set([
  "annotation",
  "tracked-changes",
  "forms",
  "sequence-decls",
  "object-ole",
]);
/** Sheets have a million repeated empty cells at their ends. */
const MAX_REPEAT = 100;

class OdfText {
  readonly #writer: HtmlWriter;
  readonly #maxSlides: number;
  #blocks: Blocks;
  slides = 0;
  #skippedAt = -1;
  readonly #paragraphs: { html: string; level: number | null; links: { from: number; address: string }[] }[] = [];
  readonly #lists: { isOrdered: boolean; style: string | null }[] = [];
  readonly #tables: OpenTable[] = [];
  readonly #cells: OpenCell[] = [];
  #isSpreadsheet = false;
  /** Whether a level of a list style is numbered. */
  readonly #listStyles = new Map<string, Map<number, boolean>>();
  #listStyle: Map<number, boolean> | null = null;

  constructor(writer: HtmlWriter, maxSlides: number) {
    this.#writer = writer;
    this.#maxSlides = maxSlides;
    this.#blocks = new Blocks(writer);
  }

  end(): void {
    this.#blocks.endLists();
  }

  open(name: string, attributes: Attributes, depth: number): void {
    if (this.#skippedAt >= 0) return;
    if (SKIPPED.has(name)) {
      this.#skippedAt = depth;
      return;
    }
    const paragraph = this.#paragraphs.at(-1);
    switch (name) {
      case "spreadsheet":
        this.#isSpreadsheet = true;
        return;
      case "list-style":
        this.#listStyles.set(attributes["name"] ?? "", (this.#listStyle = new Map()));
        return;
      case "list-level-style-number":
      case "list-level-style-bullet":
      case "list-level-style-image":
        this.#listStyle?.set(Number(attributes["level"] ?? 1), isNumbered(name, attributes));
        return;
      case "h":
        return this.#startParagraph(Number(attributes["outline-level"] ?? 1));
      case "p":
        return this.#startParagraph(null);
      case "s":
        return this.#add(" ".repeat(Math.min(100, Number(attributes["c"] ?? 1) || 1)));
      case "tab":
        return this.#add(" ");
      case "line-break":
        return this.#add("<br>");
      case "a":
        paragraph?.links.push({ from: paragraph.html.length, address: attributes["href"] ?? "" });
        return;
      case "list":
        return this.#startList(attributes);
      case "page":
        return this.#startSlide();
      case "table":
        return this.#startTable(attributes);
      case "table-row":
        this.#tables.at(-1)?.rows.push({ cells: [], repeat: repeatOf(attributes["number-rows-repeated"]) });
        return;
      case "table-cell":
        return this.#startCell(attributes);
      default:
    }
  }

  text(text: string): void {
    if (this.#skippedAt < 0) this.#add(escapeText(text.replace(/\s+/g, " ")));
  }

  close(name: string, depth: number): void {
    if (this.#skippedAt >= 0) {
      if (depth === this.#skippedAt) this.#skippedAt = -1;
      return;
    }
    if (name === "h" || name === "p") this.#endParagraph();
    else if (name === "a") this.#endLink();
    else if (name === "list") this.#lists.pop();
    else if (name === "list-style") this.#listStyle = null;
    else if (name === "table-header-rows") this.#endHeaderRows();
    else if (name === "table-cell") this.#endCell();
    else if (name === "table") this.#endTable();
    else if (name === "page" && this.slides > 0) {
      this.#blocks.endLists();
      if (this.slides <= this.#maxSlides) this.#writer.raw("</section>\n");
    }
  }

  #startSlide(): void {
    this.slides += 1;
    this.#blocks.endLists();
    if (this.slides <= this.#maxSlides) this.#writer.raw(`<section data-page="${this.slides}">\n`);
    else this.#writer.truncated = true;
  }

  #startParagraph(level: number | null): void {
    this.#paragraphs.push({ html: "", level, links: [] });
  }

  #add(html: string): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph !== undefined) paragraph.html += html;
  }

  #endLink(): void {
    const paragraph = this.#paragraphs.at(-1);
    const link = paragraph?.links.pop();
    if (paragraph === undefined || link === undefined) return;
    const { html } = paragraph;
    paragraph.html = html.slice(0, link.from) + linked(html.slice(link.from), link.address);
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop();
    const html = paragraph?.html.trim() ?? "";
    if (paragraph === undefined || html === "" || this.slides > this.#maxSlides) return;
    const list = this.#lists.at(-1);
    if (paragraph.level !== null) this.#blocks.heading(paragraph.level, html);
    else if (list === undefined) this.#blocks.paragraph(html);
    else this.#blocks.item(this.#lists.length - 1, list.isOrdered, html);
  }

  #startList(attributes: Attributes): void {
    const style = attributes["style-name"] ?? this.#lists.at(-1)?.style ?? null;
    const isOrdered = this.#listStyles.get(style ?? "")?.get(this.#lists.length + 1) ?? false;
    // Another list begins, even where it looks the same.
    if (this.#lists.length === 0) this.#blocks.endLists();
    this.#lists.push({ isOrdered, style });
  }

  #startTable(attributes: Attributes): void {
    // A table of a text has a name, too, but nobody sees it.
    const sheet = this.#isSpreadsheet && this.#tables.length === 0 ? (attributes["name"] ?? null) : null;
    this.#tables.push({ rows: [], headers: 0, outer: this.#blocks, sheet });
  }

  #startCell(attributes: Attributes): void {
    const span = (text: string | undefined) => Math.min(200, Math.max(1, Number(text) || 1));
    this.#cells.push({
      blocks: new Blocks(null),
      columns: span(attributes["number-columns-spanned"]),
      rows: span(attributes["number-rows-spanned"]),
      repeat: repeatOf(attributes["number-columns-repeated"]),
    });
    this.#blocks = this.#cells.at(-1)!.blocks;
  }

  #endCell(): void {
    const cell = this.#cells.pop();
    const table = this.#tables.at(-1);
    this.#blocks = this.#cells.at(-1)?.blocks ?? table?.outer ?? this.#blocks;
    const row = table?.rows.at(-1);
    if (cell === undefined || row === undefined) return;
    const html = cell.blocks.toString();
    for (let count = 0; count < cell.repeat; count += 1)
      row.cells.push({ html, columns: cell.columns, rows: cell.rows });
  }

  #endHeaderRows(): void {
    const table = this.#tables.at(-1);
    if (table !== undefined) table.headers = table.rows.length;
  }

  #endTable(): void {
    const table = this.#tables.pop();
    if (table === undefined) return;
    this.#blocks = table.outer;
    const rows = table.rows.flatMap(({ cells, repeat }) => {
      const kept = cells.slice(0, cells.findLastIndex(({ html }) => html !== "") + 1);
      return kept.length === 0 ? [] : new Array<TableCell[]>(repeat).fill(kept);
    });
    if (table.sheet !== null) this.#blocks.heading(2, escapeText(table.sheet));
    this.#blocks.table(rows, Math.max(1, table.headers));
  }
}

function isNumbered(name: string, attributes: Attributes): boolean {
  return name === "list-level-style-number" && (attributes["num-format"] ?? "") !== "";
}

function repeatOf(text: string | undefined): number {
  return Math.min(MAX_REPEAT, Math.max(1, Number(text) || 1));
}
