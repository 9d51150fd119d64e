/** Bullets that are drawn and not written, as browsers print them. */
import { getResolvedPDFJS } from "unpdf";
import { applied, type Matrix, multiplied } from "./matrix.ts";
import type { Piece } from "./pieces.ts";

interface Operators {
  fnArray: readonly number[];
  argsArray: readonly unknown[];
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const MAX_OPERATORS = 500_000;
/** A page with more of them is a drawing. */
const MAX_MARKS = 2000;
/** Of the font size. */
const SIZE = { least: 0.15, most: 0.6 } as const;
const MAX_DISTANCE = 2;
const BULLET = "•";

/** The boxes of small shapes that are as wide as high. `view`: from the page's space to ours. */
export async function drawnMarks({ fnArray, argsArray }: Operators, view: Matrix): Promise<Box[]> {
  const { OPS } = await getResolvedPDFJS();
  const marks: Box[] = [];
  const stack: Matrix[] = [];
  let matrix = view;
  for (let index = 0; index < Math.min(fnArray.length, MAX_OPERATORS) && marks.length <= MAX_MARKS; index += 1) {
    const operator = fnArray[index];
    const args = argsArray[index] as unknown[] | null;
    if (operator === OPS.save) stack.push(matrix);
    else if (operator === OPS.restore) matrix = stack.pop() ?? view;
    else if (operator === OPS.transform && args !== null) matrix = multiplied(matrix, args as unknown as Matrix);
    else if (operator === OPS.paintFormXObjectBegin) {
      stack.push(matrix);
      if (Array.isArray(args?.[0])) matrix = multiplied(matrix, args[0] as unknown as Matrix);
    } else if (operator === OPS.paintFormXObjectEnd) matrix = stack.pop() ?? view;
    else if (operator === OPS.constructPath && args?.[0] !== OPS.endPath) {
      // A path that ends without being painted limits what is drawn.
      const box = boxOf(args?.[2], matrix);
      if (box !== null) marks.push(box);
    }
  }
  return marks.length > MAX_MARKS ? [] : marks;
}

/** Null: it is no mark, whatever the size of the text. */
function boxOf(bounds: unknown, matrix: Matrix): Box | null {
  const [x1, y1, x2, y2] = Object.values((bounds ?? {}) as ArrayLike<number>);
  if (x1 === undefined || y1 === undefined || x2 === undefined || y2 === undefined) return null;
  const [a, b] = [applied(matrix, x1, y1), applied(matrix, x2, y2)];
  const box = {
    left: Math.min(a.x, b.x),
    right: Math.max(a.x, b.x),
    top: Math.min(a.y, b.y),
    bottom: Math.max(a.y, b.y),
  };
  const [width, height] = [box.right - box.left, box.bottom - box.top];
  return width > 0.5 && width < 50 && Math.abs(width - height) < 0.2 * width ? box : null;
}

/** With a bullet before each text that has such a shape to its left. */
export function withDrawnBullets(pieces: readonly Piece[], marks: readonly Box[]): Piece[] {
  const open = [...marks].sort((a, b) => a.top - b.top);
  const sorted = [...pieces].sort((a, b) => a.y - b.y || a.x - b.x);
  const bullets: Piece[] = [];
  let from = 0;
  let lineFrom = 0;
  for (const [index, piece] of sorted.entries()) {
    if (sorted[lineFrom]!.y < piece.y - 0.25 * piece.size) lineFrom = index;
    while (from < open.length && open[from]!.bottom < piece.y - 200) from += 1;
    for (let at = from; at < open.length && open[at]!.top < piece.y; at += 1) {
      const mark = open[at]!;
      if (!isBeside(mark, piece)) continue;
      // The end of a word stands nearer than a bullet of this text.
      const isFirst = !sorted
        .slice(lineFrom, index)
        .some(({ right, size }) => right <= piece.x && right > mark.left - MAX_DISTANCE * size);
      if (isFirst)
        bullets.push({ ...piece, text: BULLET, x: mark.left, right: piece.x - 0.3 * piece.size, link: null });
      break;
    }
  }
  return bullets.length === 0 ? [...pieces] : [...pieces, ...bullets];
}

function isBeside({ left, right, top, bottom }: Box, { x, y, size }: Piece): boolean {
  const height = bottom - top;
  const middle = (top + bottom) / 2;
  const distance = x - right;
  if (height < SIZE.least * size || height > SIZE.most * size) return false;
  const isAtText = middle < y - 0.1 * size && middle > y - 0.7 * size;
  return isAtText && left < x && distance > 0.1 * size && distance < MAX_DISTANCE * size;
}
