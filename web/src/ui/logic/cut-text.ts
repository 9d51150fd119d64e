/** Where to cut a line: before its end, which distinguishes it from others with the same start. */

const TAIL = 10;
/** Shorter ones are cut at their end. */
const SHORT = 20;

/** The beginning of a date distinguishes it from others: 2026-10-12T08:00:00Z. */
const DATE = /^\d{4}-\d\d-\d\d[T ]/;

/** Start of the part that is never cut; the text's length: none. */
export function cutAt(text: string): number {
  if (text.length < SHORT || DATE.test(text)) return text.length;
  const at = text.length - TAIL;
  // Do not split a surrogate pair.
  return /[\uDC00-\uDFFF]/.test(text[at] ?? "") ? at - 1 : at;
}

/** Cuts the middle out of a text longer than `most`. */
export function middleOut(text: string, most: number): string {
  if (text.length <= most) return text;
  const tail = Math.floor(most * 0.3);
  return `${text.slice(0, most - tail)}…${text.slice(-tail)}`;
}
