/**
 * What a page changes on its own. Learned from two fetches of the page close in time, and from lines that differ in most
 * runs: a line in which some words change, or a place between two steady neighbours.
 */
import { hash } from "node:crypto";
import { type Hunk, hunksOf } from "./sequence.ts";

export interface VolatileProfile {
  /** Lines with gaps: digests of the steady words, null for a gap. */
  lines: VolatileLine[];
  /** Places between steady lines. */
  slots: VolatileSlot[];
  /** Lines that differed in some runs, and may turn out to be volatile. */
  suspects: Suspect[];
  /** Of a screenshot: tiles that change on their own. */
  tiles?: number[];
}

interface VolatileLine {
  words: (string | null)[];
  /** Most words that a gap had. */
  gap: number;
}

interface VolatileSlot {
  /** Digests of the lines before and after it. */
  before: string[];
  after: string[];
  /** Most lines that it had. */
  most: number;
}

interface Suspect {
  place: VolatileLine;
  /** In how many comparisons the line differed, of how many. */
  changed: number;
  compared: number;
}

export const NO_PROFILE: VolatileProfile = { lines: [], slots: [], suspects: [] };

const MAX_ENTRIES = 40;
const MAX_WORDS = 60;
const MAX_GAPS = 6;
/** Lines on each side that may identify a place. */
const MAX_NEIGHBOURS = 4;
/** Longer places are no slots for advertisements. */
const MAX_SLOT = 12;
const EDGE = "‹edge›";

/** A line of a page, or a place that is left out, with the range of original lines that it covers. */
export interface MaskedLine {
  /** A line with gaps is named after its steady words. */
  text: string;
  from: number;
  to: number;
  isMasked: boolean;
}

const digest = (text: string) => hash("sha256", text, "base64url").slice(0, 8);
const wordsOf = (line: string) => line.split(/\s+/).filter((word) => word !== "");

/** The lines, without the volatile places. */
export function mask(lines: readonly string[], profile: VolatileProfile): MaskedLine[] {
  const slotAt = new Map<number, { index: number; to: number }>();
  if (profile.slots.length > 0) {
    const digests = lines.map(digest);
    for (const [index, slot] of profile.slots.entries())
      for (const { from, to } of rangesOf(slot, digests)) if (!slotAt.has(from)) slotAt.set(from, { index, to });
  }
  const masked: MaskedLine[] = [];
  for (let at = 0; at <= lines.length;) {
    const slot = slotAt.get(at);
    if (slot !== undefined) {
      masked.push({ text: `‹slot ${slot.index}›`, from: at, to: slot.to, isMasked: true });
      slotAt.delete(at);
      at = slot.to;
      continue;
    }
    if (at === lines.length) break;
    const line = lines[at]!;
    const template = profile.lines.length === 0 ? null : templateOf(line, profile.lines);
    // With other steady words it has another template: that is a change.
    const text = template === null ? line : `‹line ${digest(JSON.stringify(template.words))}›`;
    masked.push({ text, from: at, to: at + 1, isMasked: false });
    at += 1;
  }
  return masked;
}

/** The most general one, so that a line has the same template in every run. */
function templateOf(line: string, templates: readonly VolatileLine[]): VolatileLine | null {
  const words = wordsOf(line);
  if (words.length > MAX_WORDS * 2) return null;
  const digests = words.map(digest);
  const found = templates.filter((template) => fits(digests, template));
  return found.toSorted((a, b) => steadyWords(a) - steadyWords(b))[0] ?? null;
}

const steadyWords = ({ words }: VolatileLine) => words.filter((word) => word !== null).length;

/** Whether the steady words stand in this order, with nothing but gaps in between. */
function fits(words: readonly string[], { words: template, gap }: VolatileLine): boolean {
  const steady = steadyWords({ words: template, gap });
  const gaps = template.length - steady;
  if (words.length < steady || words.length > steady + gaps * gap) return false;
  // Where in the line the template may stand so far, in order: each place is looked at once per word of the template.
  let places: number[] = [0];
  for (const wanted of template) {
    const next: number[] = [];
    for (const at of places) {
      if (wanted !== null) {
        if (words[at] === wanted) next.push(at + 1);
        continue;
      }
      const last = Math.min(at + gap, words.length);
      for (let to = Math.max(at, (next.at(-1) ?? -1) + 1); to <= last; to += 1) next.push(to);
    }
    if (next.length === 0) return false;
    places = next;
  }
  return places.at(-1) === words.length;
}

function rangesOf({ before, after, most }: VolatileSlot, digests: readonly string[]): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  const at = (index: number) => (index < 0 || index >= digests.length ? EDGE : digests[index]!);
  for (let from = 0; from <= digests.length; from += 1) {
    if (!before.every((line, index) => at(from - before.length + index) === line)) continue;
    for (let to = from; to <= Math.min(digests.length, from + most); to += 1)
      if (after.every((line, index) => at(to + index) === line)) {
        found.push({ from, to });
        break;
      }
    // Where several places look alike, none is known.
    if (found.length > 1) return [];
  }
  return found;
}

/** Adds what differs between two fetches of the same page, close in time. `before`: the page as it was in the last run. */
export function learnFrom(
  profile: VolatileProfile,
  before: readonly string[],
  first: readonly string[],
  second: readonly string[],
): VolatileProfile {
  const hunks = hunksOf(first, second);
  if (hunks === null) return profile;
  const since = hunksOf(before, first) ?? [];
  const sinceSecond = hunksOf(before, second);
  const digests = [first, second].map((lines) => lines.map(digest)) as [string[], string[]];
  let known = profile;
  for (const hunk of hunks.slice(0, MAX_ENTRIES)) {
    // As it was: one of the two answers is old, and the other one a change.
    if (sinceSecond !== null && !sinceSecond.some((other) => touches(other, hunk))) continue;
    const lines = [...first.slice(hunk.from, hunk.to), ...second.slice(hunk.otherFrom, hunk.otherTo)];
    if (lines.some((line) => VALUED.test(line))) continue;
    const replaced = since.find(({ otherFrom, otherTo }) => otherFrom <= hunk.from && hunk.to <= otherTo);
    const was = replaced === undefined ? null : before.slice(replaced.from, replaced.to);
    known = learnHunk(known, hunk, first, second, digests, was);
  }
  return known;
}

/** Whether they have a place of the second sequence in common; a place without lines is within its neighbours. */
function touches(one: Hunk, other: Hunk): boolean {
  const [from, to] = [Math.max(one.otherFrom, other.otherFrom), Math.min(one.otherTo, other.otherTo)];
  const isEmpty = one.otherFrom === one.otherTo || other.otherFrom === other.otherTo;
  return isEmpty ? from <= to : from < to;
}

function learnHunk(
  profile: VolatileProfile,
  hunk: Hunk,
  first: readonly string[],
  second: readonly string[],
  digests: [string[], string[]],
  was: readonly string[] | null,
): VolatileProfile {
  const templates = templatesOf(hunk, first, second);
  // Two fetches may show the same advertisement by chance, but the run before has shown quite another one.
  const isRotating =
    was !== null && !first.slice(hunk.from, hunk.to).some((line) => was.some((old) => isAlike(line, old)));
  if (templates !== null && !isRotating) return { ...profile, lines: added(profile.lines, templates) };
  const slot = slotOf(hunk, digests);
  return slot === null ? profile : { ...profile, slots: withSlot(profile.slots, slot) };
}

/** Null: the lines are not the same ones with other words. */
function templatesOf(
  { from, to, otherFrom, otherTo }: Hunk,
  first: readonly string[],
  second: readonly string[],
): VolatileLine[] | null {
  if (to - from !== otherTo - otherFrom || to - from > MAX_SLOT) return null;
  const templates: VolatileLine[] = [];
  for (let index = 0; index < to - from; index += 1) {
    const template = templateBetween(first[from + index]!, second[otherFrom + index]!);
    if (template === null) return null;
    templates.push(template);
  }
  return templates;
}

/** Null: too little of the line is steady. */
function templateBetween(one: string, other: string): VolatileLine | null {
  const [a, b] = [wordsOf(one), wordsOf(other)];
  if (Math.max(a.length, b.length) > MAX_WORDS) return null;
  const hunks = hunksOf(a, b);
  if (hunks === null || hunks.length > MAX_GAPS) return null;
  const words: (string | null)[] = [];
  let at = 0;
  let gap = 1;
  for (const { from, to, otherFrom, otherTo } of hunks) {
    for (; at < from; at += 1) words.push(digest(a[at]!));
    words.push(null);
    gap = Math.max(gap, to - from, otherTo - otherFrom);
    at = to;
  }
  for (; at < a.length; at += 1) words.push(digest(a[at]!));
  const steady = words.filter((word) => word !== null).length;
  return steady < 2 || steady * 2 < Math.max(a.length, b.length) ? null : { words, gap };
}

/** Whether they are the same line, with some other words. */
const isAlike = (one: string, other: string) => templateBetween(one, other) !== null;

function slotOf({ from, to, otherFrom, otherTo }: Hunk, digests: [string[], string[]]): VolatileSlot | null {
  const [shorter = 0, longer = 0] = [to - from, otherTo - otherFrom].toSorted((a, b) => a - b);
  if (longer > MAX_SLOT) return null;
  // A place whose length varies may be longer yet.
  const most = shorter === longer ? longer : Math.max(longer * 2, 3);
  const isAlone = (slot: VolatileSlot) => digests.every((lines) => rangesOf(slot, lines).length === 1);
  const line = (index: number) => digests[1][index] ?? EDGE;
  for (let count = 1; count <= MAX_NEIGHBOURS; count += 1) {
    const before = Array.from({ length: count }, (_, index) => line(otherFrom - count + index));
    const after = Array.from({ length: count }, (_, index) => line(otherTo + index));
    const slot = { before, after, most };
    if (isAlone(slot)) return slot;
  }
  return null;
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** The newest entries stay. */
function added(known: readonly VolatileLine[], more: readonly VolatileLine[]): VolatileLine[] {
  const others = known.filter(({ words }) => !more.some((line) => isSame(line.words, words)));
  return [...others, ...more].slice(-MAX_ENTRIES);
}

function withSlot(known: readonly VolatileSlot[], slot: VolatileSlot): VolatileSlot[] {
  const isIt = ({ before, after }: VolatileSlot) => isSame([before, after], [slot.before, slot.after]);
  const most = Math.max(slot.most, ...known.filter(isIt).map((one) => one.most));
  return [...known.filter((one) => !isIt(one)), { ...slot, most }].slice(-MAX_ENTRIES);
}

/** A line is volatile if it differed in so many of the last comparisons in which it occurred. */
const RUNS = { changed: 6, share: 0.8, forget: 10 } as const;
/** What a person watches, although it may change in every run. */
const VALUED = new RegExp(
  [
    String.raw`[$€£¥₹₽₩₺₴₪฿₫%]`,
    String.raw`(?<!\p{L})(?:usd|eur|euros?|gbp|chf|jpy|sek|nok|dkk|pln|czk|huf|cad|aud|inr|cny|krw|rub|brl|kr|zł|kč|ft|lei)(?!\p{L})`,
    String.raw`\d\s?(?:left|available|remaining|pieces?|pcs|units?|items?|stück|stk|seats?|rooms?|tickets?|kg|g|mg|lbs?|oz|ml|cl|l|litres?|liters?|km|m|cm|mm|gb|tb|mb|kwh|kw)(?!\p{L})`,
    String.raw`(?<!\p{L})(?:in|out of|low|auf) (?:stock|lager)(?!\p{L})|(?<!\p{L})(?:stock|inventory|bestand|quantity|qty)\W{0,3}\d`,
  ].join("|"),
  "iu",
);

/**
 * Learns from the comparison of two runs. Slow and only of lines that stay the same but for some words: a price or a
 * percentage is never learned away, and neither are whole lines, such as the newest headline.
 */
export function learnFromRuns(
  profile: VolatileProfile,
  before: readonly string[],
  now: readonly string[],
): VolatileProfile {
  const hunks = hunksOf(before, now);
  if (hunks === null) return profile;
  const found: VolatileLine[] = [];
  for (const { from, to, otherFrom, otherTo } of hunks.slice(0, MAX_ENTRIES)) {
    if (to - from !== otherTo - otherFrom || to - from > MAX_SLOT) continue;
    for (let index = 0; index < to - from; index += 1) {
      const [was, is] = [before[from + index]!, now[otherFrom + index]!];
      const template = VALUED.test(was) || VALUED.test(is) ? null : templateBetween(was, is);
      if (template !== null) found.push(template);
    }
  }
  const suspects = profile.suspects.map((suspect) => {
    const isHit = found.some(({ words }) => isSame(words, suspect.place.words));
    return { ...suspect, changed: suspect.changed + Number(isHit), compared: suspect.compared + 1 };
  });
  for (const place of found)
    if (!suspects.some((suspect) => isSame(suspect.place.words, place.words)))
      suspects.push({ place, changed: 1, compared: 1 });
  const isVolatile = ({ changed, compared }: Suspect) => changed >= RUNS.changed && changed / compared >= RUNS.share;
  const isForgotten = ({ changed, compared }: Suspect) => compared >= RUNS.forget && changed / compared < RUNS.share;
  return {
    ...profile,
    lines: added(
      profile.lines,
      suspects.filter(isVolatile).map(({ place }) => place),
    ),
    suspects: suspects.filter((one) => !isVolatile(one) && !isForgotten(one)).slice(-MAX_ENTRIES),
  };
}
