/** What differs between fetches of a page that were made within seconds: that is no change of the page. */
import { linesIn } from "./mask.ts";
import type { PreparedText } from "../prepared-text.ts";
import type { VolatileRegion } from "./profile.ts";
import { type Hunk, hunksOf } from "../sequence.ts";
import { isAlike, lacksSteadyWord, templateName, templateOfAll } from "./templates.ts";
import { hasOtherValue, hasOtherValues } from "./values.ts";

/** A place of the page, with what each fetch shows there. */
export interface VaryingPlace {
  /** Lines of the first fetch. */
  from: number;
  to: number;
  variants: Variant[];
  /** What the last run showed there; null: it is not known where. */
  was: string[] | null;
  /** A later fetch was as the last run: either the place goes back and forth, or one of the answers was old. */
  isUnsettled: boolean;
  /** A price or an amount differs: that counts. */
  isValue: boolean;
}

interface Variant {
  text: PreparedText;
  from: number;
  to: number;
}

const linesOf = ({ text, from, to }: Variant) => text.lines.slice(from, to);

/** By its first and last line, every place in which one of the fetches differs from the first. */
export function varyingPlaces(
  before: PreparedText,
  first: PreparedText,
  others: readonly PreparedText[],
): VaryingPlace[] {
  const compared = others.flatMap((text) => {
    const hunks = hunksOf(first.lines, text.lines);
    return hunks === null ? [] : [{ text, hunks }];
  });
  const ranges: { from: number; to: number }[] = [];
  const all = compared.flatMap(({ text, hunks }) => [...hunks, ...movesIn(first, text, hunks)]);
  for (const { from, to } of all.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    const last = ranges.at(-1);
    // What is inserted beside a line that differs is at the same place.
    const isBeside = last !== undefined && from === last.to && (from === to || last.from === last.to);
    if (last !== undefined && (from < last.to || isBeside)) last.to = Math.max(last.to, to);
    else ranges.push({ from, to });
  }
  const since = hunksOf(first.lines, before.lines);
  return ranges.map(({ from, to }) => {
    const variants: Variant[] = [
      { text: first, from, to },
      ...compared.map(({ text, hunks }) => ({ text, ...rangeIn(hunks, from, to) })),
    ];
    const old = since === null ? null : rangeIn(since, from, to);
    const was = old === null ? null : before.lines.slice(old.from, old.to);
    const texts = variants.map((variant) => linesOf(variant).join("\n"));
    const wasText = was?.join("\n");
    const isUnsettled = wasText !== undefined && texts[0] !== wasText && texts.includes(wasText);
    return { from, to, variants, was, isUnsettled, isValue: isValueChange(variants) };
  });
}

/** Further away, equal lines are no lines that moved. */
const MAX_MOVE = 3;

/** Lines that changed places nearby: all between them is one place. */
function movesIn(first: PreparedText, other: PreparedText, hunks: readonly Hunk[]): { from: number; to: number }[] {
  const moves: { from: number; to: number }[] = [];
  for (const [index, one] of hunks.entries())
    for (const next of hunks.slice(index + 1)) {
      if (next.from - one.to > MAX_MOVE) break;
      const shares = (gone: Hunk, come: Hunk) => {
        const lines = new Set(first.lines.slice(gone.from, Math.min(gone.to, gone.from + MAX_EXPLAINED)));
        return other.lines
          .slice(come.otherFrom, Math.min(come.otherTo, come.otherFrom + MAX_EXPLAINED))
          .some((line) => lines.has(line));
      };
      if (shares(one, next) || shares(next, one)) moves.push({ from: one.from, to: next.to });
    }
  return moves;
}

/** Where lines of the first sequence are in the second; a hunk that they touch is a part of it. */
function rangeIn(hunks: readonly Hunk[], from: number, to: number): { from: number; to: number } {
  let [start, end] = [from, to];
  for (const hunk of hunks) {
    const isEmpty = hunk.from === hunk.to;
    const shift = hunk.otherTo - hunk.otherFrom - (hunk.to - hunk.from);
    if (hunk.to < from || (hunk.to === from && !isEmpty)) start += shift;
    else if (hunk.from < from && hunk.to > from) start = hunk.otherFrom;
    if (hunk.to <= to) end += shift;
    else if (hunk.from < to && hunk.to > to) end = hunk.otherTo;
  }
  return { from: start, to: Math.max(start, end) };
}

function isValueChange(variants: readonly Variant[]): boolean {
  const [first = [], ...others] = variants.map(linesOf);
  return others.some((other) => {
    if (hasOtherValue(first.join(" "), other.join(" "))) return true;
    return hasOtherValues(first, other, 1);
  });
}

/** More lines at one place are a change. */
const MAX_EXPLAINED = 80;

/** Longer places are no slots for advertisements. */
export const MAX_PLACE = 12;

export function mostLines(lengths: readonly number[]): number {
  const [shortest, longest] = [Math.min(...lengths), Math.max(...lengths)];
  // A place whose length varies may be longer yet.
  return shortest === longest ? longest : Math.max(longest * 2, 3);
}

/** How many lines of each kind of element a place may hold. */
export function kindsOf(variants: readonly Variant[]): Map<string, number> {
  const all = variants.map(({ text, from, to }) => {
    const counts = new Map<string, number>();
    for (let line = from; line < to; line += 1) {
      const kind = text.regions.kindOf(line);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    return counts;
  });
  const kinds = new Set(all.flatMap((counts) => [...counts.keys()]));
  return new Map([...kinds].map((kind) => [kind, mostLines(all.map((counts) => counts.get(kind) ?? 0))]));
}

/** Whether lines of two runs differ only as the fetches of one run do. */
export class Evidence {
  readonly places: readonly VaryingPlace[];
  readonly #before: PreparedText;
  readonly #after: PreparedText;
  readonly #lists: readonly VolatileRegion[];
  /** Lines of both texts that are members of such lists. */
  readonly #members: [ReadonlySet<number>, ReadonlySet<number>];

  /** `lists`: are compared by their members. */
  constructor(
    before: PreparedText,
    after: PreparedText,
    places: readonly VaryingPlace[],
    lists: readonly VolatileRegion[],
  ) {
    this.#before = before;
    this.#after = after;
    this.places = places;
    this.#lists = lists;
    const membersOf = (text: PreparedText) => new Set(lists.flatMap((list) => [...linesIn(text, list)]));
    this.#members = [membersOf(before), membersOf(after)];
  }

  /** Without the places that the user watches, by their names or lines. */
  without(isWatched: (text: string) => boolean): Evidence {
    const left = this.places.filter(
      ({ variants }) => ![...namesOf(variants), ...variants.flatMap(linesOf)].some(isWatched),
    );
    return left.length === this.places.length ? this : new Evidence(this.#before, this.#after, left, this.#lists);
  }

  /** Whether the places may hold so many lines of each kind. */
  #hasRoom(gone: readonly number[], come: readonly number[], places: readonly VaryingPlace[]): boolean {
    const room = new Map<string, number>();
    for (const { variants, from, to } of places) {
      for (const [kind, most] of kindsOf(variants)) room.set(kind, (room.get(kind) ?? 0) + most);
      // Lines of the place that stand beside an equal line of the last run take its room.
      for (let line = from; line < to; line += 1) {
        const kind = this.#after.regions.kindOf(line);
        if (!come.includes(line)) room.set(kind, (room.get(kind) ?? 0) - 1);
      }
    }
    return gone.every((line) => {
      const kind = this.#before.regions.kindOf(line);
      const left = (room.get(kind) ?? 0) - 1;
      room.set(kind, left);
      return left >= 0;
    });
  }

  /** `at`: where in the new text the lines are, or were. Null: this is a change. */
  explains(gone: readonly number[], come: readonly number[], at: number): readonly VaryingPlace[] | null {
    const [goneMembers, comeMembers] = this.#members;
    if (gone.some((line) => goneMembers.has(line)) || come.some((line) => comeMembers.has(line))) return null;
    const places = this.places.filter(({ isValue }) => !isValue);
    if (gone.length + come.length > MAX_EXPLAINED) return null;
    const touched =
      come.length === 0
        ? places.filter(({ from, to }) => from <= at && at <= to)
        : places.filter(({ from, to }) => come.some((line) => from <= line && line < to));
    if (touched.length === 0) return null;
    if (!come.every((line) => touched.some(({ from, to }) => from <= line && line < to))) return null;
    const texts = new Set(touched.flatMap(({ variants }) => variants.flatMap(linesOf)));
    const isKnown = gone.every((line) => texts.has(this.#before.lines[line]!));
    if (!isKnown && !this.#hasRoom(gone, come, touched)) return null;
    const [old, recent] = [gone.map((line) => this.#before.lines[line]!), come.map((line) => this.#after.lines[line]!)];
    if (hasOtherValue(old.join(" "), recent.join(" "))) return null;
    const shown = [...recent, ...touched.flatMap(({ variants }) => variants.flatMap(linesOf))];
    if (hasOtherValues(old, shown, 1)) return null;
    return hasOtherSteadyWord(old, recent, touched) ? null : touched;
  }
}

/** Whether a line, of which the fetches show some words to vary, differs in another word. */
function hasOtherSteadyWord(
  old: readonly string[],
  recent: readonly string[],
  places: readonly VaryingPlace[],
): boolean {
  const fetched = new Map<string, string[]>();
  for (const { variants } of places) {
    const [first = [], ...others] = variants.map(linesOf);
    for (const [at, line] of first.entries()) {
      const all = [line, ...others.flatMap((other) => (other.length === first.length ? [other[at]!] : []))];
      // Quite other lines are no variants of this one.
      if (all.some((one) => one !== line) && all.every((one) => isAlike(one, line))) fetched.set(line, all);
    }
  }
  return old.some((line) =>
    recent.some((one) => {
      const all = fetched.get(one);
      return all !== undefined && lacksSteadyWord(line, one, all);
    }),
  );
}

/** The names of the place: of its elements, and of lines that vary in some words. */
function namesOf(variants: readonly Variant[]): Set<string> {
  const names = new Set<string>();
  for (const { text, from, to } of variants)
    for (let line = from; line < to; line += 1)
      for (let node = text.regions.nodeOf(line); node >= 0; node = text.regions.parentOf(node))
        if (!text.regions.isWhole(node)) names.add(text.regions.nameOf(node));
  const [first = [], ...others] = variants.map(linesOf);
  for (const [at, line] of first.entries()) {
    const all = [line, ...others.flatMap((other) => other[at] ?? [])];
    const template = templateOfAll(all);
    if (template !== null) names.add(templateName(line, template));
  }
  return names;
}
