/** Code points of the zero in non-ASCII decimal digit ranges. */
const ZEROS = [
  ...[0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0e50, 0x0ed0],
  ...[0x0f20, 0x1040, 0x17e0, 0x1810, 0xff10],
];
const OTHER_DIGITS =
  /[\u0660-\u0669\u06f0-\u06f9\u07c0-\u07c9\u0966-\u096f\u09e6-\u09ef\u0a66-\u0a6f\u0ae6-\u0aef\u0b66-\u0b6f\u0be6-\u0bef\u0c66-\u0c6f\u0ce6-\u0cef\u0d66-\u0d6f\u0e50-\u0e59\u0ed0-\u0ed9\u0f20-\u0f29\u1040-\u1049\u17e0-\u17e9\u1810-\u1819\uff10-\uff19]/g;
const MARKS: Readonly<Record<string, string>> = {
  ...{ "\u066b": ".", "\u066c": ",", "\uff0c": ",", "\uff0e": ".", "\uff0d": "-", "\uff08": "(", "\uff09": ")" },
  ...{ "\uff0b": "+", "\uff05": "%", "\uff1a": ":", "\uff0f": "/" },
};

/** Converts digits and marks of all scripts to ASCII; removes characters without width: marks of direction, soft hyphens. */
export function plainDigits(text: string): string {
  return text
    .replace(/[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g, "")
    .replace(/[\u066b\u066c\uff05\uff08\uff09\uff0b-\uff0f\uff1a]/g, (mark) => MARKS[mark] ?? mark)
    .replace(OTHER_DIGITS, (digit) => String(valueOf(digit.charCodeAt(0))));
}

/** `19 . 99`, `19€99`: the parts of a price are often elements of their own. */
export function joinedDecimals(text: string): string {
  return text
    .replace(/(?<=\d) ([.,]) ?(?=\d{2}(?!\d))/g, "$1")
    .replace(/(^|[^\p{Sc}\d.,\s])(\s*\d[\d.,]*)(\p{Sc})(\d{2})(?!\d|[.,]\d| ?\p{Sc})/gu, "$1$2.$4$3");
}

function valueOf(code: number): number {
  return code - (ZEROS.find((zero) => code >= zero && code <= zero + 9) ?? code);
}
