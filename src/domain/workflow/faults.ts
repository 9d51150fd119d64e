/** Collects the errors of a definition with their paths, up to a readable number. */
import type { FieldError } from "../../base/errors.ts";
import { suggest } from "../text/suggest.ts";

const MOST_FAULTS = 100;
/** Comparing words takes time by their lengths and number; nobody mistypes a longer one. */
const LONGEST_WORD = 40;
const MOST_WORDS = 100;

export class Faults {
  readonly #list: FieldError[] = [];
  readonly #seen = new Set<string>();
  #more = false;

  get count(): number {
    return this.#list.length;
  }

  /** Further checks can be skipped. */
  get isFull(): boolean {
    return this.#more;
  }

  /** The message is made only if it will be read. */
  add(path: string, message: string | (() => string)): void {
    if (this.#list.length >= MOST_FAULTS) {
      this.#more = true;
      return;
    }
    const text = typeof message === "string" ? message : message();
    // Two checks may find the same error.
    const key = `${path} ${text}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#list.push({ path, message: text });
  }

  addAll(faults: readonly FieldError[], prefix = ""): void {
    for (const { path, message } of faults) this.add(`${prefix}${path}`, message);
  }

  list(): FieldError[] {
    if (!this.#more) return this.#list;
    return [...this.#list, { path: "", message: "there are more; correct these first" }];
  }
}

/** The known word that was probably meant. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  return word.length > LONGEST_WORD ? undefined : suggest(word, [...known].slice(0, MOST_WORDS));
}

/** `, did you mean "…"?`, or nothing. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const near = nearest(word, known);
  return near === undefined ? "" : `, did you mean "${near}"?`;
}

/** A name as messages show it. */
export function shortened(word: string): string {
  return word.length > LONGEST_WORD ? `${word.slice(0, LONGEST_WORD)}…` : word;
}
