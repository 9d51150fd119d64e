/** Learns from the comparison of runs what fetches close in time do not show, such as a page from a cache. */
import { hash } from "node:crypto";
import { linesIn, rangesOf } from "./mask.ts";
import type { PreparedText } from "../prepared-text.ts";
import {
  MAX_ENTRIES,
  type Observed,
  type Rotation,
  type Suspect,
  type VolatileLine,
  type VolatileProfile,
} from "./profile.ts";
import { hunksOf } from "../sequence.ts";
import { digest, templateBetween, TemplateLines } from "./templates.ts";
import { hasOtherValue, VALUED } from "./values.ts";

const MAX_LINES = 12;
/** A line is volatile if it differed in so many of the last comparisons in which it occurred. */
const RUNS = { changed: 6, share: 0.8, forget: 10 } as const;
/** An element rotates if it often became what it had been before, and was not always one of two. */
const ROTATING = { changed: 5, share: 0.7, returns: 2, contents: 3, remembered: 8 } as const;
/** A place that stayed the same in so many runs counts again. */
const STEADY_RUNS = 10;

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const digestOf = (text: string) => hash("sha256", text, "base64url").slice(0, 8);

/**
 * Slow, and only of lines that stay the same but for some words, and of elements that go back to earlier contents: a price
 * or a percentage is never learned away, and neither is what is new each time, such as the newest headline.
 */
export function learnFromRuns(profile: VolatileProfile, before: PreparedText, now: PreparedText): VolatileProfile {
  const hunks = hunksOf(before.lines, now.lines);
  if (hunks === null) return profile;
  const found: VolatileLine[] = [];
  const rotated = new Map<string, string>();
  for (const { from, to, otherFrom, otherTo } of hunks.slice(0, MAX_ENTRIES)) {
    const element = rotatedElement(before, now, { from, to, otherFrom, otherTo });
    if (element !== null) rotated.set(element.key, element.content);
    if (to - from !== otherTo - otherFrom || to - from > MAX_LINES) continue;
    for (let index = 0; index < to - from; index += 1) {
      const [was, is] = [before.lines[from + index]!, now.lines[otherFrom + index]!];
      const template = VALUED.test(was) || VALUED.test(is) ? null : templateBetween(was, is);
      if (template !== null) found.push(template);
    }
  }
  return withRotations(withSuspects(profile, found), rotated);
}

function withSuspects(profile: VolatileProfile, found: readonly VolatileLine[]): VolatileProfile {
  const suspects = profile.suspects.map((suspect) => {
    const isHit = found.some(({ words }) => isSame(words, suspect.place.words));
    return { ...suspect, changed: suspect.changed + Number(isHit), compared: suspect.compared + 1 };
  });
  for (const place of found)
    if (!suspects.some((suspect) => isSame(suspect.place.words, place.words)))
      suspects.push({ place, changed: 1, compared: 1 });
  const isVolatile = ({ changed, compared }: Suspect) => changed >= RUNS.changed && changed / compared >= RUNS.share;
  const isForgotten = ({ changed, compared }: Suspect) => compared >= RUNS.forget && changed / compared < RUNS.share;
  const learned = suspects.filter(isVolatile).map(({ place }) => place);
  const others = profile.lines.filter(({ words }) => !learned.some((line) => isSame(line.words, words)));
  return {
    ...profile,
    lines: [...others, ...learned].slice(-MAX_ENTRIES),
    suspects: suspects.filter((one) => !isVolatile(one) && !isForgotten(one)).slice(-MAX_ENTRIES),
  };
}

interface Range {
  from: number;
  to: number;
  otherFrom: number;
  otherTo: number;
}

/** The element that holds the difference and little else, with what it holds now. */
function rotatedElement(
  before: PreparedText,
  now: PreparedText,
  { from, to, otherFrom, otherTo }: Range,
): { key: string; content: string } | null {
  if (from === to || otherFrom === otherTo || Math.max(to - from, otherTo - otherFrom) > MAX_LINES) return null;
  const [old, recent] = [before.lines.slice(from, to).join(" "), now.lines.slice(otherFrom, otherTo).join(" ")];
  if (hasOtherValue(old, recent)) return null;
  const { regions } = now;
  let node = regions.around(Array.from({ length: otherTo - otherFrom }, (_, line) => otherFrom + line));
  for (; node >= 0 && !regions.isWhole(node); node = regions.parentOf(node)) {
    const key = regions.keyOf(node);
    const lines = regions.linesOf(node);
    if (lines.length > 2 * (otherTo - otherFrom)) return null;
    if (regions.find(key) === node && before.regions.find(key) !== null)
      return { key, content: digestOf(lines.map((line) => now.lines[line]).join("\n")) };
  }
  return null;
}

function withRotations(profile: VolatileProfile, rotated: ReadonlyMap<string, string>): VolatileProfile {
  const known = profile.rotations ?? [];
  if (known.length === 0 && rotated.size === 0) return profile;
  const isOpen = (key: string) => !(profile.regions ?? []).some((one) => one.key === key && one.off !== true);
  const all = known.map((one): Rotation => {
    const content = rotated.get(one.key);
    const compared = one.compared + 1;
    if (content === undefined) return { ...one, compared };
    const isReturn = one.seen.includes(content) && one.seen.at(-1) !== content;
    const isNew = one.seen.at(-1) !== content;
    return {
      ...one,
      seen: [...one.seen.filter((other) => other !== content), content].slice(-ROTATING.remembered),
      changed: one.changed + Number(isNew),
      compared,
      returns: one.returns + Number(isReturn),
    };
  });
  for (const [key, content] of rotated)
    if (isOpen(key) && !all.some((one) => one.key === key))
      all.push({ key, seen: [content], changed: 1, compared: 1, returns: 0 });
  const isRotating = ({ changed, compared, returns, seen }: Rotation) =>
    changed >= ROTATING.changed &&
    changed / compared >= ROTATING.share &&
    returns >= ROTATING.returns &&
    seen.length >= ROTATING.contents;
  const isForgotten = ({ changed, compared }: Rotation) =>
    compared >= RUNS.forget && changed / compared < ROTATING.share;
  const learned = all.filter(isRotating).map(({ key }) => ({ key, item: null, mode: "rotating" as const }));
  const others = (profile.regions ?? []).filter(({ key }) => !learned.some((one) => one.key === key));
  return {
    ...profile,
    regions: [...others, ...learned].slice(-MAX_ENTRIES),
    rotations: all.filter((one) => !isRotating(one) && !isForgotten(one)).slice(-MAX_ENTRIES),
  };
}

/** Notes what the places hold now: one that has long stayed the same is no longer left out. */
export function observe(profile: VolatileProfile, now: PreparedText): VolatileProfile {
  const digests = profile.slots.length === 0 ? [] : now.lines.map(digest);
  const content = (lines: readonly number[]) => digestOf(lines.map((line) => now.lines[line]).join("\n"));
  const known = TemplateLines.of(now.lines);
  const lines = profile.lines.flatMap((entry) => {
    const fitting = now.lines.filter((_, at) => known.templateOf(at, [entry]) !== null);
    const seen = observed(entry, digestOf(fitting.join("\n")));
    if (isVarying(seen)) return [seen];
    // Other pages may show that it varies; on this one it does not, if it is there at all.
    return fitting.length === 0 ? [] : [{ ...seen, off: true as const }];
  });
  const slots = profile.slots.map((entry) => {
    const [range] = rangesOf(entry, digests);
    const inside = range === undefined ? [] : Array.from({ length: range.to - range.from }, (_, at) => range.from + at);
    return observed(entry, content(inside));
  });
  const regions = (profile.regions ?? []).map((entry) => observed(entry, content(linesIn(now, entry))));
  return {
    ...profile,
    lines,
    slots: slots.filter(isVarying),
    // Other pages may show that it rotates; on this one it does not.
    regions: regions.map((entry) => (isVarying(entry) ? entry : { ...entry, off: true as const })),
  };
}

const isVarying = ({ steady = 0 }: Observed) => steady < STEADY_RUNS;

function observed<T extends Observed>(entry: T, last: string): T {
  return { ...entry, last, steady: entry.last === last ? (entry.steady ?? 0) + 1 : 0 };
}
