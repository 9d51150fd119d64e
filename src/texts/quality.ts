/**
 * Measures of a text's quality, as the filters of Gopher (Rae et al. 2021, section A.1.1) and FineWeb (Penedo et al. 2024)
 * use them. All shares are from 0 to 1.
 */
import { INVISIBLE_CHARACTERS, mix, SPACELESS_SCRIPTS, WordReader } from "./words.ts";

export interface TextQuality {
  words: number;
  characters: number;
  /** In characters. */
  mean_word_length: number;
  /** `#` and ellipses per word. */
  symbol_ratio: number;
  /** Share of words with a letter. */
  alphabetic_words: number;
  /** Share of words that are single characters of scripts without spaces. */
  spaceless_words: number;
  /** Shares of lines: beginning with a bullet, ending in an ellipsis, ending in a mark, of at most 30 characters. */
  bullet_lines: number;
  ellipsis_lines: number;
  punctuated_lines: number;
  short_lines: number;
  /** Line breaks per word. */
  line_breaks: number;
  /** Shares of lines and paragraphs that occurred before, and of the characters in them. */
  duplicate_lines: number;
  duplicate_line_characters: number;
  duplicate_paragraphs: number;
  duplicate_paragraph_characters: number;
  /** Share of characters in the most frequent run of this many words. */
  top_2_gram: number;
  top_3_gram: number;
  top_4_gram: number;
  /** Share of characters in runs of this many words that occurred before. */
  duplicate_5_grams: number;
  duplicate_6_grams: number;
  duplicate_7_grams: number;
  duplicate_8_grams: number;
  duplicate_9_grams: number;
  duplicate_10_grams: number;
}

/** All but the number of characters is measured of the beginning: a text of any length takes a bounded time. */
const MOST_MEASURED_CHARACTERS = 2_000_000;
/** Runs of words are counted within these first words. */
const MOST_MEASURED_WORDS = 100_000;
const SHORT_LINE = 30;

const SYMBOL = /#|\.\.\.|…/g;
const BULLET = /^[•‣⁃▪●○◦*-]\s*/;
const ELLIPSIS = /(?:\.\.\.|…)$/;
/** Ends of sentences in the scripts of the world, also before a closing quote. */
const MARK = /[.!?…。！？؟۔।॥։።។៕။།༎]["'”’»)\]]?$/;
const WORD = /[^\s\p{P}\p{S}]+(?:['’.-][^\s\p{P}\p{S}]+)*/gu;
const CHARACTER = new RegExp(`[${SPACELESS_SCRIPTS}]\\p{M}*`, "gu");
const IS_SPACELESS = new RegExp(`^[${SPACELESS_SCRIPTS}]`, "u");
const INVISIBLE = new RegExp(`[${INVISIBLE_CHARACTERS}]+`, "gu");
const LETTER = /\p{L}/u;

const reader = new WordReader();

/** The part of a text that is measured. */
export function measuredPart(text: string): string {
  return text.length > MOST_MEASURED_CHARACTERS ? text.slice(0, MOST_MEASURED_CHARACTERS) : text;
}

export function measureText(whole: string): TextQuality {
  const text = measuredPart(whole);
  const lines = text.split(/\r?\n/).flatMap((line) => line.trim() || []);
  const words = wordsOf(text);
  const count = words.length;
  const perWord = (value: number) => rounded(count === 0 ? 0 : value / count);
  const perLine = (is: (line: string) => boolean) => rounded(shareOf(lines, is));
  const paragraphs = text.split(/\n\s*\n/).flatMap((paragraph) => paragraph.trim() || []);
  const [sameLines, sameParagraphs] = [repeated(lines), repeated(paragraphs)];
  const grams = new Grams(words.slice(0, MOST_MEASURED_WORDS));
  return {
    words: count,
    characters: charactersOf(whole),
    mean_word_length: perWord(words.reduce((sum, word) => sum + word.length, 0)),
    symbol_ratio: perWord(text.match(SYMBOL)?.length ?? 0),
    alphabetic_words: rounded(shareOf(words, (word) => LETTER.test(word))),
    spaceless_words: rounded(shareOf(words, (word) => IS_SPACELESS.test(word))),
    bullet_lines: perLine((line) => BULLET.test(line)),
    ellipsis_lines: perLine((line) => ELLIPSIS.test(line)),
    punctuated_lines: perLine((line) => MARK.test(line)),
    short_lines: perLine((line) => line.length <= SHORT_LINE),
    line_breaks: perWord(Math.max(0, lines.length - 1)),
    duplicate_lines: sameLines.share,
    duplicate_line_characters: sameLines.characters,
    duplicate_paragraphs: sameParagraphs.share,
    duplicate_paragraph_characters: sameParagraphs.characters,
    top_2_gram: grams.top(2),
    top_3_gram: grams.top(3),
    top_4_gram: grams.top(4),
    duplicate_5_grams: grams.duplicates(5),
    duplicate_6_grams: grams.duplicates(6),
    duplicate_7_grams: grams.duplicates(7),
    duplicate_8_grams: grams.duplicates(8),
    duplicate_9_grams: grams.duplicates(9),
    duplicate_10_grams: grams.duplicates(10),
  };
}

/** A pair of surrogates is one character. */
export function charactersOf(text: string): number {
  let pairs = 0;
  for (let at = 1; at < text.length; at += 1)
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) pairs += 1;
  return text.length - pairs;
}

/** In scripts without spaces every character is a word. */
function wordsOf(text: string): string[] {
  return text.replace(INVISIBLE, "").replace(CHARACTER, " $& ").match(WORD) ?? [];
}

function shareOf<T>(list: readonly T[], is: (entry: T) => boolean): number {
  return list.length === 0 ? 0 : list.reduce((sum, entry) => sum + (is(entry) ? 1 : 0), 0) / list.length;
}

function repeated(list: readonly string[]): { share: number; characters: number } {
  const seen = new Set<string>();
  let [times, characters, all] = [0, 0, 0];
  for (const entry of list) {
    all += entry.length;
    if (seen.has(entry)) {
      times += 1;
      characters += entry.length;
    } else seen.add(entry);
  }
  return list.length === 0
    ? { share: 0, characters: 0 }
    : { share: rounded(times / list.length), characters: rounded(characters / all) };
}

/** Runs of words, by 53 bits of their hashes. */
class Grams {
  readonly #hashes: Int32Array;
  /** Characters before each word. */
  readonly #lengths: Float64Array;
  readonly #characters: number;

  constructor(words: readonly string[]) {
    this.#hashes = Int32Array.from(words, hashOf);
    this.#lengths = new Float64Array(words.length + 1);
    for (const [at, word] of words.entries()) this.#lengths[at + 1] = this.#lengths[at]! + word.length;
    this.#characters = Math.max(1, this.#lengths[words.length]!);
  }

  /** A run that occurs once is no repetition. */
  top(size: number): number {
    const counts = new Map<number, number>();
    let [most, length] = [1, 0];
    for (let at = 0; at + size <= this.#hashes.length; at += 1) {
      const gram = this.#gram(at, size);
      const count = (counts.get(gram) ?? 0) + 1;
      counts.set(gram, count);
      const own = this.#length(at, size);
      if (count > most || (count === most && count > 1 && own > length)) [most, length] = [count, own];
    }
    // Runs may overlap: `a a a` has `a a` twice.
    return rounded(most === 1 ? 0 : Math.min(1, (most * length) / this.#characters));
  }

  /** Characters of overlapping runs count once. */
  duplicates(size: number): number {
    const seen = new Set<number>();
    let characters = 0;
    for (let at = 0; at + size <= this.#hashes.length;) {
      const gram = this.#gram(at, size);
      if (seen.has(gram)) {
        characters += this.#length(at, size);
        at += size;
      } else {
        seen.add(gram);
        at += 1;
      }
    }
    return rounded(characters / this.#characters);
  }

  #length(at: number, size: number): number {
    return this.#lengths[at + size]! - this.#lengths[at]!;
  }

  #gram(at: number, size: number): number {
    let [high, low] = [size, 0];
    for (let next = at; next < at + size; next += 1) {
      high = mix(Math.imul(high, 0x9e3779b1) ^ this.#hashes[next]!);
      low = Math.imul(low ^ this.#hashes[next]!, 0x01000193) + (low >>> 13);
    }
    return (high >>> 0) * 0x200000 + (mix(low | 0) >>> 11);
  }
}

/** Of all its parts: `2024-01-01` and `2024-02-01` differ, and so do `l'homme` and `l'eau`. */
function hashOf(word: string): number {
  const parts = reader.read(word);
  let hash = 0;
  for (let part = 0; part < parts; part += 1) hash = mix(Math.imul(hash, 0x9e3779b1) ^ reader.hashes[part]!);
  return hash;
}

function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
