/** Compares two texts line by line and word by word, without noise, and shows the differences with it. */
import { hash } from "node:crypto";
import type { Evidence } from "./volatile/evidence.ts";
import { type IgnoredPlace, Notes } from "./ignored.ts";
import { exposedLines, mask, type MaskedLine, shuffledLists } from "./volatile/mask.ts";
import type { PreparedText } from "./prepared-text.ts";
import type { VolatileProfile } from "./volatile/profile.ts";
import { type Hunk, hunksOf, wholeHunk } from "./sequence.ts";
import { hasOtherValue } from "./volatile/values.ts";

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
  /** Differences that were left out. */
  ignored: IgnoredPlace[];
  /** Whether a price or an amount is among the changes: no further fetch makes that noise. */
  hasValue: boolean;
  /** Whether the page goes back and forth between two contents, or one of its answers was old. */
  isUnsettled: boolean;
}

const MAX_CERTAIN = 2;
const CONTEXT = 3;
const MAX_SHOWN_LINES = 2000;
const MAX_SHOWN_WORDS = 5000;
/** Characters of all lines that are shown by words. */
const MAX_BY_WORDS = 400_000;

/** Equal for texts without a difference. The second half is equal for texts without anything to leave out, too. */
export function stableDigest(text: PreparedText, profile: VolatileProfile): string {
  const texts = mask(text, profile).filter(({ isMasked }) => !isMasked);
  const short = (lines: readonly string[]) => hash("sha256", lines.join("\n"), "hex").slice(0, DIGEST);
  return short(texts.map((line) => line.text)) + short(text.lines);
}

const DIGEST = 24;

/** Whether texts with these digests differ only in places that are left out. */
export const isSameButNoise = (one: string, other: string) => one.slice(0, DIGEST) === other.slice(0, DIGEST);

const wordsIn = (lines: readonly string[]) => lines.flatMap((line) => line.split(" "));

/** `evidence`: of further fetches; `isStrict`: what is unsettled counts. */
export function diffTexts(
  before: PreparedText,
  after: PreparedText,
  profile: VolatileProfile,
  evidence: Evidence | null = null,
  isStrict = false,
): TextDiff {
  const exposed = exposedLines(before, after, profile);
  const [old, recent] = [mask(before, profile, exposed[0]), mask(after, profile, exposed[1])];
  const [oldTexts, newTexts] = [old, recent].map((list) => list.map(({ text }) => text)) as [string[], string[]];
  const found = hunksOf(oldTexts, newTexts) ?? wholeHunk(oldTexts, newTexts);
  const ops: DiffLine[] = [];
  const diff: TextDiff = { ...NO_DIFF, ignored: [] };
  // One more than is shown: it tells that there are more.
  let room = MAX_SHOWN_LINES + 1;
  const budget = { characters: MAX_BY_WORDS };
  const notes = new Notes(before, after, diff.ignored);
  const same = (from: number, to: number) => {
    if (room === 0) return;
    for (const { from: first, to: last } of recent.slice(from, to))
      for (let line = first; line < last; line += 1) ops.push({ op: " ", text: after.shown[line]! });
  };
  let [at, oldAt, changes] = [0, 0, 0];
  for (const { from, to, otherFrom, otherTo } of found) {
    same(at, otherFrom);
    for (let index = 0; index < from - oldAt; index += 1) notes.equal(old[oldAt + index]!, recent[at + index]!);
    at = otherTo;
    oldAt = to;
    const real = (list: readonly MaskedLine[]) => list.filter(({ isMasked }) => !isMasked);
    const [allGone, allCome] = [old.slice(from, to), recent.slice(otherFrom, otherTo)];
    notes.masked(allGone, allCome);
    const [gone, come] = [real(allGone), real(allCome)];
    if (gone.length === 0 && come.length === 0) {
      same(otherFrom, otherTo);
      continue;
    }
    const position = come[0]?.from ?? recent[otherFrom]?.from ?? after.lines.length;
    const indices = (list: readonly MaskedLine[]) => list.map((line) => line.from);
    const isOtherLine = gone.some(({ hasGaps }) => hasGaps) && come.some(({ hasGaps }) => hasGaps);
    const places = isOtherLine ? null : (evidence?.explains(indices(gone), indices(come), position) ?? null);
    const isUnsettled = places?.some((place) => place.isUnsettled) ?? false;
    if (places !== null && !(isUnsettled && isStrict)) {
      diff.isUnsettled ||= isUnsettled;
      notes.add(isUnsettled ? "unsettled" : "this_run", null, gone, come);
      same(otherFrom, otherTo);
      continue;
    }
    const linesOf = (text: PreparedText) => (line: MaskedLine) => text.lines.slice(line.from, line.to);
    const [goneTexts, comeTexts] = [gone.flatMap(linesOf(before)), come.flatMap(linesOf(after))];
    const counts = countWords(goneTexts, comeTexts);
    diff.added += counts.added;
    diff.removed += counts.removed;
    changes += 1;
    diff.hasValue ||= hasOtherValue(goneTexts.join(" "), comeTexts.join(" "));
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
  for (let index = 0; index < old.length - oldAt; index += 1) notes.equal(old[oldAt + index]!, recent[at + index]!);
  // Of many differences, some look like another price because goods have changed places.
  diff.hasValue &&= changes <= MAX_CERTAIN;
  for (const list of shuffledLists(before, after, profile)) notes.shuffled(list);
  const total = Math.max(wordsIn(before.lines).length, wordsIn(after.lines).length, 1);
  diff.share = Math.min(1, Math.max(diff.added, diff.removed) / total);
  return { ...diff, ...groupHunks(ops) };
}

export const NO_DIFF: TextDiff = {
  hunks: [],
  added: 0,
  removed: 0,
  share: 0,
  truncated: false,
  ignored: [],
  hasValue: false,
  isUnsettled: false,
};

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
