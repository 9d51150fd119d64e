/** The text of a PDF page with its positions. PDF has no words or lines, only texts at coordinates. */
import { hasRightToLeft, inReadingOrder, isRightToLeft, mirrored } from "./direction.ts";

/** A text on one baseline; x to the right, y down, in points. */
export interface Piece {
  text: string;
  x: number;
  right: number;
  /** The baseline. */
  y: number;
  size: number;
  isBold: boolean;
  /** The address of the link annotation over it. */
  link: string | null;
}

/** Pieces of one baseline without a gap as wide as between columns. */
export interface Segment {
  pieces: Piece[];
  text: string;
  x: number;
  right: number;
  y: number;
  size: number;
  isBold: boolean;
}

export interface LinkArea {
  address: string;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Of the font size: words are nearer, columns are farther. */
const COLUMN_GAP = 1.1;
const SPACE_GAP = 0.14;

/** Segments in the order of the page: from the top, then from where its lines begin. */
export function segmentsOf(pieces: readonly Piece[]): Segment[] {
  const isMirrored = isRightToLeft(pieces);
  const sorted = pieces.map((piece) => (isMirrored ? mirrored(piece) : piece)).sort((a, b) => a.y - b.y || a.x - b.x);
  const rows: Piece[][] = [];
  for (const piece of sorted) {
    const row = rows.findLast((other) => isOnLine(other[0]!, piece));
    if (row === undefined || rows.length - rows.lastIndexOf(row) > 8) rows.push([piece]);
    else row.push(piece);
  }
  return rows.flatMap((row) => split(row.sort((a, b) => a.x - b.x)).map((group) => segmentOf(group, isMirrored)));
}

/** Exponents are on the line of their base. */
function isOnLine(first: Piece, piece: Piece): boolean {
  const size = Math.max(first.size, piece.size);
  const isSmall = Math.min(first.size, piece.size) < 0.8 * size;
  return Math.abs(first.y - piece.y) < (isSmall ? 0.45 : 0.25) * size;
}

/** Pieces of one line without a gap as wide as between columns. */
function split(row: readonly Piece[]): Piece[][] {
  const groups: Piece[][] = [];
  let right = Number.NEGATIVE_INFINITY;
  let size = 0;
  for (const piece of row) {
    const group = groups.at(-1);
    if (group !== undefined && isDrawnTwice(group.at(-1)!, piece)) continue;
    if (group === undefined || piece.x - right > COLUMN_GAP * Math.max(piece.size, size)) {
      groups.push([piece]);
      [right, size] = [piece.right, piece.size];
    } else {
      group.push(piece);
      [right, size] = [Math.max(right, piece.right), Math.max(size, piece.size)];
    }
  }
  return groups;
}

function segmentOf(group: readonly Piece[], isMirrored: boolean): Segment {
  const largest = group.reduce((best, piece) => (piece.size > best.size ? piece : best));
  const pieces: Piece[] = [];
  let text = "";
  let size = 0;
  for (const piece of inReadingOrder(group, isMirrored)) {
    size = Math.max(size, piece.size);
    const before = pieces.at(-1);
    const gap = before === undefined ? 0 : Math.max(piece.x - before.right, before.x - piece.right);
    // Only pieces that stand elsewhere are so far from each other: a full stop then belongs to the word before it.
    const isMark = gap > COLUMN_GAP * size && /^[.,;:!?)\]]/.test(piece.text);
    const needsSpace = gap > SPACE_GAP * size && !isMark && !/\s$/.test(text) && !/^\s/.test(piece.text);
    pieces.push(needsSpace ? { ...piece, text: ` ${piece.text}` } : piece);
    text += needsSpace ? ` ${piece.text}` : piece.text;
  }
  return {
    pieces,
    text,
    x: Math.min(...group.map(({ x }) => x)),
    right: Math.max(...group.map(({ right }) => right)),
    y: largest.y,
    size: largest.size,
    isBold: group.every(({ isBold }) => isBold),
  };
}

function lineFacts({ text, x, right, y, size, isBold }: Piece) {
  return { text, x, right, y, size, isBold };
}

/** Some programs make text bold by drawing it twice. */
function isDrawnTwice(before: Piece, piece: Piece): boolean {
  return before.text === piece.text && Math.abs(before.x - piece.x) < 0.1 * piece.size;
}

/** The segment in two, at the space or the piece that is nearest to `x`; null: there is none near. */
export function splitSegment(segment: Segment, x: number): [Segment, Segment] | null {
  const near = 0.6 * segment.size;
  const at = segment.pieces.findIndex((piece, index) => index > 0 && Math.abs(piece.x - x) < near);
  if (at > 0) return [segmentFrom(segment.pieces.slice(0, at)), segmentFrom(segment.pieces.slice(at))];
  const inside = segment.pieces.findIndex((piece) => piece.x < x && piece.right > x);
  const piece = segment.pieces[inside];
  if (piece === undefined) return null;
  const edge = boundaryAt(piece, x);
  const cut = /\s/.test(piece.text[edge] ?? "") ? edge + 1 : edge;
  if (cut <= 0 || cut >= piece.text.length || !isCellEdge(piece.text, cut)) return null;
  const head = { ...piece, text: piece.text.slice(0, cut).trimEnd(), right: x - 0.3 * segment.size };
  const tail = { ...piece, text: piece.text.slice(cut), x };
  return [
    segmentFrom([...segment.pieces.slice(0, inside), head]),
    segmentFrom([tail, ...segment.pieces.slice(inside + 1)]),
  ];
}

/** Cells may touch each other: a number then begins behind a word. */
function isCellEdge(text: string, at: number): boolean {
  const [before, after] = [text[at - 1]!, text[at]!];
  return /\s/.test(before) || (/\p{L}/u.test(before) && /\d/.test(after));
}

function segmentFrom(pieces: Piece[]): Segment {
  const [first] = pieces;
  const text = pieces.map((piece) => piece.text).join("");
  return {
    ...lineFacts(first!),
    pieces,
    text: text.trim(),
    right: pieces.at(-1)!.right,
    size: Math.max(...pieces.map(({ size }) => size)),
    isBold: pieces.every(({ isBold }) => isBold),
  };
}

/** Cuts a piece where a link starts and ends; the width of characters is estimated. */
export function withLinks(piece: Piece, areas: readonly LinkArea[]): Piece[] {
  if (!hasRightToLeft(piece.text)) return linkedParts(piece, areas);
  const others = areas.map((area) => ({ ...area, left: -area.right, right: -area.left }));
  return linkedParts(mirrored(piece), others).map(mirrored);
}

function linkedParts(piece: Piece, areas: readonly LinkArea[]): Piece[] {
  const middle = piece.y - 0.3 * piece.size;
  const area = areas.find(
    ({ left, right, top, bottom }) => middle >= top && middle <= bottom && piece.x < right && piece.right > left,
  );
  if (area === undefined) return [piece];
  const from = boundaryAt(piece, area.left, isWordEdge);
  const to = boundaryAt(piece, area.right, isWordEdge);
  if (to <= from) return [piece];
  const cut = (start: number, end: number, link: string | null): Piece[] => {
    const text = piece.text.slice(start, end);
    if (text === "") return [];
    const at = (index: number) => piece.x + ((piece.right - piece.x) * index) / piece.text.length;
    return [{ ...piece, text, x: at(start), right: at(end), link }];
  };
  // The rest may have links of its own.
  const rest = cut(to, piece.text.length, null).flatMap((part) =>
    linkedParts(
      part,
      areas.filter((other) => other !== area),
    ),
  );
  return [...cut(0, from, null), ...cut(from, to, area.address), ...rest];
}

/** The index of the character at a position, moved to the nearest edge of a word. */
function boundaryAt({ text, x: start, right }: Piece, x: number, isEdge = isSpaceEdge): number {
  const share = (x - start) / Math.max(1e-6, right - start);
  if (share <= 0.01) return 0;
  if (share >= 0.99) return text.length;
  const near = indexAt(text, share);
  for (let distance = 0; distance <= 6; distance += 1)
    for (const at of [near + distance, near - distance])
      if (at > 0 && at < text.length && isEdge(text[at - 1]!, text[at]!)) return at;
  for (const at of [near, near + 1, near - 1, near + 2, near - 2])
    if (at > 0 && at < text.length && isCellEdge(text, at)) return at;
  return near;
}

function isSpaceEdge(before: string, after: string): boolean {
  return /\s/.test(before) !== /\s/.test(after);
}

/** A link ends before the full stop of its sentence. */
function isWordEdge(before: string, after: string): boolean {
  return /[\p{L}\p{N}]/u.test(before) !== /[\p{L}\p{N}]/u.test(after);
}

/** By the usual widths of characters: the fonts are not measured. */
function indexAt(text: string, share: number): number {
  const widths = [...text].map((character) => {
    if (/[iljtfr.,:;'!|()[\] I]/.test(character)) return 0.55;
    return /[mwMW@%]/.test(character) ? 1.5 : /[A-Z]/.test(character) ? 1.25 : 1;
  });
  let left = share * widths.reduce((sum, width) => sum + width, 0);
  for (const [index, width] of widths.entries()) {
    if (left < width / 2) return index;
    left -= width;
  }
  return text.length;
}
