/**
 * Text from right to left. Each piece has its letters in reading order already; the pieces of a line stand as they are
 * drawn. Pages that are mostly from right to left are mirrored, so that everything else reads them from the left.
 */

/** Hebrew, Arabic, Syriac, Thaana, N'Ko and their presentation forms. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const RIGHT_TO_LEFT_ALL = new RegExp(RIGHT_TO_LEFT, "g");
const OTHER_LETTERS = /[A-Za-z\u00c0-\u058f\u0900-\u1fff\u3040-\ud7ff]/g;

export function hasRightToLeft(text: string): boolean {
  return RIGHT_TO_LEFT.test(text);
}

/** Whether most letters are from right to left. */
export function isRightToLeft(pieces: readonly { text: string }[]): boolean {
  if (!pieces.some(({ text }) => hasRightToLeft(text))) return false;
  let [right, left] = [0, 0];
  for (const { text } of pieces) {
    right += text.match(RIGHT_TO_LEFT_ALL)?.length ?? 0;
    left += text.match(OTHER_LETTERS)?.length ?? 0;
  }
  return right > left;
}

export function mirrored<T extends { x: number; right: number }>(piece: T): T {
  return { ...piece, x: -piece.right, right: -piece.x };
}

/**
 * The pieces of a segment in reading order, from their order on the page. Words and numbers of the other direction keep
 * their own order within the line. `isMirrored`: the page is read from the right, and its pieces are in that order.
 */
export function inReadingOrder<T extends { text: string }>(pieces: readonly T[], isMirrored: boolean): T[] {
  if (!isMirrored && !pieces.some(({ text }) => hasRightToLeft(text))) return [...pieces];
  const result: T[] = [];
  /** A run of the other direction, and the pieces of no direction after it. */
  let run: T[] = [];
  let neutral: T[] = [];
  for (const piece of pieces) {
    const isOther = isMirrored ? isFromLeft(piece.text) : hasRightToLeft(piece.text);
    const isOwn = isMirrored ? hasRightToLeft(piece.text) : isFromLeft(piece.text) && /\p{L}/u.test(piece.text);
    if (isOther) {
      run.push(...neutral, piece);
      neutral = [];
    } else if (!isOwn && run.length > 0) neutral.push(piece);
    else {
      result.push(...run.reverse(), ...neutral, piece);
      [run, neutral] = [[], []];
    }
  }
  result.push(...run.reverse(), ...neutral);
  return result;
}

/** Words from left to right, and numbers, which are always written so. */
function isFromLeft(text: string): boolean {
  return !hasRightToLeft(text) && /[\p{L}\p{N}]/u.test(text);
}
