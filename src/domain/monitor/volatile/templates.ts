/** Lines that stay the same but for some words. */
import { hash } from "node:crypto";
import type { VolatileLine } from "./profile.ts";
import { hunksOf } from "../sequence.ts";

const MAX_WORDS = 60;
const MAX_GAPS = 6;

export const digest = (text: string) => hash("sha256", text, "base64url").slice(0, 8);
export const wordsOf = (line: string) => line.split(/\s+/).filter((word) => word !== "");

/** Lines that are looked for in templates: the words of each are read once, whatever the number of templates. */
export class TemplateLines {
  readonly #lines: readonly string[];
  readonly #words: (readonly string[] | null)[] = [];
  readonly #digests = new Map<string, string>();

  private constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  static readonly #known = new WeakMap<readonly string[], TemplateLines>();

  /** The lines of one fetch are looked at for every further one. */
  static of(lines: readonly string[]): TemplateLines {
    let found = TemplateLines.#known.get(lines);
    if (found === undefined) TemplateLines.#known.set(lines, (found = new TemplateLines(lines)));
    return found;
  }

  /** The most general one, so that a line has the same template in every run. */
  templateOf(line: number, templates: readonly VolatileLine[]): VolatileLine | null {
    if (templates.length === 0) return null;
    const words = this.#wordsOf(line);
    if (words === null) return null;
    const found = templates.filter((template) => fits(words, template));
    return found.toSorted((a, b) => steadyWords(a) - steadyWords(b))[0] ?? null;
  }

  /** Null: there are too many. */
  #wordsOf(line: number): readonly string[] | null {
    const known = this.#words[line];
    if (known !== undefined) return known;
    const words = wordsOf(this.#lines[line]!);
    const found = words.length > MAX_WORDS * 2 ? null : words.map((word) => this.#digestOf(word));
    this.#words[line] = found;
    return found;
  }

  #digestOf(word: string): string {
    const known = this.#digests.get(word);
    if (known !== undefined) return known;
    const found = digest(word);
    this.#digests.set(word, found);
    return found;
  }
}

/** See `TemplateLines`. */
export const templateOf = (line: string, templates: readonly VolatileLine[]): VolatileLine | null =>
  TemplateLines.of([line]).templateOf(0, templates);

export const steadyWords = ({ words }: Pick<VolatileLine, "words">) => words.filter((word) => word !== null).length;

/** Whether the steady words stand in this order, with nothing but gaps in between. */
function fits(words: readonly string[], { words: template, gap }: VolatileLine): boolean {
  const [start] = template;
  if (start !== null && start !== words[0]) return false;
  const end = template.at(-1);
  if (end !== null && end !== words.at(-1)) return false;
  const steady = steadyWords({ words: template });
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

/** Null: too little of the line is steady. */
export function templateBetween(one: string, other: string): VolatileLine | null {
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
  if (steady < 2 || steady * 2 < Math.max(a.length, b.length)) return null;
  return { words, gap };
}

/** Equal for the same words in any order. */
export const sortedWords = (line: string) => wordsOf(line).toSorted().join(" ");

/** Whether they are the same line, with some other words. */
export const isAlike = (one: string, other: string) => templateBetween(one, other) !== null;

/** The words that all lines have in this order; null: they cannot be compared. */
function commonWords(lines: readonly string[]): string[] | null {
  let common: string[] | null = null;
  for (const line of lines) {
    const words = wordsOf(line);
    if (words.length > MAX_WORDS) return null;
    if (common === null) {
      common = words;
      continue;
    }
    const hunks = hunksOf(common, words);
    if (hunks === null) return null;
    common = common.filter((_, at) => !hunks.some(({ from, to }) => from <= at && at < to));
  }
  return common;
}

/** Whether a line that is much like another lacks a word that all fetches of that one have. */
export function lacksSteadyWord(line: string, other: string, fetches: readonly string[]): boolean {
  if (!isAlike(line, other) || sortedWords(line) === sortedWords(other)) return false;
  const common = commonWords(fetches);
  if (common === null || common.length === 0) return false;
  const words = wordsOf(line);
  let at = 0;
  return !common.every((word) => {
    while (at < words.length && words[at] !== word) at += 1;
    at += 1;
    return at <= words.length;
  });
}

/** The template of lines that all fetches show; null: too little of them is steady. */
export function templateOfAll(lines: readonly string[]): VolatileLine | null {
  const common = commonWords(lines);
  const counts = lines.map((line) => wordsOf(line).length);
  const longest = Math.max(...counts);
  if (common === null || common.length < 2 || common.length * 2 < longest) return null;
  const words: (string | null)[] = [];
  let next = 0;
  let gap = 1;
  for (const line of lines) {
    const hunks = hunksOf(common, wordsOf(line)) ?? [];
    gap = Math.max(gap, ...hunks.map(({ otherFrom, otherTo }) => otherTo - otherFrom));
  }
  const open = new Set(lines.flatMap((line) => (hunksOf(common, wordsOf(line)) ?? []).map(({ from }) => from)));
  for (; next <= common.length; next += 1) {
    if (open.has(next)) words.push(null);
    if (next < common.length) words.push(digest(common[next]!));
  }
  return open.size > MAX_GAPS ? null : { words, gap };
}

const MAX_NAME = 120;

/** As shown: the steady words of the line. */
export function templateName(line: string, { words }: Pick<VolatileLine, "words">): string {
  const texts = new Map(wordsOf(line).map((word) => [digest(word), word]));
  return words
    .map((word) => (word === null ? "…" : (texts.get(word) ?? "…")))
    .join(" ")
    .slice(0, MAX_NAME);
}
