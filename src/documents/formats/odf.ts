/** OpenDocument files: texts, spreadsheets and presentations have one vocabulary. */
import { damaged, type DocumentLimits, DocumentError } from "../document.ts";
import { type DocumentFacts, escapeText, type HtmlWriter, linked, type TableCell } from "../html.ts";
import { type Attributes, readXmlChunks, XmlReader } from "../xml.ts";
import { ZipFile } from "../zip.ts";
import { Blocks } from "./blocks.ts";
import { countOf, dateOf, OdfSheet, valueOf } from "./odf-sheet.ts";
import { HiddenStyles } from "./odf-styles.ts";
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
  const facts = factsOf(await zip.textIfAny("meta.xml"));
  writer.facts = facts;
  const text = new OdfText(writer, limits);
  await readXmlChunks(zip.chunks("content.xml"), new XmlReader(text));
  text.end();
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
}

interface OpenCell {
  blocks: Blocks;
  /** Where the text around the cell goes. */
  outer: Blocks;
  columns: number;
  rows: number;
  repeat: number;
  /** Of the sheet itself, not of a table within a cell. */
  isOfSheet: boolean;
  /** For a cell without text. */
  value: string;
  /** Instead of the text, which has it in any format. */
  date: string;
}

/** Comments, deleted text, cells below merged ones, and what is not text of the document. */
const SKIPPED: ReadonlySet<string> = new Set([
  "annotation",
  "tracked-changes",
  "forms",
  "sequence-decls",
  "object-ole",
  "content-validations",
  "dde-links",
  "hidden-text",
  "covered-table-cell",
]);
/** Of every slide: the date, the footer, the slide's number. */
const FURNITURE: ReadonlySet<string> = new Set(["header", "footer", "date-time", "page-number"]);
/** Of a table in a text. */
const MAX_REPEAT = 100;
const MAX_SPAN = 200;

class OdfText {
  readonly #writer: HtmlWriter;
  readonly #limits: DocumentLimits;
  #blocks: Blocks;
  slides = 0;
  readonly #hidden = new HiddenStyles();
  #sheet: OdfSheet | null = null;
  #sheets = 0;
  /** The depth of the frame with the slide's title; -1: none is open. */
  #titleAt = -1;
  /** What is said to a slide. */
  #notes: { blocks: Blocks; outer: Blocks } | null = null;
  #skippedAt = -1;
  readonly #paragraphs: { html: string; level: number | null; links: { from: number; address: string }[] }[] = [];
  readonly #lists: { isOrdered: boolean; style: string | null }[] = [];
  readonly #tables: OpenTable[] = [];
  readonly #cells: OpenCell[] = [];
  #isSpreadsheet = false;
  /** Whether a level of a list style is numbered. */
  readonly #listStyles = new Map<string, Map<number, boolean>>();
  #listStyle: Map<number, boolean> | null = null;

  constructor(writer: HtmlWriter, limits: DocumentLimits) {
    this.#writer = writer;
    this.#limits = limits;
    this.#blocks = new Blocks(writer);
  }

  end(): void {
    this.#blocks.endLists();
  }

  open(name: string, attributes: Attributes, depth: number): void {
    if (this.#skippedAt >= 0) return;
    this.#hidden.open(name, attributes);
    if (SKIPPED.has(name) || this.#isLeftOut(name, attributes)) {
      // A hidden slide counts, and a covered cell takes its place.
      if (name === "page") this.slides += 1;
      if (name === "covered-table-cell" && this.#tables.length === 0) this.#sheet?.covered(attributes);
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
      default:
        this.#openPart(name, attributes, depth);
    }
  }

  #openPart(name: string, attributes: Attributes, depth: number): void {
    switch (name) {
      case "page":
        return this.#startSlide();
      case "frame":
        if (attributes["class"] === "title" && this.slides > 0) this.#titleAt = depth;
        return;
      case "notes":
        this.#notes = { blocks: new Blocks(null), outer: this.#blocks };
        this.#blocks = this.#notes.blocks;
        return;
      case "table":
        return this.#startTable(attributes);
      case "table-row":
        return this.#startRow(attributes);
      case "table-cell":
        return this.#startCell(attributes);
      default:
    }
  }

  #isLeftOut(name: string, attributes: Attributes): boolean {
    if (name === "frame" && FURNITURE.has(attributes["class"] ?? "")) return true;
    return this.#hidden.hides(name, attributes) || (name === "hidden-paragraph" && attributes["is-hidden"] === "true");
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
    else if (name === "style") this.#hidden.close();
    else if (name === "table-header-rows") this.#endHeaderRows();
    else if (name === "table-row" && this.#tables.length === 0) this.#endSheetRow();
    else if (name === "table-cell") this.#endCell();
    else if (name === "table") this.#endTable();
    else if (name === "notes") this.#endNotes();
    else if (name === "page" && this.slides > 0) this.#endSlide();
    if (depth === this.#titleAt) this.#titleAt = -1;
  }

  #startSlide(): void {
    this.slides += 1;
    this.#blocks.endLists();
    if (!this.#isBeyond()) return this.#writer.raw(`<section data-page="${this.slides}">\n`);
    this.#writer.missing(`only its first ${this.#limits.pages} slides were read`);
  }

  #endSlide(): void {
    this.#blocks.endLists();
    if (!this.#isBeyond()) this.#writer.raw("</section>\n");
  }

  /** More slides or sheets than are read. */
  #isBeyond(): boolean {
    return Math.max(this.slides, this.#sheets) > this.#limits.pages;
  }

  #endNotes(): void {
    const notes = this.#notes;
    this.#notes = null;
    if (notes === null) return;
    this.#blocks = notes.outer;
    const markup = notes.blocks.toString();
    if (markup !== "" && !this.#isBeyond()) this.#blocks.block(`<blockquote>${markup}</blockquote>\n`);
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
    if (paragraph === undefined || html === "" || this.#isBeyond()) return;
    const list = this.#lists.at(-1);
    if (this.#titleAt >= 0 && this.#notes === null) this.#blocks.heading(2, html.replaceAll("<br>", " "));
    else if (paragraph.level !== null) this.#blocks.heading(paragraph.level, html);
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
    if (!this.#isSpreadsheet || this.#sheet !== null) {
      this.#tables.push({ rows: [], headers: 0, outer: this.#blocks });
      return;
    }
    this.#sheets += 1;
    this.#sheet = new OdfSheet(this.#limits.htmlLength);
    if (this.#isBeyond()) this.#writer.missing(`only its first ${this.#limits.pages} sheets were read`);
    else this.#blocks.heading(2, escapeText(attributes["name"] ?? ""));
  }

  #startRow(attributes: Attributes): void {
    const table = this.#tables.at(-1);
    if (table === undefined) this.#sheet?.startRow(attributes);
    else table.rows.push({ cells: [], repeat: repeatOf(attributes["number-rows-repeated"]) });
  }

  #endSheetRow(): void {
    this.#sheet?.endRow();
    // Nothing after it has room.
    if (this.#sheet?.isFull === true) this.#endSheet();
  }

  #startCell(attributes: Attributes): void {
    const isOfSheet = this.#tables.length === 0 && this.#sheet !== null;
    const most = isOfSheet ? Number.POSITIVE_INFINITY : MAX_SPAN;
    const cell: OpenCell = {
      blocks: new Blocks(null),
      outer: this.#blocks,
      columns: Math.min(most, countOf(attributes["number-columns-spanned"])),
      rows: Math.min(most, countOf(attributes["number-rows-spanned"])),
      repeat: isOfSheet
        ? countOf(attributes["number-columns-repeated"])
        : repeatOf(attributes["number-columns-repeated"]),
      isOfSheet,
      value: valueOf(attributes),
      date: isOfSheet ? dateOf(attributes) : "",
    };
    this.#cells.push(cell);
    this.#blocks = cell.blocks;
  }

  #endCell(): void {
    const cell = this.#cells.pop();
    if (cell === undefined) return;
    this.#blocks = cell.outer;
    const text = cell.date === "" ? cell.blocks.toString() : cell.date;
    const html = text === "" ? escapeText(cell.value) : text;
    const { columns, rows, repeat } = cell;
    if (cell.isOfSheet) return this.#sheet?.cell({ html: linesOf(html), columns, rows, repeat });
    const row = this.#tables.at(-1)?.rows.at(-1);
    row?.cells.push(...Array.from({ length: repeat }, () => ({ html, columns, rows })));
  }

  #endHeaderRows(): void {
    const table = this.#tables.at(-1);
    if (table !== undefined) table.headers = table.rows.length;
  }

  #endTable(): void {
    const table = this.#tables.pop();
    if (table === undefined) return this.#endSheet();
    this.#blocks = table.outer;
    // A row whose cells are all covered by those above it counts for their height.
    const rows = table.rows.flatMap(({ cells, repeat }) => new Array<TableCell[]>(repeat).fill(cells));
    if (rows.some((cells) => cells.some(({ html }) => html !== "")))
      this.#blocks.table(rows, Math.max(1, table.headers));
  }

  #endSheet(): void {
    const sheet = this.#sheet;
    this.#sheet = null;
    if (sheet === null || this.#isBeyond()) return;
    this.#blocks.endLists();
    sheet.write(this.#writer);
  }
}

/** Paragraphs of a cell as lines, so that a cell is one value. */
function linesOf(html: string): string {
  return html
    .replace(/<\/p>\s*<p>/g, "<br>")
    .replace(/<\/?p>/g, "")
    .trim();
}

function isNumbered(name: string, attributes: Attributes): boolean {
  return name === "list-level-style-number" && (attributes["num-format"] ?? "") !== "";
}

function repeatOf(text: string | undefined): number {
  return Math.min(MAX_REPEAT, countOf(text));
}
