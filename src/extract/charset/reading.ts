/** What each byte is in an encoding of one byte a letter. */

export interface Reading {
  /** By byte: the small letter as a character code; everything else is a boundary. */
  letters: Uint16Array;
  /** By byte, of KIND. */
  kinds: Uint8Array;
}

export const KIND = {
  boundary: 0,
  small: 1,
  capital: 2,
  /** May stand between two letters. */
  joint: 3,
  /** Behind a letter. */
  apostrophe: 4,
  /** Touches a word on one side. */
  quote: 5,
  /** Touches numbers, but no words. */
  sign: 6,
  /** In no text. */
  symbol: 7,
  nothing: 8,
} as const;

/** `_`, as in the tables of pairs. */
export const BOUNDARY = 95;

const readings = new Map<string, Reading>();

export function readingOf(charset: string): Reading {
  let reading = readings.get(charset);
  if (reading === undefined) readings.set(charset, (reading = read(charset)));
  return reading;
}

function read(charset: string): Reading {
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
  // Thai and Hebrew vowels, and the tones of Vietnamese, are marks.
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
