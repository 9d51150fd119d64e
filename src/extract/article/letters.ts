/** What each character is in a word, as a table: asking a regular expression takes ten times as long. */
export const LETTER = 1;
export const NUMBER = 2;
/** A mark, an apostrophe or a hyphen: part of a word, but not its beginning. */
export const INNER = 4;
/** Half of a character beyond the table. */
export const SURROGATE = 8;
const OTHER = 16;

const kinds = new Uint8Array(65_536);
kinds.fill(SURROGATE, 0xd800, 0xe000);

/** Of a UTF-16 code unit. */
export function kindOf(code: number): number {
  const kind = kinds[code]!;
  return kind === 0 ? (kinds[code] = classify(String.fromCharCode(code))) : kind;
}

function classify(char: string): number {
  if (/\p{L}/u.test(char)) return LETTER;
  if (/\p{N}/u.test(char)) return NUMBER;
  return /[\p{M}'’_-]/u.test(char) ? INNER : OTHER;
}

const LONG = 4;

/** Words of at least four letters and digits. */
export function longWords(text: string): string[] {
  const words: string[] = [];
  eachLongWord(text, (from, to) => void words.push(text.slice(from, to)));
  return words;
}

/** How many long words a text has, and how many of them are among the wanted. */
export function countLongWords(text: string, wanted: LongWords): { all: number; found: number } {
  let [all, found] = [0, 0];
  eachLongWord(text, (from, to) => {
    all += 1;
    if (wanted.mayHave(text.charCodeAt(from), to - from) && wanted.has(text.slice(from, to))) found += 1;
  });
  return { all, found };
}

/** A set of words that mostly tells by the first letter and the length that it does not have a word. */
export class LongWords {
  readonly #words: ReadonlySet<string>;
  /** One bit per letter and per length. */
  readonly #letters: number;
  readonly #lengths: number;

  constructor(words: Iterable<string>) {
    this.#words = new Set(words);
    let [letters, lengths] = [0, 0];
    for (const word of this.#words) {
      letters |= 1 << word.charCodeAt(0);
      lengths |= 1 << word.length;
    }
    this.#letters = letters;
    this.#lengths = lengths;
  }

  get size(): number {
    return this.#words.size;
  }

  mayHave(first: number, length: number): boolean {
    return ((this.#letters >>> first) & (this.#lengths >>> length) & 1) !== 0;
  }

  has(word: string): boolean {
    return this.#words.has(word);
  }
}

function eachLongWord(text: string, take: (from: number, to: number) => void): void {
  if (/[\ud800-\udfff]/.test(text)) {
    for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}]{4,}/gu)) take(index, index + word.length);
    return;
  }
  let from = -1;
  for (let at = 0; at <= text.length; at += 1) {
    if (at < text.length && (kindOf(text.charCodeAt(at)) & (LETTER | NUMBER)) !== 0) {
      if (from < 0) from = at;
    } else if (from >= 0) {
      if (at - from >= LONG) take(from, at);
      from = -1;
    }
  }
}
