/** Where a line may be cut: before its end, which tells it from others that begin alike. */

const TAIL = 10;
/** Shorter ones are cut at their end, if at all. */
const SHORT = 20;

/** The beginning of a date distinguishes it from others: 2026-10-12T08:00:00Z. */
const DATE = /^\d{4}-\d\d-\d\d[T ]/;

/** Where the part begins that is never cut; the length of the text: there is none. */
export function cutAt(text: string): number {
  if (text.length < SHORT || DATE.test(text)) return text.length;
  const at = text.length - TAIL;
  // Two halves of one sign are not torn apart.
  return /[\uDC00-\uDFFF]/.test(text[at] ?? "") ? at - 1 : at;
}

/** The beginning and the end of a text that is longer than `most`. */
export function middleOut(text: string, most: number): string {
  if (text.length <= most) return text;
  const tail = Math.floor(most * 0.3);
  return `${text.slice(0, most - tail)}…${text.slice(-tail)}`;
}
