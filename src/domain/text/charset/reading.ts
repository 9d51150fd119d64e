/** Decodes each byte of a single-byte encoding. */

export interface Reading {
  /** By byte: the lower-case character code; BOUNDARY for non-letters. */
  letters: Uint16Array;
  /** By byte, of KIND. */
  kinds: Uint8Array;
}

export const KIND = {
  boundary: 0,
  small: 1,
  capital: 2,
  /** May occur between two letters. */
  joint: 3,
  /** Follows a letter. */
  apostrophe: 4,
  /** Touches a word on one side. */
  quote: 5,
  /** Touches numbers, but no words. */
  sign: 6,
  /** Does not occur in text. */
  symbol: 7,
  nothing: 8,
} as const;

/** `_`, as in the bigram tables. */
export const BOUNDARY = 95;

const readings = new Map<string, Reading>();

export function readingOf(charset: string): Reading {
  let reading = readings.get(charset);
  if (reading === undefined) readings.set(charset, (reading = buildReading(charset)));
  return reading;
}

function buildReading(charset: string): Reading {
  const letters = new Uint16Array(256).fill(BOUNDARY);
  const kinds = new Uint8Array(256);
  const decoder = new TextDecoder(charset);
  for (let byte = 0; byte < 256; byte += 1) {
    const character = decoder.decode(Uint8Array.of(byte));
    const small = character.toLowerCase();
    kinds[byte] = kindOf(character, byte > 127);
    if (kinds[byte] === KIND.small || kinds[byte] === KIND.capital) letters[byte] = small.charCodeAt(0);
  }
  return { letters, kinds };
}

function kindOf(character: string, isHigh: boolean): number {
  // Thai and Hebrew vowels, and Vietnamese tones, are combining marks.
  if (/^[\p{L}\p{M}]$/u.test(character) && !SIGNS.test(character)) {
    return character === character.toLowerCase() ? KIND.small : KIND.capital;
  }
  if (!isHigh) return KIND.boundary;
  if (character === "’") return KIND.apostrophe;
  if (/[\u00a0·–\u00ad]/.test(character)) return KIND.joint;
  if (/[«»‘“”„‚‹›—…¿¡،؛؟]/.test(character)) return KIND.quote;
  if (SIGNS.test(character)) return KIND.sign;
  return character === "\ufffd" || /\p{Cc}/u.test(character) ? KIND.nothing : KIND.symbol;
}

const SIGNS = /[•°©®™€£§№ªº±²³¹¼½¾×÷¢¥µ]/;
