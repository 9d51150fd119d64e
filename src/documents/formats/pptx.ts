/** PowerPoint files (OOXML): each slide is a section with its title as heading. */
import { damaged, type DocumentLimits } from "../document.ts";
import { type DocumentFacts, escapeText, type HtmlWriter, linked, type TableCell } from "../html.ts";
import { type Attributes, readXml } from "../xml.ts";
import { ZipFile } from "../zip.ts";
import { Blocks } from "./blocks.ts";
import { isOn, mainPart, officeFacts, relationshipsOf } from "./ooxml.ts";

export async function readPptx(
  bytes: Uint8Array,
  limits: DocumentLimits,
  writer: HtmlWriter,
): Promise<DocumentFacts & { pageCount: number }> {
  const zip = new ZipFile(bytes, { left: limits.inflatedBytes });
  const part = await mainPart(zip, "ppt/presentation.xml");
  if (!zip.has(part)) throw damaged("the file lacks its list of slides");
  const parts = await relationshipsOf(zip, part);
  const slides: string[] = [];
  readXml(await zip.text(part), {
    open(name, attributes) {
      const target = name === "sldId" ? parts.get(attributes["r:id"] ?? "")?.target : undefined;
      if (target !== undefined && zip.has(target)) slides.push(target);
    },
  });
  if (slides.length > limits.pages)
    writer.missing(`only the first ${limits.pages} of its ${slides.length} slides were read`);
  for (const [index, slide] of slides.slice(0, limits.pages).entries()) await readSlide(zip, slide, index + 1, writer);
  return { ...(await officeFacts(zip)), pageCount: slides.length };
}

/** A hidden slide is left out; the others keep their numbers. */
async function readSlide(zip: ZipFile, part: string, number: number, writer: HtmlWriter): Promise<void> {
  const relations = await relationshipsOf(zip, part);
  const resolve = (id: string) => relations.get(id)?.target ?? null;
  const slide = new SlideText(resolve);
  readXml(await zip.text(part), slide);
  if (slide.isHidden) return;
  writer.raw(`<section data-page="${number}">\n`);
  const blocks = new Blocks(writer);
  slide.write(blocks);
  blocks.endLists();
  await writeNotes(zip, relations, writer);
  writer.raw("</section>\n");
}

async function writeNotes(
  zip: ZipFile,
  relations: Awaited<ReturnType<typeof relationshipsOf>>,
  writer: HtmlWriter,
): Promise<void> {
  const notes = [...relations.values()].find(({ type }) => type === "notesSlide")?.target;
  if (notes === undefined || !zip.has(notes)) return;
  const spoken = new SlideText(() => null, "body");
  readXml(await zip.text(notes), spoken);
  const said = new Blocks(null);
  spoken.write(said);
  const markup = said.toString();
  if (markup !== "") writer.raw(`<blockquote>${markup}</blockquote>\n`);
}

interface SlideParagraph {
  html: string;
  level: number;
  /** Null: as the placeholder has it. */
  mark: "bullet" | "number" | "none" | null;
}

interface Shape {
  /** Of a placeholder: `title`, `body` …; null: a text box. */
  kind: string | null;
  paragraphs: SlideParagraph[];
}

type Part = Shape | { rows: TableCell[][] };

const TITLES: ReadonlySet<string> = new Set(["title", "ctrTitle"]);
/** Of every slide: the date, the footer, the slide's number. */
const FURNITURE: ReadonlySet<string> = new Set(["dt", "ftr", "sldNum", "hdr"]);

class SlideText {
  readonly #resolve: (id: string) => string | null;
  readonly #only: string | null;
  readonly #parts: Part[] = [];
  #shape: Shape | null = null;
  #paragraph: SlideParagraph | null = null;
  #rows: TableCell[][] | null = null;
  #cell: (TableCell & { parts: string[]; isCovered: boolean }) | null = null;
  #inText = false;
  #link: string | null = null;
  isHidden = false;

  /** `only`: placeholders of this kind alone. */
  constructor(resolve: (id: string) => string | null, only: string | null = null) {
    this.#resolve = resolve;
    this.#only = only;
  }

  open(name: string, attributes: Attributes): void {
    if (name === "sld") this.isHidden = !isOn(attributes["show"]);
    else if (name === "sp" || name === "cxnSp") this.#shape = { kind: null, paragraphs: [] };
    else if (name === "ph" && this.#shape !== null) this.#shape.kind = attributes["type"] ?? "body";
    else if (name === "tbl") this.#rows = [];
    else if (name === "tr") this.#rows?.push([]);
    else if (name === "tc") this.#cell = cellOf(attributes);
    else if (name === "p") this.#paragraph = { html: "", level: 0, mark: null };
    else if (name === "t") this.#inText = true;
    else if (name === "br") this.#add("<br>");
    else if (name === "hlinkClick") this.#link = this.#resolve(attributes["r:id"] ?? "");
    else if (this.#paragraph !== null) this.#mark(name, attributes, this.#paragraph);
  }

  #mark(name: string, { lvl }: Attributes, paragraph: SlideParagraph): void {
    if (name === "pPr") paragraph.level = Math.min(8, Number(lvl ?? 0) || 0);
    else if (name === "buNone") paragraph.mark = "none";
    else if (name === "buChar" || name === "buBlip") paragraph.mark = "bullet";
    else if (name === "buAutoNum") paragraph.mark = "number";
  }

  text(text: string): void {
    if (this.#inText) this.#add(linked(escapeText(text), this.#link));
  }

  #add(html: string): void {
    if (this.#paragraph !== null) this.#paragraph.html += html;
  }

  close(name: string): void {
    if (name === "t") this.#inText = false;
    else if (name === "r" || name === "fld") this.#link = null;
    else if (name === "p") this.#endParagraph();
    else if (name === "tc") this.#endCell();
    else if (name === "tbl") {
      if (this.#rows !== null) this.#parts.push({ rows: this.#rows });
      this.#rows = null;
    } else if (name === "sp" || name === "cxnSp") {
      if (this.#shape !== null) this.#parts.push(this.#shape);
      this.#shape = null;
    }
  }

  #endParagraph(): void {
    const paragraph = this.#paragraph;
    this.#paragraph = null;
    if (paragraph === null || paragraph.html.trim() === "") return;
    if (this.#cell !== null) this.#cell.parts.push(paragraph.html.trim());
    else this.#shape?.paragraphs.push(paragraph);
  }

  #endCell(): void {
    const cell = this.#cell;
    this.#cell = null;
    if (cell === null || cell.isCovered) return;
    const { parts, columns = 1, rows = 1 } = cell;
    this.#rows?.at(-1)?.push({ html: parts.join("<br>"), columns, rows });
  }

  /** The title comes first, wherever it stands. */
  write(blocks: Blocks): void {
    const isTitle = (part: Part) => "kind" in part && part.kind !== null && TITLES.has(part.kind);
    for (const part of [...this.#parts.filter(isTitle), ...this.#parts.filter((other) => !isTitle(other))]) {
      if ("rows" in part) {
        if (this.#only === null) blocks.table(part.rows, 1);
        continue;
      }
      if (part.kind !== null && FURNITURE.has(part.kind)) continue;
      if (this.#only !== null && part.kind !== this.#only) continue;
      if (isTitle(part)) this.#writeTitle(part, blocks);
      else for (const paragraph of part.paragraphs) writeParagraph(paragraph, part, blocks);
    }
  }

  #writeTitle({ paragraphs }: Shape, blocks: Blocks): void {
    const html = paragraphs.map((paragraph) => paragraph.html.replaceAll("<br>", " ").trim()).join(" ");
    if (html !== "") blocks.heading(2, html);
  }
}

function cellOf({ gridSpan = "1", rowSpan = "1", hMerge, vMerge }: Attributes) {
  const span = (text: string) => Math.min(200, Math.max(1, Number(text) || 1));
  const isCovered = hMerge === "1" || vMerge === "1";
  return { html: "", columns: span(gridSpan), rows: span(rowSpan), parts: [], isCovered };
}

/** The text of a body has bullets by the design, unless it is a single paragraph. */
function writeParagraph({ html, level, mark }: SlideParagraph, { kind, paragraphs }: Shape, blocks: Blocks): void {
  const isBody = (kind === "body" || kind === "obj") && paragraphs.length > 1;
  const chosen = mark ?? (isBody ? "bullet" : "none");
  if (chosen === "none") blocks.paragraph(html.trim());
  else blocks.item(level, chosen === "number", html.trim());
}
