/** Differences that were left out as noise, and why: they are shown beside the changes. */
import { mask, type MaskedLine, shuffledIn } from "./volatile/mask.ts";
import type { PreparedText } from "./prepared-text.ts";
import type { VolatileProfile } from "./volatile/profile.ts";

export const IGNORED_KINDS = ["built_in", "words", "place", "shuffled", "this_run", "unsettled"] as const;

/** A difference that is no change, and why. */
export interface IgnoredPlace {
  /**
   * `built_in`: dates, counters and ids; `words`: words of a line; `place`: a place that changes on its own; `shuffled`:
   * another order; `this_run`: fetches of this run differed; `unsettled`: a later fetch was as the last run.
   */
  kind: (typeof IGNORED_KINDS)[number];
  /** As `watch` names it; null: it cannot be watched. */
  place: string | null;
  before: string[];
  after: string[];
}

/** A place of which changes do not count. */
export interface LeftOutPlace {
  kind: (typeof LEFT_OUT_KINDS)[number];
  place: string;
  /** What the page showed there last. */
  texts: string[];
}

export const LEFT_OUT_KINDS = ["words", "place", "shuffled"] as const satisfies readonly IgnoredPlace["kind"][];

/** What is shown of places that were left out. */
const IGNORED = { places: 50, lines: 6, characters: 200 } as const;
/** Collects what is left out. */
export class Notes {
  readonly #before: PreparedText;
  readonly #after: PreparedText;
  readonly #list: IgnoredPlace[];

  constructor(before: PreparedText, after: PreparedText, list: IgnoredPlace[]) {
    this.#before = before;
    this.#after = after;
    this.#list = list;
  }

  /** A list that the texts show in another order. */
  shuffled({ name, lines: [old, recent] }: { name: string; lines: readonly [number[], number[]] }): void {
    const masked = (list: readonly number[]) =>
      list.map((line): MaskedLine => ({ text: "", from: line, to: line + 1, isMasked: false, place: name }));
    this.add("shuffled", name, masked(old), masked(recent));
  }

  /** Two lines, or places, that count as the same. */
  equal(old: MaskedLine, recent: MaskedLine): void {
    const [was, is] = [this.#compared(this.#before, [old]), this.#compared(this.#after, [recent])];
    if (was !== is) return this.add(old.isMasked ? "place" : "words", recent.place ?? old.place, [old], [recent]);
    const [one, other] = [this.#shown(this.#before, [old]), this.#shown(this.#after, [recent])];
    if (one.join("\n") !== other.join("\n")) this.add("built_in", null, [old], [recent]);
    return undefined;
  }

  /** Places that one of the texts has and the other has not. */
  masked(old: readonly MaskedLine[], recent: readonly MaskedLine[]): void {
    for (const line of old) if (line.isMasked && line.from < line.to) this.add("place", line.place, [line], []);
    for (const line of recent) if (line.isMasked && line.from < line.to) this.add("place", line.place, [], [line]);
  }

  add(
    kind: IgnoredPlace["kind"],
    place: string | null,
    old: readonly MaskedLine[],
    recent: readonly MaskedLine[],
  ): void {
    const known = place === null ? undefined : this.#list.find((one) => one.kind === kind && one.place === place);
    const [before, after] = [this.#shown(this.#before, old), this.#shown(this.#after, recent)];
    if (known !== undefined) {
      known.before = [...known.before, ...before].slice(0, IGNORED.lines);
      known.after = [...known.after, ...after].slice(0, IGNORED.lines);
    } else if (this.#list.length < IGNORED.places)
      this.#list.push({ kind, place, before: before.slice(0, IGNORED.lines), after: after.slice(0, IGNORED.lines) });
  }

  #compared(text: PreparedText, list: readonly MaskedLine[]): string {
    return list.map(({ from, to }) => text.lines.slice(from, to).join("\n")).join("\n");
  }

  #shown(text: PreparedText, list: readonly MaskedLine[]): string[] {
    return list.flatMap(({ from, to }) =>
      text.shown.slice(from, Math.min(to, from + IGNORED.lines)).map((line) => line.slice(0, IGNORED.characters)),
    );
  }
}

/** What is left out of a text, whether it differs from another one or not. */
export function leftOutOf(text: PreparedText, profile: VolatileProfile): LeftOutPlace[] {
  const found: LeftOutPlace[] = [];
  const add = (kind: LeftOutPlace["kind"], place: string, from: number, to: number) => {
    const lines = text.shown.slice(from, Math.min(to, from + IGNORED.lines)).map((line) => line.trim());
    const texts = lines.map((line) => line.slice(0, IGNORED.characters));
    const known = found.find((one) => one.kind === kind && one.place === place);
    if (known !== undefined) known.texts = [...known.texts, ...texts].slice(0, IGNORED.lines);
    else if (found.length < IGNORED.places) found.push({ kind, place, texts });
  };
  for (const { from, to, isMasked, place } of mask(text, profile))
    if (place !== null) add(isMasked ? "place" : "words", place, from, to);
  for (const { name, lines } of shuffledIn(text, profile))
    for (const line of lines) add("shuffled", name, line, line + 1);
  return found;
}
