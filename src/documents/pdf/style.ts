/** How the headings of a document look: by its bookmarks, its font sizes and its bold lines. */
import type { Line, PdfStyle } from "./blocks.ts";
import { ListNumbers } from "./list-marks.ts";
import type { Segment } from "./pieces.ts";

/** Of the size of most text. */
const HEADING_SIZE = 1.12;
const MAX_HEADING = 250;
const MAX_BOLD_HEADING = 120;

export function styleOf(pages: readonly (readonly Segment[])[], outline: ReadonlyMap<string, number>): PdfStyle {
  const sizes = new Map<number, number>();
  const compounds = new Set<string>();
  for (const segment of pages.flat()) {
    const size = rounded(segment.size);
    sizes.set(size, (sizes.get(size) ?? 0) + segment.text.trim().length);
    // Not at the end of a line, where a hyphen may divide the word.
    if (!/[-‐]/.test(segment.text)) continue;
    for (const [word] of segment.text.matchAll(/\p{Ll}+[-‐]\p{Ll}+/gu))
      if (compounds.size < 100_000) compounds.add(word);
  }
  const bodySize = [...sizes].reduce((best, entry) => (entry[1] > best[1] ? entry : best), [12, 0] as [
    number,
    number,
  ])[0];
  const larger = [...sizes.keys()].filter((size) => size >= HEADING_SIZE * bodySize).sort((a, b) => b - a);
  const levels = new Map(larger.map((size, index) => [size, Math.min(6, index + 1)]));
  return {
    bodySize,
    listNumbers: new ListNumbers(),
    isCompound: (word) => compounds.has(word.replace("‐", "-")),
    headingLevel(line) {
      const text = line.text.replace(/\s+/g, " ").trim();
      if (text === "" || text.length > MAX_HEADING || !/[\p{L}\p{N}]/u.test(text)) return null;
      const known = outline.get(text.toLowerCase()) ?? levels.get(rounded(line.size)) ?? null;
      if (known !== null) return Math.min(6, known);
      return isBoldHeading(line, text, bodySize) ? Math.min(6, levels.size + 1) : null;
    },
  };
}

function isBoldHeading(line: Line, text: string, bodySize: number): boolean {
  return (
    line.isBold &&
    line.segments.length === 1 &&
    text.length <= MAX_BOLD_HEADING &&
    line.size > 0.9 * bodySize &&
    !/[.,;:]$/.test(text) &&
    /^[\p{Lu}\p{N}]/u.test(text)
  );
}

function rounded(size: number): number {
  return Math.round(size * 2) / 2;
}
