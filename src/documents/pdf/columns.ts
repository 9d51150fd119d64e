/** The reading order of a page: columns of text are read one after the other. */
import type { Segment } from "./pieces.ts";

/** Narrower gaps are between words, or between the cells of a table. */
const MIN_GUTTER = 7;
/** Lines of a text column; the cells of a table are shorter. */
const MIN_LINE_LENGTH = 17;
const MIN_LINES = 3;
const MAX_DEPTH = 6;

/** Regions in reading order, each of one column. */
export function readingRegions(segments: readonly Segment[], depth = 0): Segment[][] {
  if (segments.length < 2 * MIN_LINES || depth > MAX_DEPTH) return segments.length === 0 ? [] : [[...segments]];
  const sorted = [...segments].sort((a, b) => a.y - b.y || a.x - b.x);
  const gutter = findGutter(segments, sorted);
  if (gutter === null) return [[...segments]];
  const rightLines = sorted.filter(({ x }) => x >= gutter).map(({ y }) => y);
  const regions: Segment[][] = [];
  let left: Segment[] = [];
  let right: Segment[] = [];
  let across: Segment[] = [];
  const endColumns = () => {
    const { column, below } = columnAndBelow(left, right);
    for (const part of [column, right, below]) regions.push(...readingRegions(part, depth + 1));
    left = [];
    right = [];
  };
  const endAcross = () => {
    if (across.length > 0) regions.push(across);
    across = [];
  };
  for (const segment of sorted) {
    if (segment.x < gutter && segment.right > gutter) {
      endColumns();
      across.push(segment);
    } else if (across.length > 0 && endsParagraph(across.at(-1)!, segment, rightLines, gutter)) across.push(segment);
    else {
      endAcross();
      (segment.right <= gutter ? left : right).push(segment);
    }
  }
  endColumns();
  endAcross();
  return regions;
}

/**
 * Whether a line that does not reach the gutter follows one that crosses it, with nothing on the other side.
 * `rightLines`: the y of what stands there, from the top.
 */
function endsParagraph(above: Segment, line: Segment, rightLines: readonly number[], gutter: number): boolean {
  const { y, size } = line;
  if (line.right > gutter || y - above.y > MAX_PITCH * size) return false;
  let from = 0;
  let to = rightLines.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (rightLines[middle]! - y > -size) to = middle;
    else from = middle + 1;
  }
  return from === rightLines.length || rightLines[from]! - y >= size;
}

/** The x of a gap between two columns of text; null: there is none. `sorted`: the same segments from the top. */
function findGutter(segments: readonly Segment[], sorted: readonly Segment[]): number | null {
  const start = Math.min(...segments.map(({ x }) => x));
  const end = Math.max(...segments.map(({ right }) => right));
  const width = Math.ceil(end - start);
  if (width < 100 || width > 20_000) return null;
  const crossings = new Array<number>(width + 1).fill(0);
  for (const { x, right } of segments)
    for (let at = Math.max(0, Math.floor(x - start)); at <= Math.min(width, Math.ceil(right - start)); at += 1)
      crossings[at]! += 1;
  let best: { x: number; score: number } | null = null;
  for (const gap of gapsOf(crossings, Math.floor(width * 0.15), Math.ceil(width * 0.85))) {
    const x = start + (gap.from + gap.to) / 2;
    const score = Math.max(columnScore(segments, x), partScore(sorted, x));
    if (score > (best?.score ?? 0)) best = { x, score };
  }
  return best?.x ?? null;
}

/** Runs of the fewest crossings, and of those that only a few wide lines cross. */
function* gapsOf(crossings: readonly number[], from: number, to: number): Generator<{ from: number; to: number }> {
  const levels = [...new Set(crossings.slice(from, to))].sort((a, b) => a - b).slice(0, 4);
  for (const level of levels) {
    let begin = -1;
    for (let at = from; at <= to; at += 1) {
      const isGap = at < to && crossings[at]! <= level;
      if (isGap && begin < 0) begin = at;
      if (!isGap && begin >= 0) {
        if (at - begin >= MIN_GUTTER) yield { from: begin, to: at - 1 };
        begin = -1;
      }
    }
  }
}

/** Higher for gutters that more of the text stands beside; 0: these are no columns of text. */
function columnScore(segments: readonly Segment[], gutter: number): number {
  const left = segments.filter(({ right }) => right <= gutter);
  const right = segments.filter(({ x }) => x >= gutter);
  const across = segments.length - left.length - right.length;
  if (left.length < MIN_LINES || right.length < MIN_LINES) return 0;
  if (across > 0.5 * segments.length) return 0;
  if (!isText(left) || !isText(right)) return 0;
  // Columns stand beside each other.
  const top = Math.max(left[0]!.y, right[0]!.y);
  const bottom = Math.min(left.at(-1)!.y, right.at(-1)!.y);
  if (bottom - top < 2 * left[0]!.size) return 0;
  return left.length + right.length - across;
}

/** As above, of pages that have columns in some parts alone: between lines that go across. */
function partScore(sorted: readonly Segment[], gutter: number): number {
  let score = 0;
  let across = 0;
  let left: Segment[] = [];
  let right: Segment[] = [];
  const endPart = () => {
    const { column } = columnAndBelow(left, right);
    if (isDense(column) && isDense(right)) score += columnScore([...column, ...right], gutter);
    left = [];
    right = [];
  };
  for (const segment of sorted) {
    if (segment.x < gutter && segment.right > gutter) {
      endPart();
      across += 1;
    } else (segment.right <= gutter ? left : right).push(segment);
  }
  endPart();
  return score === 0 || across > 0.5 * sorted.length ? 0 : Math.max(1, score - across);
}

/** Of the font size: lines of a text are nearer, the rows of most tables are not. */
const MAX_PITCH = 1.6;
/** Of the font size: nearer segments are of one line or row. */
const MIN_PITCH = 0.3;

function isDense(column: readonly Segment[]): boolean {
  const [first] = column;
  if (first === undefined) return false;
  const gaps = column
    .slice(1)
    .map(({ y }, index) => y - column[index]!.y)
    .filter((gap) => gap > MIN_PITCH * first.size)
    .sort((a, b) => a - b);
  return gaps.length > 0 && gaps[Math.floor(gaps.length / 2)]! <= MAX_PITCH * first.size;
}

/** Short lines below both columns, such as the heading of what follows, are read after both. */
function columnAndBelow(
  left: readonly Segment[],
  right: readonly Segment[],
): { column: readonly Segment[]; below: readonly Segment[] } {
  const last = right.at(-1);
  const from = last === undefined ? -1 : left.findIndex(({ y }) => y > last.y + 0.5 * last.size);
  if (last === undefined || from < MIN_LINES) return { column: left, below: [] };
  const [column, below] = [left.slice(0, from), left.slice(from)];
  const [end, next] = [column.at(-1)!, below[0]!];
  const widest = Math.max(...column.map((segment) => segment.right));
  // A column that goes on has lines as wide as before.
  const isShort = below.every((segment) => segment.right < widest - 2 * segment.size);
  const isApart = next.y - Math.max(end.y, last.y) > 1.8 * end.size && last.y - end.y < 4 * end.size;
  return isShort && isApart ? { column, below } : { column: left, below: [] };
}

function isText(column: readonly Segment[]): boolean {
  const lengths = column.map(({ text }) => text.trim().length).sort((a, b) => a - b);
  // Most lines are long; lists and the ends of paragraphs are shorter.
  return lengths[Math.floor(lengths.length * 0.55)]! >= MIN_LINE_LENGTH;
}
