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

class Writer {
  readonly #page: Survey;
  readonly #context: PageContext;
  readonly #table: Float32Array;
  readonly #ancestries: ReturnType<typeof ancestriesOf>;
  readonly #pageValues: readonly number[];
  readonly #signals: readonly number[];
  /** By `Box.at`. */
  readonly #around: (readonly number[] | undefined)[];
  readonly #grids = new Map<Grid, readonly number[]>();
  #at = 0;

  constructor(page: Survey, context: PageContext, table: Float32Array) {
    this.#page = page;
    this.#context = context;
    this.#table = table;
    this.#ancestries = ancestriesOf(page);
    this.#around = page.boxes.map(() => undefined);
    this.#pageValues = READERS.page.map((read) => read(page));
    this.#signals = SIGNALS.map((name) => context.signals[name] ?? 0);
  }

  write(block: Block, index: number, from: number): void {
    const { box } = block;
    const ancestry = this.#ancestries[box.at]!;
    this.#at = from;
    this.#writeOwn(block, index, ancestry);
    this.#writeAll(this.#pageValues);
    this.#writeGrids(ancestry.outer, ancestry.inner);
    this.#writeBeside(index);
    this.#writeAround(box);
    this.#writeLevels(box);
    this.#writeAll(this.#signals);
  }

  #add(value: number): void {
    this.#table[this.#at] = value;
    this.#at += 1;
  }

  #writeAll(values: readonly number[]): void {
    for (let at = 0; at < values.length; at += 1) this.#add(values[at]!);
  }

  #writeOwn(block: Block, index: number, ancestry: ReturnType<typeof ancestriesOf>[number]): void {
    const { box } = block;
    const [page, context] = [this.#page, this.#context];
    const shape = page.shapes[index]!;
    const small = block.words > LONG ? "" : block.text.toLowerCase();
    const view = { page, context, index, block, box, tag: box.element.tag.name, ancestry, shape, small };
    for (const read of READERS.own) this.#add(read(view));
  }

  #writeGrids(outer: Grid, inner: Grid): void {
    const [outside, inside] = [this.#gridValues(outer), this.#gridValues(inner)];
    for (let at = 0; at < outside.length; at += 1) {
      this.#add(outside[at]!);
      this.#add(inside[at]!);
    }
  }

  #gridValues(grid: Grid): readonly number[] {
    let values = this.#grids.get(grid);
    if (values === undefined) this.#grids.set(grid, (values = READERS.grid.map((read) => read(grid, this.#page))));
    return values;
  }

  #writeBeside(index: number): void {
    const { blocks, wordsBefore, linksBefore, sentencesBefore } = this.#page;
    for (const offset of BESIDE) {
      const other = blocks[index + offset];
      this.#add(other?.words ?? 0);
      this.#add(share(other?.linkWords ?? 0, other?.words ?? 0));
      this.#add(other?.sentences ?? 0);
    }
    for (const reach of REACHES) {
      const to = Math.min(blocks.length, index + reach + 1);
      const from = Math.max(0, index - reach);
      const words = wordsBefore[to]! - wordsBefore[from]!;
      this.#add(words / reach);
      this.#add(share(linksBefore[to]! - linksBefore[from]!, words));
      this.#add((sentencesBefore[to]! - sentencesBefore[from]!) / reach);
    }
  }

  #writeAround(box: Box): void {
    let up: Box | null = box;
    for (let level = 0; level < LEVELS; level += 1) {
      this.#writeAll(this.#aroundValues(up ?? this.#page.body));
      if (up !== null) up = this.#ancestries[up.at]!.above;
    }
  }

  #aroundValues(box: Box): readonly number[] {
    return (this.#around[box.at] ??= READERS.around.map((read) => read(box, this.#page)));
  }

  /** The levels up to the nearest box with each mark and its share of the page's words, then those to each tag. */
  #writeLevels(box: Box): void {
    const [table, pageWords] = [this.#table, this.#page.words];
    const marksAt = this.#at;
    const tagsAt = marksAt + 2 * MARKS;
    this.#at = tagsAt + TAGS.length;
    for (let at = marksAt; at < tagsAt; at += 2) {
      table[at] = FAR;
      table[at + 1] = -1;
    }
    table.fill(FAR, tagsAt, this.#at);
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
