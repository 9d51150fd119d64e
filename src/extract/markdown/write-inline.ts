/** Writes tokens as the text of a paragraph, heading or cell. */
import { escapeLineStart, escapeText } from "./escape.ts";
import { chooseMarks } from "./emphasis.ts";
import type { InlineOptions, Token } from "./tokens.ts";
import { codeSpan } from "./code.ts";
import { destination } from "./destination.ts";
import { movePunctuationOut } from "./punctuation.ts";

const NO_MARKS: ReadonlyMap<number, string> = new Map();

export function writeInline(input: Token[], options: InlineOptions): string {
  const isMarked = input.some((token) => token.kind === "open" && token.mark.kind !== "link");
  const tokens = isMarked ? movePunctuationOut(input) : input;
  const marks = isMarked ? chooseMarks(tokens) : NO_MARKS;
  const tildes = holdsTwoTildes(tokens);
  let out = "";
  let inLink = false;
  for (const [index, token] of tokens.entries()) {
    switch (token.kind) {
      case "text": {
        const escaped = escapeText(token.text, { inLink, tildes, dollars: options.dollars, next: tokens[index + 1] });
        const isStart = options.mode === "block" && (index === 0 || tokens[index - 1]?.kind === "break");
        out += isStart ? escapeLineStart(escaped) : escaped;
        break;
      }
      case "code":
        out += codeSpan(token.text, { inCell: options.mode === "cell", inLink });
        break;
      case "raw":
        out += token.text;
        break;
      case "break":
        out += options.mode === "cell" ? "<br>" : "  \n";
        break;
      default: {
        const mark = marks.get(index);
        if (mark !== undefined) {
          out += mark;
          break;
        }
        inLink = token.kind === "open";
        out += inLink ? "[" : `](${destination(token.mark.href)})`;
      }
    }
  }
  if (options.mode === "heading") return escapeHeadingEnd(out);
  return options.mode === "cell" ? out.replaceAll("|", "\\|") : out;
}

/** A single tilde, as in `~5`, cannot form a strikethrough. */
function holdsTwoTildes(tokens: readonly Token[]): boolean {
  let count = 0;
  for (const token of tokens) {
    if (token.kind === "open" && token.mark.kind === "del") return true;
    if (token.kind !== "text") continue;
    const first = token.text.indexOf("~");
    if (first < 0) continue;
    count += token.text.includes("~", first + 1) ? 2 : 1;
    if (count > 1) return true;
  }
  return false;
}

/** `# C #` parses as `C`. */
function escapeHeadingEnd(text: string): string {
  return text.endsWith("#") ? text.replace(/(^|\s)(#+)$/, "$1\\$2") : text;
}
