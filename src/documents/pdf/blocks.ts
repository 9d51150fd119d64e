/** Headings, paragraphs, lists and tables of a page, from its lines. */
import { escapeText, linked } from "../html.ts";
import type { Blocks } from "../formats/blocks.ts";
import { type ListMark, type ListNumbers, markOf } from "./list-marks.ts";
import type { Segment } from "./pieces.ts";
import { type Row, rowsOf, tableAt } from "./tables.ts";

/** What headings look like in this document. */
export interface PdfStyle {
  /** The font size of most text. */
  bodySize: number;
  /** 1 to 6; null: the line is no heading. */
  headingLevel(line: Line): number | null;
  /** Whether a word is written with this hyphen elsewhere in the document. */
  isCompound(word: string): boolean;
  /** Of the whole document. */
  listNumbers: ListNumbers;
}

export interface Line {
  segments: Segment[];
  text: string;
  x: number;
  right: number;
  y: number;
  size: number;
  isBold: boolean;
}

export function lineOf(row: Row): Line {
  const [first] = row;
  const longest = row.reduce((best, segment) => (segment.text.length > best.text.length ? segment : best), first!);
  return {
    segments: row,
    text: row.map(({ text }) => text.trim()).join(" "),
    x: first!.x,
    right: Math.max(...row.map(({ right }) => right)),
    y: first!.y,
    size: longest.size,
    isBold: row.every(({ isBold }) => isBold),
  };
}

/** Adds the blocks of a region of one column. */
export function addRegion(segments: readonly Segment[], style: PdfStyle, blocks: Blocks): void {
  const rows = rowsOf(segments);
  const region = new Region(style, blocks, Math.max(...segments.map(({ right }) => right)));
  for (let index = 0; index < rows.length;) {
    const table = tableAt(rows, index);
    if (table === null) {
      region.line(lineOf(rows[index]!));
      index += 1;
      continue;
    }
    region.end();
    const cells = table.cells.map((row) => row.map((cell) => ({ html: joined(cell.map(markupOf), cell, style) })));
    blocks.table(cells, 1);
    index += table.taken;
  }
  region.end();
}

type Kind = "paragraph" | "heading" | "item";

class Region {
  readonly #style: PdfStyle;
  readonly #blocks: Blocks;
  readonly #right: number;
  #lines: Line[] = [];
  #kind: Kind = "paragraph";
  #level = 0;
  /** Of the item that is open. */
  #mark: ListMark | null = null;
  #number: number | null = null;
  /** The left edges of the list levels that are open. */
  #indents: number[] = [];

  constructor(style: PdfStyle, blocks: Blocks, right: number) {
    this.#style = style;
    this.#blocks = blocks;
    this.#right = right;
  }

  line(line: Line): void {
    if (line.text.trim() === "") return;
    const level = this.#style.headingLevel(line);
    const last = this.#lines.at(-1);
    const goesOn = last !== undefined && this.#goesOn(last, line, level);
    const mark = level === null ? this.#markOf(line, goesOn) : null;
    if (!goesOn || mark !== null) {
      this.end();
      this.#kind = level !== null ? "heading" : mark !== null ? "item" : "paragraph";
      this.#level = level ?? 0;
      this.#mark = mark;
      this.#number = mark === null ? null : this.#style.listNumbers.next(mark);
      const begins = level === null ? markOf(line.text.trimStart()) : null;
      if (begins !== null) this.#style.listNumbers.keep(begins);
    }
    this.#lines.push(line);
  }

  /** Null: the line has no mark, or is within a sentence that happens to have a number or a dash there. */
  #markOf(line: Line, goesOn: boolean): ListMark | null {
    const mark = markOf(line.text.trimStart());
    if (mark === null || mark.isSure) return mark;
    const isNumber = mark.numbers.length > 0;
    if (isNumber && this.#style.listNumbers.next(mark) === null) return null;
    if (!goesOn) return mark;
    const [first] = this.#lines;
    if (this.#kind === "item" && Math.abs(line.x - first!.x) < 0.5 * line.size) return mark;
    return /[.!?:;]["”)]?$/.test(this.#lines.at(-1)!.text.trim()) ? mark : null;
  }

  #goesOn(last: Line, line: Line, level: number | null): boolean {
    const gap = line.y - last.y;
    const size = Math.max(last.size, line.size);
    if (gap > 1.75 * size || gap < 0) return false;
    if (level !== null) return this.#kind === "heading" && level === this.#level && gap < 1.5 * size;
    if (this.#kind === "heading") return false;
    if (Math.abs(last.size - line.size) > 0.15 * size) return false;
    if (this.#kind === "item") return line.x > this.#lines[0]!.x + 0.3 * size && gap < 1.6 * size;
    return !this.#isNewParagraph(last, line, size);
  }

  #isNewParagraph(last: Line, line: Line, size: number): boolean {
    const pitch = this.#lines.length > 1 ? last.y - this.#lines.at(-2)!.y : null;
    if (pitch !== null && line.y - last.y > 1.25 * pitch) return true;
    const isIndented =
      line.x - last.x > 0.8 * size && line.x - this.#lines[0]!.x > 0.8 * size && this.#lines.length > 1;
    const endsShort = this.#right - last.right > 0.2 * (this.#right - last.x) && /[.!?:”"]$/.test(last.text.trim());
    return isIndented || (endsShort && last.right < line.right);
  }

  end(): void {
    const lines = this.#lines;
    if (lines.length === 0) return;
    this.#lines = [];
    const segments = lines.flatMap((line) => line.segments);
    const parts = segments.map(markupOf);
    if (this.#kind === "item") {
      this.#item(lines[0]!, parts, segments);
      return;
    }
    this.#indents = [];
    const html = joined(parts, segments, this.#style);
    if (this.#kind === "heading") this.#blocks.heading(this.#level, html);
    else this.#blocks.paragraph(html);
  }

  #item(first: Line, parts: string[], segments: readonly Segment[]): void {
    const { x, size } = first;
    this.#indents = this.#indents.filter((indent) => indent < x + 0.5 * size);
    if (this.#indents.length === 0 || x > this.#indents.at(-1)! + 0.5 * size) this.#indents.push(x);
    // The mark may be a segment of its own, or the start of the first one.
    let left = this.#mark?.length ?? 0;
    const texts = segments.map((segment, index) => {
      if (left === 0) return parts[index]!;
      const trimmed = segment.text.trimStart();
      const cut = Math.min(left, trimmed.length);
      left -= cut;
      return markupOf({ ...segment, pieces: withoutStart(segment, cut) });
    });
    const isOrdered = (this.#mark?.numbers.length ?? 0) > 0;
    const html = joined(texts, segments, this.#style).trim();
    this.#blocks.item(this.#indents.length - 1, isOrdered, html, this.#number);
  }
}

function withoutStart(segment: Segment, length: number): Segment["pieces"] {
  let left = length + (segment.text.length - segment.text.trimStart().length);
  return segment.pieces.flatMap((piece) => {
    const cut = Math.min(left, piece.text.length);
    left -= cut;
    return cut === piece.text.length ? [] : [{ ...piece, text: piece.text.slice(cut) }];
  });
}

function markupOf({ pieces }: Pick<Segment, "pieces">): string {
  let html = "";
  for (let index = 0; index < pieces.length;) {
    const { link } = pieces[index]!;
    let text = "";
    for (; index < pieces.length && pieces[index]!.link === link; index += 1) text += pieces[index]!.text;
    const [, before = "", word = "", after = ""] = /^(\s*)([^]*?)(\s*)$/.exec(text) ?? [];
    html += escapeText(before) + linked(escapeText(word), link) + escapeText(after);
  }
  return html.trim();
}

const BROKEN_WORD = /(\p{Ll}+)[-‐]$/u;

/** Lines of one paragraph as one text: a word that was divided at the end of a line is whole again. */
function joined(parts: readonly string[], segments: readonly Segment[], style: PdfStyle): string {
  let html = "";
  for (const [index, part] of parts.entries()) {
    if (index === 0 || html === "") {
      html = part;
      continue;
    }
    const before = segments[index - 1]!;
    const next = segments[index]!.text.trimStart();
    const isOtherLine = Math.abs(before.y - segments[index]!.y) > 0.5 * before.size;
    if (isOtherLine && html.endsWith("\u00ad")) html = html.slice(0, -1) + part;
    else if (isOtherLine && isDivided(before.text.trimEnd(), next, style)) html = html.replace(/[-‐]$/u, "") + part;
    else if (isOtherLine && /\p{L}[-‐]$/u.test(before.text.trimEnd())) html += part;
    else html += needsNoSpace(html, part) ? part : ` ${part}`;
  }
  return html.replaceAll("\u00ad", "");
}

function isDivided(line: string, next: string, style: PdfStyle): boolean {
  const start = BROKEN_WORD.exec(line)?.[1];
  const rest = /^\p{Ll}+/u.exec(next)?.[0];
  return start !== undefined && rest !== undefined && !style.isCompound(`${start}-${rest}`);
}

/** Chinese and Japanese have no spaces. */
function needsNoSpace(before: string, after: string): boolean {
  const wide = /[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]/;
  return wide.test(before.at(-1) ?? "") && wide.test(after[0] ?? "");
}
