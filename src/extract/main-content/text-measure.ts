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

export function measure(text: string): TextMeasure {
  let [words, chars, digits, upper, commas, sentences, wide] = [0, 0, 0, 0, 0, 0, 0];
  let inWord = false;
  let last = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 32 || (code >= 9 && code <= 13) || code === 160) {
      inWord = false;
      continue;
    }
    chars += 1;
    last = code;
    if (code >= 48 && code <= 57) digits += 1;
    else if (code >= 65 && code <= 90) upper += 1;
    else if (code === 44 || code === 0x060c || code === 0x3001 || code === 0xff0c) commas += 1;
    if (code === 46 || code === 33 || code === 63) {
      const next = text.charCodeAt(at + 1);
      if (Number.isNaN(next) || next === 32 || next === 34 || next === 0x201d || next === 10) sentences += 1;
    } else if (
      code === 0x3002 ||
      code === 0xff01 ||
      code === 0xff1f ||
      code === 0x0964 ||
      code === 0x06d4 ||
      code === 0x061f
    )
      sentences += 1;
    if (
      code >= 0x0e00 &&
      ((code >= 0x3040 && code <= 0x30ff) ||
        (code >= 0x3400 && code <= 0x9fff) ||
        (code >= 0xac00 && code <= 0xd7a3) ||
        code <= 0x0e7f)
    ) {
      wide += 1;
      inWord = false;
    } else if (!inWord && isWordStart(code)) {
      words += 1;
      inWord = true;
    }
  }
  const ended =
    last === 46 ||
    last === 33 ||
    last === 63 ||
    last === 0x2026 ||
    last === 0x3002 ||
    last === 0xff01 ||
    last === 0xff1f ||
    last === 34 ||
    last === 0x201d ||
    last === 0x0964 ||
    last === 58;
  return { words: words + Math.ceil(wide / 2), chars, digits, upper, commas, sentences, ended };
}

function isWordStart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code > 0xbf;
}
