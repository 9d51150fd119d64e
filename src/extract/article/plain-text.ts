/** The text of an article: paragraphs apart by an empty line, list items and table rows each on a line. */
import { type Element, MAX_TEXT } from "../dom/nodes.ts";
import { isBlock, oneSpaced } from "../dom/text.ts";

const LINES = new Set(["li", "tr", "dt", "dd", "br", "option", "caption"]);
const CELLS = new Set(["td", "th"]);
/** White space within a line that is not one space. */
export const UNEVEN_IN_LINE = /[^\S\n ][^\S\n]*| [^\S\n]+/g;

export function toPlainText(element: Element, keep: (element: Element) => boolean): string {
  const writer = new Writer();
  visit(element, keep, writer);
  return writer.finish();
}

class Writer {
  #out = "";
  #line = "";
  #gap = "";

  #room = MAX_TEXT;

  text(text: string): void {
    this.#room -= text.length;
    if (this.#room >= 0) this.#line += text;
  }

  /** Ends the line; the strongest of the breaks between two pieces of text counts. */
  break(gap: "\n" | "\n\n"): void {
    const line = this.#line.replace(UNEVEN_IN_LINE, " ").trim();
    this.#line = "";
    if (line !== "") {
      this.#out += (this.#out === "" ? "" : this.#gap) + line;
      this.#gap = gap;
    } else if (gap.length > this.#gap.length) this.#gap = gap;
  }

  verbatim(text: string): void {
    this.break("\n\n");
    this.#room -= text.length;
    if (this.#room < 0 || text.trim() === "") return;
    this.#out += (this.#out === "" ? "" : "\n\n") + text.replace(/^\n+|\s+$/g, "");
    this.#gap = "\n\n";
  }

  finish(): string {
    this.break("\n");
    return this.#out;
  }
}

function visit(element: Element, keep: (element: Element) => boolean, writer: Writer): void {
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 3) {
      writer.text(oneSpaced(node.data));
      continue;
    }
    if (!keep(node)) continue;
    const { name } = node.tag;
    if (name === "pre") writer.verbatim(rawCode(node));
    else if (CELLS.has(name)) {
      visit(node, keep, writer);
      writer.text(" ");
    } else if (isBlock(node)) {
      const gap = LINES.has(name) ? "\n" : "\n\n";
      writer.break(gap);
      visit(node, keep, writer);
      writer.break(gap);
    } else visit(node, keep, writer);
  }
}

function rawCode(element: Element): string {
  let out = "";
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 3) out += node.data;
    else if (node.tag.name === "br") out += "\n";
    else out += rawCode(node);
  }
  return out;
}
