/** The text of an article: an empty line between paragraphs, one line per list item and table row. */
import { type Element, MAX_TEXT } from "../dom/nodes.ts";
import { isBlock, oneSpaced } from "../dom/text.ts";
import { preformatted } from "../markdown/code.ts";
import { type Formula, formulaAt, formulaText } from "../markdown/formula.ts";
import { isRaised, raisedText } from "../markdown/superscript.ts";

const LINES = new Set(["li", "tr", "dt", "dd", "br", "option", "caption"]);
const CELLS = new Set(["td", "th"]);
/** White space within a line other than a single space. */
export const UNEVEN_IN_LINE = /[^\S\n ][^\S\n]*| [^\S\n]+/g;

/** `onLine`: gets the block of every line that is not blank. */
export function toPlainText(
  element: Element,
  keep: (element: Element) => boolean,
  onLine?: (block: Element) => void,
): string {
  const writer = new Writer(element, onLine);
  new Reader(keep, writer).inside(element);
  return writer.finish();
}

class Writer {
  #out = "";
  #line = "";
  #gap = "";

  #budget = MAX_TEXT;
  /** The block that is being written. */
  block: Element;
  /** The block in which the line began. */
  #owner: Element | null = null;
  readonly #onLine: ((block: Element) => void) | undefined;

  constructor(root: Element, onLine?: (block: Element) => void) {
    this.block = root;
    this.#onLine = onLine;
  }

  text(text: string): void {
    this.#budget -= text.length;
    if (this.#budget < 0) return;
    this.#line += text;
    if (this.#owner === null && /\S/.test(text)) this.#owner = this.block;
  }

  get isAfterWord(): boolean {
    return /\S$/.test(this.#line);
  }

  /** Ends the line; the strongest break between two texts wins. */
  break(gap: "\n" | "\n\n"): void {
    const line = this.#line.replace(UNEVEN_IN_LINE, " ").trim();
    this.#line = "";
    const owner = this.#owner ?? this.block;
    this.#owner = null;
    if (line !== "") {
      this.#tell(line, owner);
      this.#out += (this.#out === "" ? "" : this.#gap) + line;
      this.#gap = gap;
    } else if (gap.length > this.#gap.length) this.#gap = gap;
  }

  verbatim(text: string, block: Element): void {
    this.break("\n\n");
    this.#budget -= text.length;
    if (this.#budget < 0 || text.trim() === "") return;
    this.#tell(text, block);
    this.#out += (this.#out === "" ? "" : "\n\n") + text;
    this.#gap = "\n\n";
  }

  #tell(text: string, block: Element): void {
    if (this.#onLine === undefined) return;
    for (const line of text.split("\n")) if (line.trim() !== "") this.#onLine(block);
  }

  finish(): string {
    this.break("\n");
    return this.#out;
  }
}

class Reader {
  readonly #keep: (element: Element) => boolean;
  readonly #writer: Writer;

  constructor(keep: (element: Element) => boolean, writer: Writer) {
    this.#keep = keep;
    this.#writer = writer;
  }

  inside(element: Element): void {
    for (let node = element.first; node !== null; node = node.next) {
      if (node.kind === 3) this.#writer.text(oneSpaced(node.data));
      else this.#visit(node);
    }
  }

  #visit(element: Element): void {
    const formula = formulaAt(element);
    if (formula !== null) {
      if (formula !== "drawn") this.#formula(formula);
      return;
    }
    if (!this.#keep(element)) return;
    const { name } = element.tag;
    const writer = this.#writer;
    const outer = writer.block;
    if (name === "pre") writer.verbatim(preformatted(element), element);
    else if (CELLS.has(name)) {
      this.inside(element);
      writer.text(" ");
    } else if (isBlock(element)) {
      const gap = LINES.has(name) ? "\n" : "\n\n";
      writer.break(gap);
      writer.block = element;
      this.inside(element);
      writer.break(gap);
      writer.block = outer;
    } else if (name === "q") {
      writer.text("“");
      this.inside(element);
      writer.text("”");
    } else if (name === "sup" && writer.isAfterWord && isRaised(element)) writer.text(raisedText(element));
    else this.inside(element);
  }

  #formula(formula: Formula): void {
    if (formula.isDisplay) this.#writer.break("\n\n");
    this.#writer.text(formulaText(formula));
    if (formula.isDisplay) this.#writer.break("\n\n");
  }
}
