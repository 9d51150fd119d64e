/** Compares two texts line by line and word by word, without noise, and shows the differences with it. */
import { hash } from "node:crypto";
import type { Pattern } from "../text/regex.ts";
import { linesWithoutNoise } from "./noise.ts";
import type { NoiseClass } from "./options.ts";
import { type Hunk, hunksOf, wholeHunk } from "./sequence.ts";
import { mask, type MaskedLine, type VolatileProfile } from "./volatile.ts";

export interface DiffLine {
  op: " " | "-" | "+";
  text: string;
  /** The line by words, if it became another line. */
  words?: { op: " " | "-" | "+"; text: string }[];
}

/** Lines that differ, with some lines around them; numbers count from 1. */
export interface DiffHunk {
  before_line: number;
  after_line: number;
  lines: DiffLine[];
}

export interface TextDiff {
  hunks: DiffHunk[];
  /** Changed words. */
  added: number;
  removed: number;
  /** Changed words of all words of the larger text. */
  share: number;
  truncated: boolean;
}

/** A text as it is compared; blank lines and ignored parts are left out. */
interface PreparedText {
  /** As shown. */
  shown: string[];
  /** As compared. */
  lines: string[];
}

export interface TextRules {
  noise: ReadonlySet<NoiseClass>;
  ignore: readonly Pattern[];
  /** The order of the lines has no meaning. */
  isSet: boolean;
}

const CONTEXT = 3;
const MAX_SHOWN_LINES = 2000;
const MAX_SHOWN_WORDS = 5000;

export function prepareText(content: string, { noise, ignore, isSet }: TextRules): PreparedText {
  const shown: string[] = [];
  const kept: string[] = [];
  for (const line of content.split("\n")) {
    const text = ignore
      .reduce((rest, pattern) => pattern.without(rest), line)
      .replace(/\s+/g, " ")
      .trim();
    if (text === "") continue;
    shown.push(line.trimEnd());
    kept.push(text);
  }
  const lines = linesWithoutNoise(kept, noise);
  if (!isSet) return { shown, lines };
  const byText = new Map(lines.map((line, index) => [line, shown[index]!]));
  const sorted = [...byText].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { shown: sorted.map(([, line]) => line), lines: sorted.map(([line]) => line) };
}

/** Equal for texts without a difference. */
export function stableDigest({ lines }: PreparedText, profile: VolatileProfile): string {
  const texts = mask(lines, profile).filter(({ isMasked }) => !isMasked);
  return hash("sha256", texts.map(({ text }) => text).join("\n"), "hex").slice(0, 32);
}

const wordsIn = (lines: readonly string[]) => lines.flatMap((line) => line.split(" "));

export function diffTexts(before: PreparedText, after: PreparedText, profile: VolatileProfile): TextDiff {
  const [old, recent] = [before, after].map(({ lines }) => mask(lines, profile)) as [MaskedLine[], MaskedLine[]];
  const [oldTexts, newTexts] = [old, recent].map((list) => list.map(({ text }) => text)) as [string[], string[]];
  const found = hunksOf(oldTexts, newTexts) ?? wholeHunk(oldTexts, newTexts);
  const ops: DiffLine[] = [];
  const diff: TextDiff = { hunks: [], added: 0, removed: 0, share: 0, truncated: false };
  const same = (from: number, to: number) => {
    for (const { from: first, to: last } of recent.slice(from, to))
      for (let line = first; line < last; line += 1) ops.push({ op: " ", text: after.shown[line]! });
  };
  let at = 0;
  for (const { from, to, otherFrom, otherTo } of found) {
    same(at, otherFrom);
    at = otherTo;
    const real = (list: readonly MaskedLine[]) => list.filter(({ isMasked }) => !isMasked);
    const [gone, come] = [real(old.slice(from, to)), real(recent.slice(otherFrom, otherTo))];
    if (gone.length === 0 && come.length === 0) {
      same(otherFrom, otherTo);
      continue;
    }
    const linesOf = (text: PreparedText) => (line: MaskedLine) => text.lines.slice(line.from, line.to);
    const counts = countWords(gone.flatMap(linesOf(before)), come.flatMap(linesOf(after)));
    diff.added += counts.added;
    diff.removed += counts.removed;
    const shownOf = (text: PreparedText) => (line: MaskedLine) => text.shown.slice(line.from, line.to);
    ops.push(...changedLines(gone.flatMap(shownOf(before)), come.flatMap(shownOf(after))));
  }
  same(at, recent.length);
  const total = Math.max(wordsIn(before.lines).length, wordsIn(after.lines).length, 1);
  diff.share = Math.min(1, Math.max(diff.added, diff.removed) / total);
  return { ...diff, ...groupHunks(ops) };
}

function countWords(gone: readonly string[], come: readonly string[]): { added: number; removed: number } {
  const [old, recent] = [wordsIn(gone), wordsIn(come)];
  const hunks = hunksOf(old, recent) ?? wholeHunk(old, recent);
  return {
    removed: hunks.reduce((sum, { from, to }) => sum + to - from, 0),
    added: hunks.reduce((sum, { otherFrom, otherTo }) => sum + otherTo - otherFrom, 0),
  };
}

/** Lines that face each other are shown by words as well. */
function changedLines(gone: readonly string[], come: readonly string[]): DiffLine[] {
  const removed = gone.map((text): DiffLine => ({ op: "-", text }));
  const added = come.map((text): DiffLine => ({ op: "+", text }));
  for (let index = 0; index < Math.min(gone.length, come.length); index += 1) {
    const [one, other] = [gone[index]!, come[index]!];
    if (one.length + other.length > MAX_SHOWN_WORDS) continue;
    const [old, recent] = [tokensOf(one), tokensOf(other)];
    const hunks = hunksOf(old, recent);
    // Without a word in common they are two lines.
    if (hunks === null || !hasCommonWord(old, hunks)) continue;
    removed[index]!.words = wordsByPart(
      old,
      hunks.map(({ from, to }) => [from, to] as const),
      "-",
    );
    added[index]!.words = wordsByPart(
      recent,
      hunks.map(({ otherFrom, otherTo }) => [otherFrom, otherTo] as const),
      "+",
    );
  }
  return [...removed, ...added];
}

const tokensOf = (text: string): string[] => text.match(/\S+|\s+/g) ?? [];

function hasCommonWord(old: readonly string[], hunks: readonly Hunk[]): boolean {
  return old.some((word, at) => word.trim() !== "" && !hunks.some(({ from, to }) => from <= at && at < to));
}

function wordsByPart(
  words: readonly string[],
  changed: readonly (readonly [number, number])[],
  op: "-" | "+",
): NonNullable<DiffLine["words"]> {
  const parts: NonNullable<DiffLine["words"]> = [];
  const add = (kind: DiffLine["op"], from: number, to: number) => {
    if (to > from) parts.push({ op: kind, text: words.slice(from, to).join("") });
  };
  let at = 0;
  for (const [from, to] of changed) {
    add(" ", at, from);
    add(op, from, to);
    at = to;
  }
  add(" ", at, words.length);
  return parts;
}

function groupHunks(ops: readonly DiffLine[]): Pick<TextDiff, "hunks" | "truncated"> {
  const hunks: DiffHunk[] = [];
  let [beforeLine, afterLine, shown] = [1, 1, 0];
  let open: DiffHunk | null = null;
  let quiet = 0;
  for (const [index, line] of ops.entries()) {
    const isChange = line.op !== " ";
    if (isChange && shown >= MAX_SHOWN_LINES) return { hunks, truncated: true };
    if (isChange && open === null) {
      let start = index;
      while (start > 0 && index - start < CONTEXT && ops[start - 1]!.op === " ") start -= 1;
      const context = ops.slice(start, index);
      open = { before_line: beforeLine - context.length, after_line: afterLine - context.length, lines: [...context] };
      hunks.push(open);
    }
    quiet = isChange ? 0 : quiet + 1;
    if (open !== null) {
      open.lines.push(line);
      shown += 1;
      // Two changes closer than their contexts are one hunk.
      if (quiet >= 2 * CONTEXT) {
        open.lines.splice(-CONTEXT);
        open = null;
      }
    }
    if (line.op !== "+") beforeLine += 1;
    if (line.op !== "-") afterLine += 1;
  }
  if (open !== null && quiet > CONTEXT) open.lines.splice(CONTEXT - quiet);
  return { hunks, truncated: false };
}

/** As `diff -u` and git show it. */
export function unifiedDiff(hunks: readonly DiffHunk[]): string {
  return hunks
    .map(({ before_line: from, after_line: to, lines }) => {
      const count = (op: "-" | "+") => lines.filter((line) => line.op === " " || line.op === op).length;
      const body = lines.map(({ op, text }) => `${op}${text}\n`).join("");
      return `@@ -${from},${count("-")} +${to},${count("+")} @@\n${body}`;
    })
    .join("");
}
