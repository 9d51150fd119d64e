/** Walks the tree and writes each element as Markdown. */
import { type Element, following, type Node } from "../dom/nodes.ts";
import { isBlock } from "../dom/text.ts";
import { codeBlock, laidOutText, preformatted } from "./code.ts";
import { type Formula, formulaAt, formulaText } from "./formula.ts";
import type { Mark, MarkKind } from "./tokens.ts";
import { writeLink } from "./link.ts";
import { writeList } from "./list.ts";
import { writeFallbackPictures, writePicture } from "./picture.ts";
import { playerAt } from "./player.ts";
import { isRaised } from "./superscript.ts";
import { writeTable } from "./table.ts";
import { joinBlocks, type Render, type Writer } from "./writer.ts";

const MARKS: Partial<Record<string, MarkKind>> = {
  strong: "strong",
  b: "strong",
  em: "em",
  i: "em",
  cite: "em",
  del: "del",
  s: "del",
  strike: "del",
};

export const render: Render = { inside, visit };

function inside(element: Element, writer: Writer): void {
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 3) writer.inline.text(node.data);
    else visit(node, writer);
  }
}

function visit(element: Element, writer: Writer): void {
  const { conversion, inline } = writer;
  const formula = formulaAt(element);
  if (formula !== null) {
    if (formula !== "drawn" && conversion.wants(element)) writeFormula(formula, writer);
    return;
  }
  if (conversion.keeps(element, inline.codeDepth > 0)) write(element, writer);
  else writeInvisible(element, writer);
}

/** Writes the element regardless of `keeps`. */
export function write(element: Element, writer: Writer): void {
  const { name } = element.tag;
  const { inline } = writer;
  const kind = MARKS[name];
  if (kind !== undefined) {
    if (isEmphasis(element)) writeMarked(element, writer, kind);
    else inside(element, writer);
    return;
  }
  switch (name) {
    case "a":
      writeLink(element, writer, render);
      break;
    case "br":
      inline.break();
      break;
    case "img":
      writePicture(element, writer);
      break;
    case "code":
    case "kbd":
    case "samp":
    case "tt":
      inline.startCode();
      inside(element, writer);
      inline.endCode();
      break;
    case "sup":
    case "sub":
      if (isRaised(element)) writeMarked(element, writer, name);
      else inside(element, writer);
      break;
    case "q":
      inline.text("“");
      inside(element, writer);
      inline.text("”");
      break;
    default:
      if (!isBlock(element)) inside(element, writer);
      else if (writer.mode === "block") writeBlock(element, writer);
      else writeAsLine(element, writer);
  }
}

const MAX_EMPHASIS = 300;
const MAX_SEARCHED = 1000;

/** An unclosed tag around the rest of the page is not emphasis. */
function isEmphasis(element: Element): boolean {
  let holdsBlocks = false;
  let length = 0;
  let searched = 0;
  for (let node = element.first; node !== null && searched < MAX_SEARCHED; node = nextIn(node, element)) {
    searched += 1;
    if (node.kind === 3) length += node.sourceLength;
    else holdsBlocks ||= node.tag.name !== "br" && isBlock(node);
    if (holdsBlocks && length > MAX_EMPHASIS) return false;
  }
  return true;
}

function nextIn(node: Node, within: Element): Node | null {
  return (node.kind === 1 ? node.first : null) ?? following(node, within);
}

function writeMarked(element: Element, writer: Writer, kind: MarkKind): void {
  const mark: Mark = { kind, href: "", written: false };
  writer.inline.open(mark);
  inside(element, writer);
  writer.inline.close(mark);
}

function writeBlock(element: Element, writer: Writer): void {
  const { name } = element.tag;
  switch (name) {
    case "h1":
    case "h2":
    case "h3":
    case "h4":
    case "h5":
    case "h6":
      writeHeading(element, writer);
      break;
    case "hr":
      writer.add({ kind: "rule", text: "---" });
      break;
    case "pre":
      writePreformatted(element, writer);
      break;
    case "ul":
    case "ol":
      writeList(element, writer, render);
      break;
    case "blockquote":
      writeQuote(element, writer);
      break;
    case "table":
      writeTable(element, writer, render);
      break;
    default: {
      writer.endParagraph();
      if (isTitle(element)) writeMarked(element, writer, "strong");
      else inside(element, writer);
      writer.endParagraph();
    }
  }
}

/** Terms, and titles of collapsible parts without a heading inside. */
function isTitle(element: Element): boolean {
  const { name } = element.tag;
  if (name === "dt") return true;
  if (name !== "summary" && name !== "legend") return false;
  for (let node = element.first; node !== null; node = node.next)
    if (node.kind === 1 && node.tag.rule === "heading") return false;
  return true;
}

function writeHeading(element: Element, writer: Writer): void {
  writer.endParagraph();
  const inner = writer.nested("heading");
  const link = writer.conversion.headingLinks.get(element);
  if (link !== undefined) inner.inline.open(link);
  inside(element, inner);
  const text = inner.line();
  if (text !== "") writer.add({ kind: "other", text: `${"#".repeat(Number(element.tag.name[1]))} ${text}` });
}

function writePreformatted(element: Element, writer: Writer): void {
  const text = laidOutText(element, writer.conversion.resolve) ?? codeBlock(element);
  if (text === null) writer.endParagraph();
  else writer.add({ kind: "other", text });
}

function writeQuote(element: Element, writer: Writer): void {
  writer.endParagraph();
  const inner = writer.nested("block");
  inside(element, inner);
  const blocks = inner.end();
  if (blocks.length === 0) return;
  writer.add({
    kind: "other",
    text: joinBlocks(blocks)
      .replace(/^(?=.)/gm, "> ")
      .replace(/^$/gm, ">"),
  });
}

/** Headings and cells are limited to a single line. */
function writeAsLine(element: Element, writer: Writer): void {
  const { inline } = writer;
  inline.boundary();
  if (element.tag.name === "pre") {
    for (const line of preformatted(element).split("\n")) {
      inline.codeLine(line);
      inline.boundary();
    }
  } else inside(element, writer);
  inline.boundary();
}

function writeFormula(formula: Formula, writer: Writer): void {
  const { inline, mode } = writer;
  const text = formulaText(formula);
  // A dollar sign inside the TeX would end the formula.
  if (formula.tex === null || formula.tex.includes("$")) inline.text(formula.tex ?? text);
  else if (mode === "cell") inline.raw(text.replaceAll("\\|", "\\Vert ").replaceAll("|", "\\vert "));
  else if (formula.isDisplay && mode === "block") writer.add({ kind: "paragraph", text });
  else inline.raw(text);
}

/** Elements without visible text that still carry content. */
function writeInvisible(element: Element, writer: Writer): void {
  const { conversion, inline } = writer;
  switch (element.tag.name) {
    case "input":
      if (isTask(element, writer)) writer.isDone = element.attr("checked") !== undefined;
      break;
    case "noscript":
      if (conversion.wants(element)) writeFallbackPictures(element, writer);
      break;
    case "iframe":
    case "video":
    case "audio": {
      const player = conversion.wants(element) ? playerAt(element, conversion.resolve) : null;
      if (player === null) break;
      const mark: Mark = { kind: "link", href: player.href, written: false };
      inline.boundary();
      inline.open(mark);
      inline.text(player.text);
      inline.close(mark);
      inline.boundary();
    }
  }
}

/** Task list items have disabled checkboxes; enabled ones belong to a form. */
function isTask(input: Element, { item, inline, blocks }: Writer): boolean {
  if (item === null || blocks.length > 0 || !inline.isEmpty || input.attr("type") !== "checkbox") return false;
  return input.attr("disabled") !== undefined || /\btask/.test(item.attr("class") ?? "");
}
