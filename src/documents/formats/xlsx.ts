/** Excel files (OOXML): each visible sheet is a heading and a table. */
import { damaged, type DocumentLimits } from "../document.ts";
import { type DocumentFacts, escapeText, type HtmlWriter } from "../html.ts";
import { type Attributes, readXml, readXmlChunks, XmlReader } from "../xml.ts";
import { ZipFile } from "../zip.ts";
import { mainPart, officeFacts, partOfType, relationshipsOf } from "./ooxml.ts";
import { Sheet } from "./sheet.ts";
import { cellPosition, readCellForms, shownNumber } from "./xlsx-values.ts";

interface Workbook {
  sheets: { name: string; part: string }[];
  is1904: boolean;
  /** The parts by the workbook's relationships, else by their usual names. */
  strings: string;
  styles: string;
}

export async function readXlsx(bytes: Uint8Array, limits: DocumentLimits, writer: HtmlWriter): Promise<DocumentFacts> {
  const zip = new ZipFile(bytes, { left: limits.inflatedBytes });
  const part = await mainPart(zip, "xl/workbook.xml");
  if (!zip.has(part)) throw damaged("the file lacks its list of sheets");
  writer.facts = await officeFacts(zip);
  const workbook = await readWorkbook(zip, part);
  const strings = await readStrings(zip, workbook.strings, limits.htmlLength);
  const forms = readCellForms(await zip.textIfAny(workbook.styles));
  const { sheets } = workbook;
  if (sheets.length > limits.pages)
    writer.missing(`only the first ${limits.pages} of its ${sheets.length} sheets were read`);
  for (const { name, part: sheetPart } of sheets.slice(0, limits.pages)) {
    const sheet = new Sheet(limits.htmlLength);
    const cells = new SheetCells(sheet, { strings, forms, is1904: workbook.is1904 });
    const links = await relationshipsOf(zip, sheetPart);
    cells.resolve = (id) => links.get(id)?.target ?? null;
    const reader = new XmlReader(cells);
    cells.onFull = () => reader.stop();
    await readXmlChunks(zip.chunks(sheetPart), reader);
    writer.element("h2", name);
    if (!sheet.isEmpty) sheet.write(writer);
    if (sheet.isFull) writer.full();
  }
  return writer.facts;
}

async function readWorkbook(zip: ZipFile, part: string): Promise<Workbook> {
  const parts = await relationshipsOf(zip, part);
  const folder = part.slice(0, part.lastIndexOf("/") + 1);
  const strings = partOfType(zip, parts, "sharedStrings", `${folder}sharedStrings.xml`);
  const styles = partOfType(zip, parts, "styles", `${folder}styles.xml`);
  const workbook: Workbook = { sheets: [], is1904: false, strings, styles };
  readXml(await zip.text(part), {
    open(name, attributes) {
      if (name === "workbookPr") workbook.is1904 = /^(?:1|true)$/.test(attributes["date1904"] ?? "");
      if (name !== "sheet" || /hidden/i.test(attributes["state"] ?? "")) return;
      const target = parts.get(attributes["r:id"] ?? attributes["id"] ?? "");
      // Charts have sheets of their own, without cells.
      if (target?.type === "worksheet" && zip.has(target.target))
        workbook.sheets.push({ name: attributes["name"] ?? "", part: target.target });
    },
  });
  return workbook;
}

/** Strings that many cells share; those of a phonetic reading are left out. */
async function readStrings(zip: ZipFile, part: string, maxLength: number): Promise<string[]> {
  const strings: string[] = [];
  if (!zip.has(part)) return strings;
  let text = "";
  let isReading = 0;
  let inText = false;
  let length = 0;
  const reader: XmlReader = new XmlReader({
    open(name) {
      if (name === "si") text = "";
      else if (name === "rPh") isReading += 1;
      else if (name === "t") inText = isReading === 0;
    },
    text(part_) {
      if (inText) text += part_;
    },
    close(name) {
      if (name === "t") inText = false;
      else if (name === "rPh") isReading -= 1;
      else if (name === "si") {
        strings.push(text);
        length += text.length;
        // No page has room for more, and a hundred million of them would take all memory.
        if (length > 8 * maxLength || strings.length > 5_000_000) reader.stop();
      }
    },
  });
  await readXmlChunks(zip.chunks(part), reader);
  return strings;
}

interface CellContext {
  strings: readonly string[];
  forms: ReturnType<typeof readCellForms>;
  is1904: boolean;
}

class SheetCells {
  readonly #sheet: Sheet;
  readonly #context: CellContext;
  resolve: (id: string) => string | null = () => null;
  onFull: () => void = () => {};
  #row = -1;
  #column = -1;
  #type = "n";
  #style = 0;
  #value: string | null = null;
  #inValue = false;
  /** Within a phonetic reading. */
  #inReading = false;

  constructor(sheet: Sheet, context: CellContext) {
    this.#sheet = sheet;
    this.#context = context;
  }

  open(name: string, attributes: Attributes): void {
    if (name === "row") {
      this.#row = attributes["r"] === undefined ? this.#row + 1 : Number(attributes["r"]) - 1;
      this.#column = -1;
    } else if (name === "c") this.#startCell(attributes);
    else if (name === "v" || name === "t") this.#inValue = !this.#inReading;
    else if (name === "rPh") this.#inReading = true;
    else if (name === "mergeCell") this.#merge(attributes["ref"] ?? "");
    else if (name === "hyperlink") this.#link(attributes);
  }

  text(text: string): void {
    if (this.#inValue) this.#value = (this.#value ?? "") + text;
  }

  close(name: string): void {
    if (name === "v" || name === "t") this.#inValue = false;
    else if (name === "rPh") this.#inReading = false;
    if (name !== "c") return;
    if (this.#value !== null)
      this.#sheet.set(this.#row, this.#column, escapeText(this.#shown(this.#value)).replace(/\r?\n/g, "<br>"));
    if (this.#sheet.isFull) this.onFull();
  }

  #startCell({ r = "", t = "n", s = "0" }: Attributes): void {
    const position = cellPosition(r);
    this.#column = position?.column ?? this.#column + 1;
    if (position !== null) this.#row = position.row;
    this.#type = t;
    this.#style = Number(s);
    this.#value = null;
  }

  #shown(value: string): string {
    const { strings, forms, is1904 } = this.#context;
    switch (this.#type) {
      case "s":
        return strings[Number(value)] ?? "";
      case "b":
        return value === "1" ? "TRUE" : "FALSE";
      case "n":
        return shownNumber(value, forms[this.#style] ?? null, is1904);
      case "d":
        return value.replace("T00:00:00", "");
      default:
        return value;
    }
  }

  #merge(reference: string): void {
    const [one, other] = reference.split(":").map(cellPosition);
    if (one === null || one === undefined || other === null || other === undefined) return;
    const row = Math.min(one.row, other.row);
    const column = Math.min(one.column, other.column);
    const rows = Math.abs(one.row - other.row) + 1;
    this.#sheet.merge({ row, column, rows, columns: Math.abs(one.column - other.column) + 1 });
  }

  #link(attributes: Attributes): void {
    const position = cellPosition((attributes["ref"] ?? "").split(":")[0] ?? "");
    const address = this.resolve(attributes["r:id"] ?? attributes["id"] ?? "");
    if (position !== null && address !== null) this.#sheet.link(position.row, position.column, address);
  }
}
