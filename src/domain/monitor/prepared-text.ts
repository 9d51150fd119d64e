/** A page's text as it is compared: line by line, without noise and with the part of the page that each line is in. */
import type { Pattern } from "../text/regex.ts";
import type { PageContent } from "./content.ts";
import { isSameClock } from "./dates.ts";
import { linesWithoutNoise } from "./noise.ts";
import type { NoiseClass } from "./options.ts";
import { NO_REGIONS, Regions } from "./regions.ts";
import { hunksOf } from "./sequence.ts";

/** A text as it is compared; blank lines and ignored parts are left out. */
export interface PreparedText {
  /** As shown. */
  shown: string[];
  /** As compared. */
  lines: string[];
  /** Of the same lines, with all dates but those that only tell when the page was made. */
  dated: string[];
  /** When the page was fetched; null: dates are not told apart. */
  at: number | null;
  regions: Regions;
  /** The order of the lines has no meaning. */
  isSet: boolean;
  /** Of a set: all elements that each line is in. */
  nodes?: readonly (readonly number[])[];
}

export interface TextRules {
  noise: ReadonlySet<NoiseClass>;
  ignore: readonly Pattern[];
  /** The order of the lines has no meaning. */
  isSet: boolean;
}

export function prepareText(
  { text: content, tree }: PageContent,
  { noise, ignore, isSet }: TextRules,
  at: number | null,
): PreparedText {
  const shown: string[] = [];
  const kept: string[] = [];
  const nodes: number[] = [];
  let number = -1;
  for (const line of content.split("\n")) {
    if (line.trim() === "") continue;
    number += 1;
    const text = ignore
      .reduce((rest, pattern) => pattern.without(rest), line)
      .replace(/\s+/g, " ")
      .trim();
    if (text === "") continue;
    shown.push(line.trimEnd());
    kept.push(text);
    nodes.push(tree?.lines[number] ?? -1);
  }
  // A set has no positions by which the dates of two texts could be told apart.
  const fetchedAt = isSet || !noise.has("dates") ? null : at;
  const lines = linesWithoutNoise(kept, noise, fetchedAt);
  const regions = (of: readonly number[]) => (tree === null ? NO_REGIONS : new Regions(tree, of));
  if (!isSet) {
    const dated = fetchedAt === null ? lines : linesWithoutNoise(kept, noise, Number.NEGATIVE_INFINITY);
    return { shown, lines, dated, at: fetchedAt, regions: regions(nodes), isSet };
  }
  const found = new Map<string, { shown: string; lines: number[] }>();
  for (const [index, line] of lines.entries()) {
    const one = found.get(line);
    if (one === undefined) found.set(line, { shown: shown[index]!, lines: [index] });
    else one.lines.push(index);
  }
  const sorted = [...found].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const texts = sorted.map(([line]) => line);
  // What is linked from two places is in the part that has both.
  const whole = regions(nodes);
  const of = sorted.map(([, one]) => (tree === null ? -1 : whole.around(one.lines)));
  return {
    shown: sorted.map(([, one]) => one.shown),
    lines: texts,
    dated: texts,
    at: null,
    regions: regions(of),
    isSet,
    nodes: sorted.map(([, one]) => one.lines.map((line) => nodes[line]!)),
  };
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
