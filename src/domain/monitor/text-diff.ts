/** Compares two texts line by line and word by word, without noise, and shows the differences with it. */
import { hash } from "node:crypto";
import { isSameClock } from "./dates.ts";
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
  /** Of the same lines, with all dates but those that only tell when the page was made. */
  dated: string[];
  /** When the page was fetched; null: dates are not told apart. */
  at: number | null;
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
/** Characters of all lines that are shown by words. */
const MAX_BY_WORDS = 400_000;

export function prepareText(content: string, { noise, ignore, isSet }: TextRules, at: number | null): PreparedText {
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
  // A set has no positions by which the dates of two texts could be told apart.
  const fetchedAt = isSet || !noise.has("dates") ? null : at;
  const lines = linesWithoutNoise(kept, noise, fetchedAt);
  if (!isSet) {
    const dated = fetchedAt === null ? lines : linesWithoutNoise(kept, noise, Number.NEGATIVE_INFINITY);
    return { shown, lines, dated, at: fetchedAt };
  }
  const byText = new Map(lines.map((line, index) => [line, shown[index]!]));
  const sorted = [...byText].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const texts = sorted.map(([line]) => line);
  return { shown: sorted.map(([, line]) => line), lines: texts, dated: texts, at: null };
}

/**
 * The lines of two texts, so that equal dates are equal even if only one text was fetched on that day, and a clock that
 * went on is no difference.
 */
export function alignDates(before: PreparedText, after: PreparedText): [PreparedText, PreparedText] {
  const isPlain = ({ lines, dated, at }: PreparedText) =>
    at === null || lines.every((line, index) => line === dated[index]);
  if (before.at === null || after.at === null) return [before, after];
  if (isPlain(before) && isPlain(after) && !CLOCK_LINE.test(before.lines.join("\n"))) return [before, after];
  const hunks = hunksOf(before.dated, after.dated);
  if (hunks === null) return [before, after];
  const [old, recent] = [[...before.dated], [...after.dated]];
  for (const { from, to, otherFrom, otherTo } of hunks) {
    for (let at = from; at < to; at += 1) old[at] = before.lines[at]!;
    for (let at = otherFrom; at < otherTo; at += 1) recent[at] = after.lines[at]!;
    if (to - from !== otherTo - otherFrom) continue;
    for (let at = 0; at < to - from; at += 1)
      if (isSameClock(old[from + at]!, before.at, recent[otherFrom + at]!, after.at))
        old[from + at] = recent[otherFrom + at] = "‹date›";
  }
  return [
    { ...before, lines: old },
    { ...after, lines: recent },
  ];
}

const CLOCK_LINE = /^\d{1,2}:\d{2}/m;

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
  // One more than is shown: it tells that there are more.
  let room = MAX_SHOWN_LINES + 1;
  const budget = { characters: MAX_BY_WORDS };
  const same = (from: number, to: number) => {
    if (room === 0) return;
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
    const [goneLines, comeLines] = [
      gone.slice(0, room).flatMap(shownOf(before)),
      come.slice(0, room).flatMap(shownOf(after)),
    ];
    for (const line of changedLines(goneLines, comeLines, budget).slice(0, room)) {
      ops.push(line);
      room -= 1;
    }
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
function changedLines(gone: readonly string[], come: readonly string[], budget: { characters: number }): DiffLine[] {
  const removed = gone.map((text): DiffLine => ({ op: "-", text }));
  const added = come.map((text): DiffLine => ({ op: "+", text }));
  for (let index = 0; index < Math.min(gone.length, come.length); index += 1) {
    const [one, other] = [gone[index]!, come[index]!];
    if (one.length + other.length > Math.min(MAX_SHOWN_WORDS, budget.characters)) continue;
    budget.characters -= one.length + other.length;
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
