/** Rich Text Format: control words in nested groups. */
import type { DocumentLimits } from "../document.ts";
import { type DocumentFacts, escapeText, type HtmlWriter, linked, type TableCell } from "../html.ts";
import { Blocks } from "./blocks.ts";
import { RtfText, tokensOf } from "./rtf-tokens.ts";

export async function readRtf(bytes: Uint8Array, _limits: DocumentLimits, writer: HtmlWriter): Promise<DocumentFacts> {
  const reader = new RtfReader(new Blocks(writer));
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  for (const token of tokensOf(source)) reader.token(token.kind, token.word, token.value);
  return reader.end();
}

/** Groups whose text is not part of the document. */
const DESTINATIONS: ReadonlySet<string> = new Set(
  "colortbl pict object header footer headerl headerr headerf footerl footerr footerf listtable listoverridetable rsidtbl generator xmlnstbl themedata colorschememapping latentstyles datastore filetbl revtbl nonshppict shppict bkmkstart bkmkend atnid atnauthor annotation pgdsctbl".split(
    " ",
  ),
);
const CHARACTERS: Readonly<Record<string, string>> = {
  tab: " ",
  emdash: "—",
  endash: "–",
  lquote: "‘",
  rquote: "’",
  ldblquote: "“",
  rdblquote: "”",
  bullet: "•",
  "~": "\u00a0",
  _: "-",
};
const FACTS: ReadonlySet<string> = new Set(["title", "author", "subject", "keywords", "operator"]);
const MAX_DEPTH = 1000;

interface Group {
  /** Where its text goes. */
  to: "text" | "nowhere" | "fonts" | "styles" | "field" | "mark" | "fact";
  name: string;
  /** Hidden or deleted text. */
  isHidden: boolean;
  /** Says the same as the group before it, in Unicode. */
  isUnicode: boolean;
}

interface ParagraphStyle {
  style: string | null;
  outline: number | null;
  isItem: boolean;
  isOrdered: boolean;
  level: number;
  inTable: boolean;
}

const PLAIN: ParagraphStyle = { style: null, outline: null, isItem: false, isOrdered: false, level: 0, inTable: false };

class RtfReader {
  readonly #blocks: Blocks;
  readonly #text = new RtfText();
  #groups: Group[] = [{ to: "text", name: "", isHidden: false, isUnicode: false }];
  #paragraph: ParagraphStyle = { ...PLAIN };
  #html = "";
  #mark = "";
  /** Heading levels by the number of the style. */
  readonly #headings = new Map<string, number>();
  #styleName = "";
  #styleNumber = "0";
  readonly #facts: Record<string, string> = {};
  #created: string | null = null;
  #date: Record<string, number> = {};
  readonly #fields: { address: string | null; instruction: string; from: number; depth: number }[] = [];
  #rows: TableCell[][] = [];
  #cells: string[] = [];
  #cellHtml = "";

  constructor(blocks: Blocks) {
    this.#blocks = blocks;
  }

  token(kind: "open" | "close" | "word" | "text" | "byte", word: string, value: number | null): void {
    if (kind === "open") this.#openGroup();
    else if (kind === "close") this.#closeGroup();
    else if (kind === "word") this.#word(word, value);
    else if (kind === "byte") this.#add(this.#text.byte(value ?? 0));
    else this.#add(this.#text.plain(word));
  }

  end(): DocumentFacts {
    this.#endParagraph();
    this.#endTable();
    this.#blocks.endLists();
    const { title = null, author, subject = null, keywords = null } = this.#facts;
    return {
      title,
      authors: author === undefined ? [] : [author],
      description: subject,
      keywords,
      created: this.#created,
    };
  }

  #openGroup(): void {
    if (this.#groups.length > MAX_DEPTH) return;
    this.#text.push();
    this.#groups.push({ ...this.#groups.at(-1)!, name: "" });
  }

  #closeGroup(): void {
    if (this.#groups.length <= 1) return;
    this.#text.pop();
    const { to, name } = this.#groups.pop()!;
    if (to === "styles" && this.#styleName !== "") this.#endStyle();
    if (name === "creatim") this.#created = dateOf(this.#date);
    if (name === "fldinst") this.#endInstruction();
    const field = this.#fields.at(-1);
    if (field !== undefined && field.depth === this.#groups.length) {
      this.#fields.pop();
      if (field.address !== null && field.from <= this.#html.length)
        this.#html = this.#html.slice(0, field.from) + linked(this.#html.slice(field.from), field.address);
    }
  }

  #add(text: string): void {
    if (text === "") return;
    const { to, name, isHidden } = this.#groups.at(-1)!;
    if (isHidden) return;
    if (to === "text") this.#html += escapeText(text);
    else if (to === "mark") this.#mark += text;
    else if (to === "styles") this.#styleName += text;
    else if (to === "fact") this.#facts[name] = ((this.#facts[name] ?? "") + text).slice(0, 2000);
    else if (to === "field" && this.#fields.length > 0) this.#fields.at(-1)!.instruction += text.slice(0, 4000);
  }

  #word(word: string, value: number | null): void {
    const group = this.#groups.at(-1)!;
    if (word === "*") {
      // An optional group that is not known is left out; known ones name themselves next.
      if (group.to === "text") group.to = "nowhere";
      return;
    }
    if (DESTINATIONS.has(word)) {
      group.to = "nowhere";
      return;
    }
    if (this.#text.control(word, value, group.to === "fonts")) return this.#add(this.#text.taken());
    if (this.#destination(word, value, group)) return;
    if (word === "s" && group.to === "styles") this.#styleNumber = String(value ?? 0);
    if (/^(?:yr|mo|dy|hr|min)$/.test(word)) this.#date[word] = value ?? 0;
    if (group.to !== "text") return;
    if (CHARACTERS[word] !== undefined) this.#add(CHARACTERS[word]);
    else if (word === "line") this.#html += "<br>";
    else if (word === "par" || word === "sect" || word === "page") this.#endParagraph();
    else if (word === "cell" || word === "nestcell") this.#endCell();
    else if (word === "row" || word === "nestrow") this.#endRow();
    else this.#paragraphWord(word, value);
  }

  /** Words that say what the rest of their group is. */
  #destination(word: string, value: number | null, group: Group): boolean {
    if (word === "stylesheet") group.to = "styles";
    else if (word === "fonttbl") group.to = "fonts";
    else if ((word === "v" || word === "deleted") && group.to === "text") group.isHidden = value !== 0;
    else if (word === "plain") group.isHidden = false;
    else if (word === "info") group.to = "nowhere";
    else if (word === "ud") group.isUnicode = true;
    else if (word === "listtext" || word === "pntext") {
      group.to = "mark";
      this.#mark = "";
    } else if (word === "fldinst") {
      group.to = "field";
      group.name = "fldinst";
    } else if (word === "field")
      this.#fields.push({ address: null, instruction: "", from: this.#html.length, depth: this.#groups.length - 1 });
    else if (word === "fldrslt") group.to = "text";
    else if (word === "creatim") {
      group.name = word;
      this.#date = {};
    } else if (FACTS.has(word) && group.to === "nowhere") {
      if (group.isUnicode) delete this.#facts[word];
      // Some programs write the author twice.
      group.to = this.#facts[word] === undefined ? "fact" : "nowhere";
      group.name = word;
    } else return false;
    return true;
  }

  #paragraphWord(word: string, value: number | null): void {
    const paragraph = this.#paragraph;
    if (word === "pard") this.#paragraph = { ...PLAIN };
    else if (word === "s") paragraph.style = String(value ?? 0);
    else if (word === "outlinelevel") paragraph.outline = value;
    else if (word === "ls") paragraph.isItem = (value ?? 0) > 0;
    else if (word === "ilvl") paragraph.level = value ?? 0;
    else if (word === "intbl") paragraph.inTable = true;
  }

  #endInstruction(): void {
    const field = this.#fields.at(-1);
    if (field !== undefined) {
      field.address = /HYPERLINK\s+"([^"]+)"/i.exec(field.instruction)?.[1] ?? null;
      field.from = this.#html.length;
    }
  }

  #endStyle(): void {
    const level = /^(?:heading|überschrift) (\d)/i.exec(this.#styleName.trim())?.[1];
    if (level !== undefined) this.#headings.set(this.#styleNumber, Number(level));
    else if (/^title;?$/i.test(this.#styleName.trim())) this.#headings.set(this.#styleNumber, 1);
    this.#styleName = "";
    this.#styleNumber = "0";
  }

  #endParagraph(): void {
    const html = this.#html.trim();
    this.#html = "";
    const mark = this.#mark.trim();
    this.#mark = "";
    const { style, outline, isItem, level, inTable } = this.#paragraph;
    if (inTable) {
      this.#cellHtml += this.#cellHtml === "" || html === "" ? html : `<br>${html}`;
      return;
    }
    this.#endTable();
    if (html === "") return;
    const heading = outline !== null && outline < 9 ? outline + 1 : (this.#headings.get(style ?? "") ?? null);
    if (heading !== null) this.#blocks.heading(heading, html);
    else if (isItem || mark !== "") this.#blocks.item(level, /^[0-9a-z]{1,4}[.)]/i.test(mark), html);
    else this.#blocks.paragraph(html);
  }

  #endCell(): void {
    const html = this.#html.trim();
    this.#html = "";
    this.#mark = "";
    this.#cells.push([this.#cellHtml, html].filter((part) => part !== "").join("<br>"));
    this.#cellHtml = "";
  }

  #endRow(): void {
    if (this.#cells.length > 0) this.#rows.push(this.#cells.map((html) => ({ html })));
    this.#cells = [];
  }

  #endTable(): void {
    this.#endRow();
    if (this.#rows.length > 0) this.#blocks.table(this.#rows, 1);
    this.#rows = [];
  }
}

function dateOf({ yr, mo = 1, dy = 1, hr = 0, min = 0 }: Record<string, number>): string | null {
  if (yr === undefined || yr < 1900) return null;
  const two = (value: number) => String(value).padStart(2, "0");
  return `${yr}-${two(mo)}-${two(dy)}T${two(hr)}:${two(min)}:00`;
}
