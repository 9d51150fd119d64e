/** Detects the language of a text by its script, then by its most common words. Good enough to choose a number format. */
import { kindOf, LETTER, SURROGATE } from "./letters.ts";

const SCRIPTS: readonly [language: string, letters: RegExp][] = [
  ["ja", /[\u3040-\u30ff]/g],
  ["ko", /[\uac00-\ud7a3]/g],
  ["zh", /[\u4e00-\u9fff]/g],
  ["ar", /[\u0600-\u06ff]/g],
  ["he", /[\u0590-\u05ff]/g],
  ["el", /[\u0370-\u03ff]/g],
  ["th", /[\u0e00-\u0e7f]/g],
  ["hi", /[\u0900-\u097f]/g],
  ["uk", /[іїєґ]/gi],
  ["ru", /[\u0400-\u04ff]/g],
];

const WORDS: Record<string, string> = {
  en: "the and of to is in that for it with was on are this as have be from not by",
  de: "der die und das ist nicht ein eine mit den von zu sich auf auch dem für im wird sind",
  fr: "le la les des est et une dans que pour qui pas sur au avec ce il par plus sont",
  es: "el la los de que y en un una por con no para es se del las como su al",
  it: "il di che la e un per non una sono con del della le si da nel alla anche più",
  pt: "o de que e do da em um para com não uma os no se na por mais as dos",
  nl: "de het een van en is dat op te niet voor met zijn aan er maar om ook als bij",
  pl: "i w na nie się z do to jest że jak o od po ale są przez dla tak",
  sv: "och att det som en på är av för med den inte till om har ett var jag",
};
const LANGUAGES = Object.keys(WORDS);
/** By word: the languages that have it, one bit each. */
const LANGUAGES_OF = new Map<string, number>();
for (const [index, language] of LANGUAGES.entries())
  for (const word of WORDS[language]!.split(" ")) LANGUAGES_OF.set(word, (LANGUAGES_OF.get(word) ?? 0) | (1 << index));
const LONGEST = Math.max(...[...LANGUAGES_OF.keys()].map((word) => word.length));
/** The first letter of the scripts above. */
const FIRST_OF_SCRIPTS = 0x370;

export function detectLanguage(text: string): string | null {
  const sample = text.slice(0, 4000);
  const { letters, highest } = lettersIn(sample);
  if (letters < 20) return null;
  for (const [language, pattern] of highest < FIRST_OF_SCRIPTS ? [] : SCRIPTS) {
    const share = (sample.match(pattern)?.length ?? 0) / letters;
    // Japanese mixes kana with Chinese characters; a few letters identify Ukrainian.
    if (share > (language === "ja" ? 0.1 : language === "uk" ? 0.03 : 0.3)) return language;
  }
  const { words, counts } = commonWords(sample.toLowerCase());
  let best: string | null = null;
  // These words make up a fifth to a third of running text.
  let bestShare = 0.08;
  for (const [index, language] of LANGUAGES.entries()) {
    const share = counts[index]! / Math.max(1, words);
    if (share > bestShare) {
      best = language;
      bestShare = share;
    }
  }
  return best;
}

function lettersIn(text: string): { letters: number; highest: number } {
  let [letters, highest] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > highest) highest = code;
    const kind = kindOf(code);
    if (kind === LETTER) letters += 1;
    else if (kind === SURROGATE) return { letters: text.match(/\p{L}/gu)?.length ?? 0, highest: 0xffff };
  }
  return { letters, highest };
}

/** How many words there are, and how many of them are common ones of each language. */
function commonWords(text: string): { words: number; counts: number[] } {
  const counts = LANGUAGES.map(() => 0);
  const words = wordsIn(text, (word) => {
    const languages = LANGUAGES_OF.get(word) ?? 0;
    for (let index = 0; languages >> index !== 0; index += 1) if (((languages >> index) & 1) === 1) counts[index]! += 1;
  });
  return { words, counts };
}

/** The number of words; calls back for those that may be common. */
function wordsIn(text: string, onShort: (word: string) => void): number {
  if (/[\ud800-\udfff]/.test(text)) {
    const all = text.match(/\p{L}+/gu) ?? [];
    for (const word of all) onShort(word);
    return all.length;
  }
  let words = 0;
  let from = -1;
  for (let at = 0; at <= text.length; at += 1) {
    if (at < text.length && kindOf(text.charCodeAt(at)) === LETTER) {
      if (from < 0) from = at;
    } else if (from >= 0) {
      words += 1;
      if (at - from <= LONGEST) onShort(text.slice(from, at));
      from = -1;
    }
  }
  return words;
}
