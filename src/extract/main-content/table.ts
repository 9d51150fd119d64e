/** The table of all features: a row per block. What several blocks share is computed once. */
import type { Block } from "./blocks.ts";
import { type Box, FAR, TAGS } from "./boxes.ts";
import { BESIDE, LEVELS, LONG, OWN_COLUMNS, type PageContext, REACHES, READERS, share, SIGNALS } from "./columns.ts";
import type { Grid } from "./grids.ts";
import { MARK_NAMES } from "./marks.ts";
import { ancestriesOf } from "./ancestry.ts";
import type { Survey } from "./survey.ts";

/** The features of all blocks, with `extra` empty columns at the end of a row. */
export function readTable(
  page: Survey,
  context: PageContext,
  extra: number,
  table: Float32Array = new Float32Array(sizeOf(page, extra)),
): Float32Array {
  const width = OWN_COLUMNS.length + extra;
  const writer = new Writer(page, context, table);
  for (let index = 0; index < page.blocks.length; index += 1) writer.write(page.blocks[index]!, index, index * width);
  return table;
}

/** Numbers in the table. */
export function sizeOf({ blocks }: Survey, extra: number): number {
  return blocks.length * (OWN_COLUMNS.length + extra);
}

const MARKS = MARK_NAMES.length;
const AROUND = READERS.around.length;
/** Where each group of columns begins in a row. */
const PAGE_AT = READERS.own.length;
const GRIDS_AT = PAGE_AT + READERS.page.length;
const BESIDE_AT = GRIDS_AT + 2 * READERS.grid.length;
const AROUND_AT = BESIDE_AT + 3 * (BESIDE.length + REACHES.length);
const MARKS_AT = AROUND_AT + LEVELS * AROUND;
const TAGS_AT = MARKS_AT + 2 * MARKS;
const SIGNALS_AT = TAGS_AT + TAGS.length;

class Writer {
  readonly #page: Survey;
  readonly #context: PageContext;
  readonly #table: Float32Array;
  readonly #ancestries: ReturnType<typeof ancestriesOf>;
  /** A row with what is the same for all blocks, and without any mark or tag. */
  readonly #template: Float32Array;
  /** At `AROUND * Box.at`, and by `Box.at` whether they are there. */
  readonly #around: Float32Array;
  readonly #hasAround: Uint8Array;
  readonly #grids = new Map<Grid, readonly number[]>();

  constructor(page: Survey, context: PageContext, table: Float32Array) {
    this.#page = page;
    this.#context = context;
    this.#table = table;
    this.#ancestries = ancestriesOf(page);
    this.#around = new Float32Array(AROUND * page.boxes.length);
    this.#hasAround = new Uint8Array(page.boxes.length);
    this.#template = templateOf(page, context);
  }

  write(block: Block, index: number, from: number): void {
    const { box } = block;
    const ancestry = this.#ancestries[box.at]!;
    this.#table.set(this.#template, from);
    this.#writeOwn(block, index, from, ancestry);
    this.#writeGrids(ancestry.outer, ancestry.inner, from + GRIDS_AT);
    this.#writeBeside(index, from + BESIDE_AT);
    this.#writeAround(box, from + AROUND_AT);
    this.#writeLevels(box, from);
  }

  #writeOwn(block: Block, index: number, from: number, ancestry: ReturnType<typeof ancestriesOf>[number]): void {
    const { box } = block;
    const [page, context, table] = [this.#page, this.#context, this.#table];
    const shape = page.shapes[index]!;
    const small = block.words > LONG ? "" : block.text.toLowerCase();
    const view = { page, context, index, block, box, tag: box.element.tag.name, ancestry, shape, small };
    const { own } = READERS;
    for (let column = 0; column < own.length; column += 1) table[from + column] = own[column]!(view);
  }

  #writeGrids(outer: Grid, inner: Grid, from: number): void {
    const [outside, inside] = [this.#gridValues(outer), this.#gridValues(inner)];
    const table = this.#table;
    for (let at = 0; at < outside.length; at += 1) {
      table[from + 2 * at] = outside[at]!;
      table[from + 2 * at + 1] = inside[at]!;
    }
  }

  #gridValues(grid: Grid): readonly number[] {
    let values = this.#grids.get(grid);
    if (values === undefined) this.#grids.set(grid, (values = READERS.grid.map((read) => read(grid, this.#page))));
    return values;
  }

  #writeBeside(index: number, from: number): void {
    const { blocks, wordsBefore, linksBefore, sentencesBefore } = this.#page;
    const table = this.#table;
    let at = from;
    for (const offset of BESIDE) {
      const other = blocks[index + offset];
      // Without a block there, zeros of the template stay.
      if (other !== undefined) {
        table[at] = other.words;
        table[at + 1] = share(other.linkWords, other.words);
        table[at + 2] = other.sentences;
      }
      at += 3;
    }
    for (const reach of REACHES) {
      const to = Math.min(blocks.length, index + reach + 1);
      const first = Math.max(0, index - reach);
      const words = wordsBefore[to]! - wordsBefore[first]!;
      table[at] = words / reach;
      table[at + 1] = share(linksBefore[to]! - linksBefore[first]!, words);
      table[at + 2] = (sentencesBefore[to]! - sentencesBefore[first]!) / reach;
      at += 3;
    }
  }

  #writeAround(box: Box, from: number): void {
    const [table, around, { body }] = [this.#table, this.#around, this.#page];
    let up: Box | null = box;
    for (let level = 0; level < LEVELS; level += 1) {
      const values = this.#aroundAt(up ?? body);
      const begin = from + level * AROUND;
      for (let at = 0; at < AROUND; at += 1) table[begin + at] = around[values + at]!;
      if (up !== null) up = this.#ancestries[up.at]!.above;
    }
  }

  #aroundAt(box: Box): number {
    const from = AROUND * box.at;
    if (this.#hasAround[box.at] === 0) {
      this.#hasAround[box.at] = 1;
      const { around } = READERS;
      for (let at = 0; at < AROUND; at += 1) this.#around[from + at] = around[at]!(box, this.#page);
    }
    return from;
  }

  /** The levels up to the nearest box with each mark and its share of the page's words, and those to each tag. */
  #writeLevels(box: Box, from: number): void {
    const [table, pageWords] = [this.#table, this.#page.words];
    const [marksAt, tagsAt] = [from + MARKS_AT, from + TAGS_AT];
    let [marks, tags] = [0, 0];
    let up: Box | null = box;
    for (let level = 0; up !== null && level < FAR; level += 1, up = up.parent) {
      for (let left = up.marks & ~marks; left !== 0; left &= left - 1) {
        const at = marksAt + 2 * (31 - Math.clz32(left & -left));
        table[at] = level;
        table[at + 1] = up.words / pageWords;
      }
      for (let left = up.tags & ~tags; left !== 0; left &= left - 1)
        table[tagsAt + 31 - Math.clz32(left & -left)] = level;
      marks |= up.marks;
      tags |= up.tags;
    }
  }
}

function templateOf(page: Survey, context: PageContext): Float32Array {
  const template = new Float32Array(OWN_COLUMNS.length);
  for (const [index, read] of READERS.page.entries()) template[PAGE_AT + index] = read(page);
  for (let at = MARKS_AT; at < TAGS_AT; at += 2) {
    template[at] = FAR;
    template[at + 1] = -1;
  }
  template.fill(FAR, TAGS_AT, SIGNALS_AT);
  for (const [index, name] of SIGNALS.entries()) template[SIGNALS_AT + index] = context.signals[name] ?? 0;
  return template;
}
