/** Which pages of a PDF are pictures: they have no text, or only what the scanner wrote on each of them. */
import type { PdfPageText } from "./page-text.ts";
import type { Segment } from "./pieces.ts";

/** Fewer letters are a stamp or a page number. */
const MIN_LETTERS = 10;
/** What a scanner writes on every page is no longer than this. */
const MAX_STAMP = 50;

/** How many. Pages without anything are blank, where the file has fewer pictures than such pages and other text. */
export function scannedPages(
  pages: readonly PdfPageText[],
  laidOut: readonly (readonly Segment[])[],
  bytes: Uint8Array,
): number {
  const seen = new Map<string, number>();
  for (const segments of laidOut)
    for (const key of new Set(segments.filter(isShort).map(keyOf))) seen.set(key, (seen.get(key) ?? 0) + 1);
  const least = Math.max(3, Math.ceil(pages.length / 2));
  const isStamp = (segment: Segment) => isShort(segment) && (seen.get(keyOf(segment)) ?? 0) >= least;
  const hasText = (index: number) => {
    let found = letters(pages[index]!.turned);
    for (const segment of laidOut[index]!) {
      if (found >= MIN_LETTERS) break;
      if (!isStamp(segment)) found += letters([segment.text]);
    }
    return found >= MIN_LETTERS;
  };
  const empty = pages.filter((page, index) => page.failed !== true && !hasText(index)).length;
  if (empty === 0) return 0;
  const total = letters([...laidOut.flat(), ...pages.flatMap(({ turned }) => turned)].map(textOf));
  if (total < 4 * Math.min(pages.length, 3)) return empty;
  return pictures(bytes) >= empty ? empty : 0;
}

function isShort({ text }: Segment): boolean {
  return text.length <= MAX_STAMP;
}

function textOf(part: Segment | string): string {
  return typeof part === "string" ? part : part.text;
}

function keyOf({ text }: Segment): string {
  return text.replace(/\d+/g, "").trim().toLowerCase();
}

function letters(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.replace(/[^\p{L}\p{N}]/gu, "").length, 0);
}

/** The dictionary of a picture is never compressed. */
function pictures(bytes: Uint8Array): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return text.match(/\/Subtype\s*\/Image\b/g)?.length ?? 0;
}
