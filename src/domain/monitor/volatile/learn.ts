/**
 * Learns what a page changes on its own from fetches of it close in time: lists whose members rotate or are shuffled,
 * lines in which some words change, elements, and places between two steady neighbours.
 */
import { Evidence, kindsOf, MAX_PLACE, mostLines, type VaryingPlace, varyingPlaces } from "./evidence.ts";
import { EDGE, linesIn, rangesOf } from "./mask.ts";
import type { PreparedText } from "../prepared-text.ts";
import {
  MAX_ENTRIES,
  type Observed,
  type VolatileLine,
  type VolatileProfile,
  type VolatileRegion,
  type VolatileSlot,
} from "./profile.ts";
import { digest, isAlike, sortedWords, templateOf, templateOfAll } from "./templates.ts";
import { hasOtherValues, VALUED } from "./values.ts";

/** Lines on each side that may identify a place. */
const MAX_NEIGHBOURS = 4;

/** `others`: later fetches of the page, `before`: the page as it was in the last run. */
export function learnFrom(
  profile: VolatileProfile,
  before: PreparedText,
  first: PreparedText,
  others: readonly PreparedText[],
): { profile: VolatileProfile; evidence: Evidence } {
  const places = varyingPlaces(before, first, others);
  let known = profile;
  for (const region of others.length === 0 ? [] : listsIn(first, others, places)) known = withRegion(known, region);
  const lists = (known.regions ?? []).filter(({ item, off }) => item !== null && off !== true);
  for (const place of places.slice(0, MAX_ENTRIES)) {
    if (place.isValue || lists.some((list) => isWithin(place, list))) continue;
    known = learnPlace(known, place, first, others);
  }
  return { profile: known, evidence: new Evidence(before, first, places, lists) };
}

/** Whether all that differs at the place are members of the list. */
function isWithin({ variants }: VaryingPlace, list: VolatileRegion): boolean {
  return variants.every(({ text, from, to }) => {
    if (from === to) return true;
    const lines = new Set(linesIn(text, list));
    return Array.from({ length: to - from }, (_, line) => from + line).every((line) => lines.has(line));
  });
}

/** Lists of which the fetches show other members, or the same ones in another order. */
function listsIn(
  first: PreparedText,
  others: readonly PreparedText[],
  places: readonly VaryingPlace[],
): VolatileRegion[] {
  const { regions } = first;
  const looked = new Set<number>();
  const found: VolatileRegion[] = [];
  for (const { from, to } of places)
    for (let line = from; line < Math.max(to, from + 1); line += 1)
      for (let node = regions.nodeOf(line); node >= 0; node = regions.parentOf(node)) {
        if (looked.has(node)) break;
        looked.add(node);
        const region = listAt(first, others, node);
        if (region === null) continue;
        found.push(region);
        break;
      }
  return found;
}

function listAt(first: PreparedText, others: readonly PreparedText[], node: number): VolatileRegion | null {
  const { regions, lines } = first;
  const item = regions.itemOf(node);
  const key = regions.keyOf(node);
  if (item === null || regions.find(key) !== node) return null;
  const marked = regions.isMarked(node) ? { marked: true as const } : {};
  const textsOf = (text: PreparedText, at: number) =>
    text.regions.members(at, item).map((member) => member.map((line) => text.lines[line]).join("\n"));
  const own = textsOf({ ...first, lines, regions }, node);
  const all = others.map((text) => {
    const other = text.regions.find(key);
    return other === null ? null : textsOf(text, other);
  });
  if (all.some((list) => list === null)) return null;
  const lists = all as string[][];
  const differing = lists.filter((list) => !isEqual(list, own));
  if (differing.length === 0) return null;
  const region = (mode: VolatileRegion["mode"]): VolatileRegion => ({ key, item, mode, ...marked });
  const sorted = own.toSorted();
  if (differing.every((list) => isEqual(list.toSorted(), sorted))) return first.isSet ? null : region("shuffled");
  // What differs in some words alone is known by its lines.
  if (differing.every((list) => list.length === own.length && list.every((one, at) => isKnownAs(one, own[at]!))))
    return null;
  if (differing.some((list) => hasOtherValues(list, own))) return null;
  if (hasSteadyMember(own, lists)) return null;
  const isPool = differing.some((list) => {
    const [ours, theirs] = [new Set(own), new Set(list)];
    const common = own.filter((one) => theirs.has(one));
    const isMoved = !isEqual(
      common,
      list.filter((one) => ours.has(one)),
    );
    return isMoved || unknownMembers(own, list) * 2 >= Math.max(own.length, list.length);
  });
  return isPool && !regions.isWhole(node) ? region("rotating") : null;
}

/** Whether a member has stayed in its place in all fetches: others change beside it, and it counts. */
function hasSteadyMember(own: readonly string[], others: readonly string[][]): boolean {
  return own.some((one, at) => others.every((list) => list[at] === one));
}

/** How many members the other list has not: not even with something else in them, such as an advertisement. */
function unknownMembers(own: readonly string[], other: readonly string[]): number {
  const counts = new Map<string, number>();
  const linesOf = (member: string) => new Set(member.split("\n"));
  for (const member of own) for (const line of linesOf(member)) counts.set(line, (counts.get(line) ?? 0) + 1);
  const others = new Set(other.flatMap((member) => [...linesOf(member)]));
  // What several members have says nothing about one.
  const isOwn = (line: string) => counts.get(line) === 1 && !VALUED.test(line);
  return own.filter((member) => ![...linesOf(member)].some((line) => isOwn(line) && others.has(line))).length;
}

const isEqual = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((text, index) => text === other[index]);
const isKnownAs = (one: string, other: string) => one === other || isAlike(one, other);

function learnPlace(
  profile: VolatileProfile,
  place: VaryingPlace,
  first: PreparedText,
  others: readonly PreparedText[],
): VolatileProfile {
  const flag: Pick<Observed, "pending"> = place.isUnsettled ? { pending: true } : {};
  const isReordered = areSameWords(place.variants);
  const templates = isReordered ? null : templatesOf(place, profile);
  if (templates !== null) {
    const entries = templates.map((line) => ({ ...line, ...flag }));
    return { ...profile, lines: added(profile.lines, entries, ({ words }) => JSON.stringify(words)) };
  }
  if (place.variants.some(({ from, to }) => to - from > MAX_PLACE)) return profile;
  const region = regionOf(place);
  if (region !== null) return withRegion(profile, { ...region, ...flag });
  const slot = slotOf(place, first, others);
  if (slot === null) return profile;
  const same = profile.slots.find((one) => slotKey(one) === slotKey(slot));
  const entry = { ...slot, ...flag, most: Math.max(slot.most, same?.most ?? 0) };
  return { ...profile, slots: added(profile.slots, [entry], slotKey) };
}

const slotKey = ({ before, after }: VolatileSlot) => JSON.stringify([before, after]);

function withRegion(profile: VolatileProfile, region: VolatileRegion): VolatileProfile {
  const key = ({ key: name, item }: VolatileRegion) => JSON.stringify([name, item]);
  const known = (profile.regions ?? []).find((one) => key(one) === key(region));
  // A list that was shuffled and now shows other members rotates, and stays so.
  const mode = known?.mode === "rotating" && known.off !== true ? "rotating" : region.mode;
  return { ...profile, regions: added(profile.regions ?? [], [{ ...region, mode }], key) };
}

/** The newest entries stay. What was seen once beside the content of the run before is known by the second time. */
function added<T extends Observed>(known: readonly T[], more: readonly T[], keyOf: (one: T) => string): T[] {
  const keys = new Set(more.map(keyOf));
  const others = known.filter((one) => !keys.has(keyOf(one)));
  const unique = new Map(more.map((one) => [keyOf(one), one]));
  const entries = [...unique].map(([key, entry]) => {
    if (entry.pending !== true || !known.some((one) => keyOf(one) === key)) return entry;
    const { pending: _, ...confirmed } = entry;
    return confirmed as T;
  });
  return [...others, ...entries].slice(-MAX_ENTRIES);
}

/** Null: the lines are not the same ones with other words. */
function templatesOf({ variants, was }: VaryingPlace, known: VolatileProfile): VolatileLine[] | null {
  const [first = [], ...others] = variants.map(({ text, from, to }) => text.lines.slice(from, to));
  if (first.length === 0 || first.length > MAX_PLACE) return null;
  if (others.some((other) => other.length !== first.length)) return null;
  const found: VolatileLine[] = [];
  for (const [index, line] of first.entries()) {
    const all = [line, ...others.map((other) => other[index]!)];
    if (all.every((one) => one === line)) continue;
    const template = templateOfAll(all);
    if (template === null) return null;
    found.push(template);
  }
  // Two fetches may show the same advertisement by chance, but the run before has shown quite another one.
  // It is known, though, if that one was a line with gaps, too: then its steady words have changed.
  const isAsBefore = (old: string) => templateOf(old, known.lines) !== null || first.some((line) => isAlike(line, old));
  const isRotating = was !== null && !was.some(isAsBefore);
  return isRotating ? null : found;
}

/** The element that holds the place and little else; null: there is none, or it has no name of its own. */
function regionOf({ variants }: VaryingPlace): VolatileRegion | null {
  const shown = variants.filter(({ from, to }) => from < to);
  const nodes = shown.map(({ text, from, to }) =>
    text.regions.around(Array.from({ length: to - from }, (_, line) => from + line)),
  );
  let node = nodes[0] ?? -1;
  const { regions, isSet } = shown[0]!.text;
  // Of a set, lines beside each other are anywhere on the page.
  if (isSet && shown.some(({ from, to }) => to - from > 1)) return null;
  for (; node >= 0 && !regions.isWhole(node); node = regions.parentOf(node)) {
    const key = regions.keyOf(node);
    const isTight = shown.every(({ text, from, to }) => {
      const at = text.regions.find(key);
      if (at === null) return false;
      const lines = text.regions.linesOf(at);
      const inside = lines.filter((line) => from <= line && line < to).length;
      return inside === to - from && lines.length === inside;
    });
    const marked = regions.isMarked(node) ? { marked: true as const } : {};
    if (isTight) return { key, item: null, mode: areSameWords(variants) ? "words" : "rotating", ...marked };
    if (isSet || regions.linesOf(node).length > MAX_PLACE) return null;
  }
  return null;
}

/** Whether all fetches show one line, with its words in other orders. */
function areSameWords(variants: VaryingPlace["variants"]): boolean {
  if (variants.some(({ from, to }) => to - from !== 1)) return false;
  const lines = variants.map(({ text, from }) => text.lines[from]!);
  return new Set(lines).size > 1 && new Set(lines.map(sortedWords)).size === 1;
}

function slotOf(place: VaryingPlace, first: PreparedText, others: readonly PreparedText[]): VolatileSlot | null {
  const texts = [first, ...others];
  const digests = texts.map(({ lines }) => lines.map(digest));
  const last = place.variants.at(-1)!;
  const own = last.text.lines;
  const most = mostLines(place.variants.map(({ from, to }) => to - from));
  const kinds = [...kindsOf(place.variants)].flatMap(([kind, count]) =>
    Array.from({ length: count }, () => digest(kind)),
  );
  const isAlone = (slot: VolatileSlot) => digests.every((lines) => rangesOf(slot, lines).length === 1);
  const at = (index: number) => (own[index] === undefined ? EDGE : digest(own[index]));
  for (let count = 1; count <= MAX_NEIGHBOURS; count += 1) {
    const before = Array.from({ length: count }, (_, index) => at(last.from - count + index));
    const after = Array.from({ length: count }, (_, index) => at(last.to + index));
    const slot: VolatileSlot = { before, after, most, kinds };
    if (isAlone(slot)) return slot;
  }
  return null;
}
