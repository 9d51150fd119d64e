/** Word files (OOXML). */
import { damaged, type DocumentLimits } from "../document.ts";
import { type DocumentFacts, escapeText, type HtmlWriter, linked, type TableCell } from "../html.ts";
import { type Attributes, readXmlChunks, XmlReader } from "../xml.ts";
import { type InflateBudget, ZipFile } from "../zip.ts";
import { Blocks } from "./blocks.ts";
import { RunStyle, WordLists, WordStyles } from "./docx-styles.ts";
import { isOn, mainPart, officeFacts, partOfType, relationshipsOf } from "./ooxml.ts";

export async function readDocx(bytes: Uint8Array, limits: DocumentLimits, writer: HtmlWriter): Promise<DocumentFacts> {
  const budget: InflateBudget = { left: limits.inflatedBytes };
  const zip = new ZipFile(bytes, budget);
  const part = await mainPart(zip, "word/document.xml");
  if (!zip.has(part)) throw damaged("the file lacks its text");
  const folder = part.slice(0, part.lastIndexOf("/") + 1);
  const relations = await relationshipsOf(zip, part);
  const partOf = (type: string) => partOfType(zip, relations, type, `${folder}${type}.xml`);
  const styles = new WordStyles(await zip.textIfAny(partOf("styles")));
  const lists = new WordLists(await zip.textIfAny(partOf("numbering")));
  const facts = await officeFacts(zip);
  writer.facts = facts;
  const shared = { styles, lists };
  const read = async (name: string, into: Blocks) => {
    const links = new Map<string, string>();
    for (const [id, { target, isExternal }] of await relationshipsOf(zip, name)) if (isExternal) links.set(id, target);
    const text = new WordText({ ...shared, links }, into);
    await readXmlChunks(zip.chunks(name), new XmlReader(text));
    into.endLists();
  };
  await read(part, new Blocks(writer));
  for (const notes of [partOf("footnotes"), partOf("endnotes")])
    if (zip.has(notes)) await read(notes, new Blocks(writer));
  return { ...facts, language: facts.language ?? styles.language };
}

interface Context {
  styles: WordStyles;
  lists: WordLists;
  /** External addresses by relationship id. */
  links: ReadonlyMap<string, string>;
}

interface Paragraph {
  style: string | null;
  outline: number | null;
  numId: string | null;
  level: number | null;
  html: string;
  /** Runs of the same style are one element. */
  run: { style: RunStyle; html: string } | null;
}

interface OpenTable {
  rows: { cells: WordCell[]; isHeader: boolean }[];
  /** Where the text outside of the table goes. */
  outer: Blocks;
  hasHeader: boolean;
}

interface WordCell extends TableCell {
  merge: "start" | "go on" | null;
}

/** Deleted text, the instructions of fields, and second versions for older programs. */
const SKIPPED: ReadonlySet<string> = new Set(["del", "moveFrom", "Fallback", "pict", "footnotePr", "endnotePr"]);
/** Parts of the text that are no text of the author. */
const SEPARATORS: ReadonlySet<string> = new Set(["separator", "continuationSeparator", "continuationNotice"]);
const MAX_SPAN = 200;

class WordText {
  readonly #context: Context;
  #blocks: Blocks;
  readonly #paragraphs: Paragraph[] = [];
  readonly #tables: OpenTable[] = [];
  readonly #cells: { blocks: Blocks; cell: WordCell }[] = [];
  #style = new RunStyle();
  #inRun = 0;
  #inRunStyle = false;
  #inText = false;
  #instruction: string | null = null;
  /** The depth of what is left out; -1: nothing is. */
  #skippedAt = -1;
  readonly #links: { from: number; address: string | null }[] = [];
  /** Fields that are open, with their address once it is known. */
  readonly #fields: { address: string | null; from: number }[] = [];

  constructor(context: Context, blocks: Blocks) {
    this.#context = context;
    this.#blocks = blocks;
  }

  open(name: string, attributes: Attributes, depth: number): void {
    if (this.#skippedAt >= 0) return;
    if (SKIPPED.has(name) || SEPARATORS.has(attributes["type"] ?? "")) {
      if (name !== "footnotePr" && name !== "endnotePr") this.#skippedAt = depth;
      return;
    }
    const { val } = attributes;
    const paragraph = this.#paragraphs.at(-1);
    switch (name) {
      case "p":
        this.#paragraphs.push({ style: null, outline: null, numId: null, level: null, html: "", run: null });
        return;
      case "pStyle":
        if (paragraph !== undefined) paragraph.style = val ?? null;
        return;
      case "outlineLvl":
        if (paragraph !== undefined) paragraph.outline = Number(val);
        return;
      case "numId":
        if (paragraph !== undefined) paragraph.numId = val ?? null;
        return;
      case "ilvl":
        if (paragraph !== undefined) paragraph.level = Number(val);
        return;
      case "r":
        this.#inRun += 1;
        this.#style = new RunStyle();
        return;
      case "rPr":
        this.#inRunStyle = this.#inRun > 0;
        return;
      case "t":
        this.#inText = true;
        return;
      case "instrText":
        this.#instruction = "";
        return;
      case "tab":
        if (this.#inRun > 0 && !this.#inRunStyle) this.#add(" ");
        return;
      case "br":
      case "cr":
        if (attributes["type"] === undefined || attributes["type"] === "textWrapping") this.#add("<br>");
        return;
      case "noBreakHyphen":
        return this.#add("-");
      case "sym":
        return this.#add(escapeText(symbolOf(attributes["char"])));
      case "fldChar":
        return this.#field(attributes["fldCharType"] ?? "");
      case "fldSimple":
        this.#startLink(hyperlinkOf(attributes["instr"] ?? ""));
        return;
      case "hyperlink":
        this.#startLink(this.#context.links.get(attributes["r:id"] ?? attributes["id"] ?? "") ?? null);
        return;
      case "tbl":
        // As in the other formats, unless the table says otherwise.
        this.#tables.push({ rows: [], outer: this.#blocks, hasHeader: true });
        return;
      case "tr":
        this.#tables.at(-1)?.rows.push({ cells: [], isHeader: false });
        return;
      case "tblHeader":
        if (isOn(val)) this.#markHeader();
        return;
      case "tblLook":
        this.#look(attributes);
        return;
      case "tc":
        this.#cells.push({ blocks: new Blocks(null), cell: { html: "", columns: 1, rows: 1, merge: null } });
        this.#blocks = this.#cells.at(-1)!.blocks;
        return;
      case "gridSpan":
        this.#span(Number(val));
        return;
      case "vMerge": {
        const cell = this.#cells.at(-1)?.cell;
        if (cell !== undefined) cell.merge = val === "restart" ? "start" : "go on";
        return;
      }
      default:
        if (this.#inRunStyle) this.#style.set(name, val);
    }
  }

  text(text: string): void {
    if (this.#skippedAt >= 0) return;
    if (this.#instruction !== null) this.#instruction += text.slice(0, 4000);
    else if (this.#inText && !this.#style.hidden) this.#add(escapeText(text));
  }

  close(name: string, depth: number): void {
    if (this.#skippedAt >= 0) {
      if (depth === this.#skippedAt) this.#skippedAt = -1;
      return;
    }
    if (name === "t") this.#inText = false;
    else if (name === "rPr") this.#inRunStyle = false;
    else if (name === "r") {
      this.#inRun -= 1;
      this.#style = new RunStyle();
    } else if (name === "instrText") this.#endInstruction();
    else if (name === "hyperlink" || name === "fldSimple") this.#endLink();
    else if (name === "p") this.#endParagraph();
    else if (name === "tc") this.#endCell();
    else if (name === "tbl") this.#endTable();
  }

  #add(html: string): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph === undefined) return;
    if (paragraph.run?.style.key !== this.#style.key) {
      flush(paragraph);
      paragraph.run = { style: this.#style, html: "" };
    }
    paragraph.run!.html += html;
  }

  #startLink(address: string | null): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph !== undefined) flush(paragraph);
    this.#links.push({ from: paragraph?.html.length ?? 0, address });
  }

  #endLink(): void {
    const link = this.#links.pop();
    if (link !== undefined) this.#linkFrom(link.from, link.address);
  }

  #linkFrom(from: number, address: string | null): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph === undefined) return;
    flush(paragraph);
    if (address !== null && from <= paragraph.html.length)
      paragraph.html = paragraph.html.slice(0, from) + linked(paragraph.html.slice(from), address);
  }

  #field(type: string): void {
    const paragraph = this.#paragraphs.at(-1);
    if (type === "begin") this.#fields.push({ address: null, from: 0 });
    const field = this.#fields.at(-1);
    if (field === undefined) return;
    if (type === "separate" && paragraph !== undefined) {
      flush(paragraph);
      field.from = paragraph.html.length;
    }
    if (type === "end") {
      this.#fields.pop();
      this.#linkFrom(field.from, field.address);
    }
  }

  #endInstruction(): void {
    const field = this.#fields.at(-1);
    if (field !== undefined) field.address ??= hyperlinkOf(this.#instruction ?? "");
    this.#instruction = null;
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop();
    if (paragraph === undefined) return;
    flush(paragraph);
    const html = paragraph.html.trim();
    if (html === "") return;
    const { styles, lists } = this.#context;
    const outline = paragraph.outline !== null && paragraph.outline < 9 ? paragraph.outline + 1 : null;
    const level = outline ?? styles.headingLevel(paragraph.style);
    if (level !== null) return this.#blocks.heading(level, html.replace(/<\/?strong>/g, ""));
    const named = styles.listOf(paragraph.style);
    const numId = paragraph.numId ?? named?.numId ?? null;
    const depth = paragraph.level ?? named?.level ?? 0;
    const isOrdered = numId === null ? null : lists.isOrdered(numId, depth);
    if (isOrdered === null) this.#blocks.paragraph(html);
    else this.#blocks.item(depth, isOrdered, html);
  }

  #markHeader(): void {
    const row = this.#tables.at(-1)?.rows.at(-1);
    if (row !== undefined) row.isHeader = true;
  }

  #look({ firstRow, val }: Attributes): void {
    const table = this.#tables.at(-1);
    // The first-row flag of the older bit mask.
    if (table !== undefined)
      table.hasHeader = firstRow === undefined ? (Number.parseInt(val ?? "0", 16) & 0x20) !== 0 : isOn(firstRow);
  }

  #span(columns: number): void {
    const cell = this.#cells.at(-1)?.cell;
    if (cell !== undefined && columns >= 1) cell.columns = Math.min(MAX_SPAN, columns);
  }

  #endCell(): void {
    const done = this.#cells.pop();
    const table = this.#tables.at(-1);
    this.#blocks = this.#cells.at(-1)?.blocks ?? table?.outer ?? this.#blocks;
    if (done !== undefined) table?.rows.at(-1)?.cells.push({ ...done.cell, html: done.blocks.toString() });
  }

  #endTable(): void {
    const table = this.#tables.pop();
    if (table === undefined) return;
    this.#blocks = table.outer;
    const headers = table.rows.findIndex(({ isHeader }) => !isHeader);
    const marked = headers < 0 ? 1 : headers;
    this.#blocks.table(mergedRows(table.rows.map(({ cells }) => cells)), Math.max(marked, table.hasHeader ? 1 : 0));
  }
}

function flush(paragraph: Paragraph): void {
  const { run } = paragraph;
  if (run === null) return;
  paragraph.run = null;
  paragraph.html += run.html.trim() === "" ? run.html : run.style.wrap(run.html);
}

/** Cells that go on below count as rows of the cell that they started in. */
function mergedRows(rows: readonly WordCell[][]): TableCell[][] {
  const starts = new Map<number, WordCell>();
  return rows.map((row) => {
    const kept: TableCell[] = [];
    let column = 0;
    for (const cell of row) {
      const above = starts.get(column);
      if (cell.merge === "go on" && above !== undefined) above.rows = (above.rows ?? 1) + 1;
      else {
        kept.push(cell);
        if (cell.merge === "start") starts.set(column, cell);
        else starts.delete(column);
      }
      column += cell.columns ?? 1;
    }
    return kept;
  });
}

function hyperlinkOf(instruction: string): string | null {
  return /^\s*HYPERLINK\s+"([^"]+)"/i.exec(instruction)?.[1] ?? null;
}

function symbolOf(char: string | undefined): string {
  const code = Number.parseInt(char ?? "", 16);
  // Symbol fonts use a private area; bullets are by far the most frequent there.
  if (Number.isNaN(code)) return "";
  return code >= 0xf000 && code <= 0xf0ff ? "•" : String.fromCharCode(code);
}
