/**
 * Single-byte encodings accept any bytes, so letter statistics decide: picks the encoding in which the text has the
 * lowest cost in bits under the bigram model of its most likely language.
 */
import { type Model, modelOf } from "./letter-pairs.ts";
import { BOUNDARY, KIND, type Reading, readingOf } from "./reading.ts";

const WESTERN = "fr de es pt it sv da nb fi nl is ca gl fo lb sq";
const CYRILLIC = "ru bg uk sr be mk";
const CENTRAL = "cs sk pl hu hr sl ro";
const BALTIC = "lt lv et";

const FALLBACK = "windows-1252";
/** Another encoding must be this many bits cheaper than Western text: about one misplaced letter. */
const MARGIN = 6;
/** Bits per letter, in words with few ASCII letters. 120 letters cost at most 12.8 each in the right language. */
const MAX_AVERAGE = 14;

/** An encoding, its languages, and a penalty in bits for rare encodings. */
type Candidate = readonly [charset: string, languages: string, penalty: number];

/** Latin scripts. Here and below, the first of two encodings that decode all bytes alike wins. */
const LATIN: readonly Candidate[] = [
  ["windows-1250", CENTRAL, 0],
  ["windows-1254", "tr", 0],
  ["windows-1257", BALTIC, 0],
  ["windows-1258", "vi", 0],
  ["iso-8859-2", CENTRAL, 1],
  ["iso-8859-15", WESTERN, 4],
  ["iso-8859-13", BALTIC, 4],
  ["macintosh", WESTERN, 10],
  ["iso-8859-4", BALTIC, 10],
  ["iso-8859-3", "eo mt", 10],
  ["iso-8859-14", "cy ga", 10],
  ["iso-8859-10", "is", 10],
];

/** Scripts whose words consist of non-ASCII letters. */
const OTHER_SCRIPTS: readonly Candidate[] = [
  ["windows-1251", CYRILLIC, 0],
  ["windows-1253", "el", 0],
  ["windows-1255", "he", 0],
  ["windows-1256", "ar fa", 0],
  ["windows-874", "th", 0],
  ["koi8-r", "ru", 1],
  ["koi8-u", "uk ru", 1],
  ["iso-8859-7", "el", 1],
  ["iso-8859-8", "he", 1],
  ["iso-8859-5", CYRILLIC, 4],
  ["iso-8859-6", "ar", 4],
  ["ibm866", CYRILLIC, 4],
  ["x-mac-cyrillic", CYRILLIC, 4],
];

/** Bits of a bigram that the language's table does not contain. */
const UNKNOWN_PAIR = 14;
const UNKNOWN_LETTER = 17;
const PUNCTUATION = 9;
/** A sign inside a word. */
const MISPLACED = 18;
const NO_CHARACTER = 22;
/** Added for a capital after a lower-case letter. */
const INNER_CAPITAL = 6;

/** Examined non-ASCII letters in total, and per byte even beyond that: one byte may tell two encodings apart. */
const MAX_LETTERS = 400;
const MIN_OF_EACH = 4;
const SPACE = 32;

/**
 * Null: no evidence for another encoding than windows-1252. `hasWords`: non-ASCII bytes follow each other, as in words of
 * another script.
 */
export function singleByteCharset(text: Uint8Array, hasWords: boolean): string | null {
  const positions = highBytePositions(text);
  let best: string | null = null;
  let lowest = minCost(text, positions, FALLBACK, WESTERN, Number.POSITIVE_INFINITY) - MARGIN;
  for (const [charset, languages, penalty] of hasWords ? [...OTHER_SCRIPTS, ...LATIN] : LATIN) {
    const bits = minCost(text, positions, charset, languages, lowest - penalty) + penalty;
    if (bits >= lowest) continue;
    lowest = bits;
    best = charset;
  }
  return hasWords && lowest > positions.length * MAX_AVERAGE ? null : best;
}

function highBytePositions(text: Uint8Array): number[] {
  const positions: number[] = [];
  const counts = new Uint16Array(256);
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at]!;
    if (byte < 128 || (positions.length >= MAX_LETTERS && counts[byte]! >= MIN_OF_EACH)) continue;
    counts[byte]! += 1;
    positions.push(at);
  }
  return positions;
}

/** The cost of the text in its cheapest language; not exact above `limit`. */
function minCost(text: Uint8Array, positions: readonly number[], charset: string, languages: string, limit: number) {
  const reading = readingOf(charset);
  let lowest = limit;
  for (const language of languages.split(" ")) {
    const model = modelOf(language);
    let bits = 0;
    for (const at of positions) {
      bits += costAt(text, at, reading, model);
      if (bits >= lowest) break;
    }
    lowest = Math.min(lowest, bits);
  }
  return lowest;
}

/** The cost of the bigram that ends in this byte, and of the one that starts with it unless the next byte counts itself. */
function costAt(text: Uint8Array, at: number, { letters, kinds }: Reading, model: Model): number {
  const byte = text[at]!;
  const before = text[at - 1] ?? SPACE;
  const after = text[at + 1] ?? SPACE;
  const pairs = after > 127 ? 1 : 2;
  const kind = kinds[byte];
  if (kind === KIND.nothing) return pairs * NO_CHARACTER;
  if (kind === KIND.symbol) return 2 * MISPLACED;
  if (kind === KIND.joint) return pairs * PUNCTUATION;
  const touchesBefore = before > 127 || letters[before] !== BOUNDARY;
  const touchesAfter = after > 127 || letters[after] !== BOUNDARY;
  if (kind === KIND.apostrophe) return pairs * (touchesBefore ? PUNCTUATION : MISPLACED);
  if (kind === KIND.quote) return pairs * (touchesBefore && touchesAfter ? MISPLACED : PUNCTUATION);
  if (kind === KIND.sign) return pairs * (touchesBefore || touchesAfter ? MISPLACED : PUNCTUATION);
  let bits = pairCost(model, letters[before]!, letters[byte]!);
  if (pairs === 2) bits += pairCost(model, letters[byte]!, letters[after]!);
  if (kind === KIND.capital && kinds[before] === KIND.small) bits += INNER_CAPITAL;
  return bits;
}

function pairCost(model: Model, first: number, second: number): number {
  const bits = model.pairs.get(first * 0x10000 + second);
  if (bits !== undefined) return bits;
  return model.letters.has(first) && model.letters.has(second) ? UNKNOWN_PAIR : UNKNOWN_LETTER;
}
