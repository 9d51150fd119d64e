/** Text statistics, computed in one pass. */
export interface TextMeasure {
  /** Words; two characters of a script without spaces count as one. */
  words: number;
  chars: number;
  digits: number;
  upper: number;
  commas: number;
  sentences: number;
  /** Ends with sentence punctuation. */
  ended: boolean;
}

/** What a character is, as a table: a page has thousands of them. All kinds from LETTER on begin a word. */
const SPACE = 1;
const OTHER = 2;
const COMMA = 3;
/** Ends a sentence, if a space or a quotation mark follows. */
const STOP = 4;
/** Of a script without spaces. */
const WIDE = 5;
const LETTER = 6;
const DIGIT = 7;
const UPPER = 8;
const FOREIGN_COMMA = 9;
const FOREIGN_STOP = 10;

const SPACES = " \t\n\v\f\r\u00a0";
const FOREIGN_COMMAS = "\u060c\u3001\uff0c";
const FOREIGN_STOPS = "\u3002\uff01\uff1f\u0964\u06d4\u061f";
const AFTER_STOP = new Set([0x20, 0x22, 0x201d, 0x0a]);
const ENDS = new Set([...'.!?…。！？"”।:'].map((char) => char.charCodeAt(0)));

const kinds = new Uint8Array(65_536);

/** Of a UTF-16 code unit. */
function kindOf(code: number): number {
  const kind = kinds[code]!;
  return kind === 0 ? (kinds[code] = classify(String.fromCharCode(code), code)) : kind;
}

function classify(char: string, code: number): number {
  if (SPACES.includes(char)) return SPACE;
  if (FOREIGN_COMMAS.includes(char)) return FOREIGN_COMMA;
  if (FOREIGN_STOPS.includes(char)) return FOREIGN_STOP;
  if (/[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]/.test(char)) return WIDE;
  if (/[0-9]/.test(char)) return DIGIT;
  if (/[A-Z]/.test(char)) return UPPER;
  if (char === ",") return COMMA;
  if (/[.!?]/.test(char)) return STOP;
  return /[a-z]/.test(char) || code > 0xbf ? LETTER : OTHER;
}

export function measure(text: string): TextMeasure {
  let [words, chars, digits, upper, commas, sentences, wide] = [0, 0, 0, 0, 0, 0, 0];
  let inWord = false;
  let last = 0;
  const { length } = text;
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = kindOf(code);
    if (kind === SPACE) {
      inWord = false;
      continue;
    }
    chars += 1;
    last = code;
    if (kind >= LETTER) {
      if (!inWord) {
        words += 1;
        inWord = true;
      }
      if (kind === LETTER) continue;
      if (kind === DIGIT) digits += 1;
      else if (kind === UPPER) upper += 1;
      else if (kind === FOREIGN_COMMA) commas += 1;
      else sentences += 1;
    } else if (kind === WIDE) {
      wide += 1;
      inWord = false;
    } else if (kind === COMMA) commas += 1;
    else if (kind === STOP && (at + 1 === length || AFTER_STOP.has(text.charCodeAt(at + 1)))) sentences += 1;
  }
  return { words: words + Math.ceil(wide / 2), chars, digits, upper, commas, sentences, ended: ENDS.has(last) };
}

/** Characters, with runs of white space as one and none at the ends, and commas. */
export function measureLength(text: string): { length: number; commas: number } {
  let [length, commas] = [0, 0];
  let gap = true;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = kindOf(code);
    if (kind === SPACE) {
      if (!gap) length += 1;
      gap = true;
      continue;
    }
    length += 1;
    gap = false;
    if (kind === COMMA || kind === FOREIGN_COMMA || code === IDEOGRAPHIC_STOP) commas += 1;
  }
  return { length: gap && length > 0 ? length - 1 : length, commas };
}

/** It parts the clauses of a text as commas do elsewhere. */
const IDEOGRAPHIC_STOP = 0x3002;
