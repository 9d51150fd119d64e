/** CommonMark's character classes next to a delimiter. */

const PUNCTUATION = /[\p{P}\p{S}]/u;
const ASCII = /[ -~]/;

export function firstCharacter(text: string): string {
  const code = text.codePointAt(0);
  return code === undefined ? "" : String.fromCodePoint(code);
}

export function lastCharacter(text: string): string {
  const code = text.codePointAt(text.length - 2);
  return code !== undefined && code > 0xffff ? String.fromCodePoint(code) : text.slice(-1);
}

/** The start and end of a block count as space. */
export function isSpaceCharacter(character: string): boolean {
  return character === "" || /\s/.test(character);
}

export function isPunctuation(character: string): boolean {
  return PUNCTUATION.test(character);
}

/** Parsers of older CommonMark versions treat non-ASCII symbols, such as `€`, as letters. */
export function isSurelyPunctuation(character: string): boolean {
  return isPunctuation(character) && (ASCII.test(character) || /\p{P}/u.test(character));
}
