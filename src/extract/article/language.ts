/** Detects the language of a text by its script, then by its most common words. Good enough to choose a number format. */

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
const SETS = Object.entries(WORDS).map(([language, words]) => [language, new Set(words.split(" "))] as const);

export function detectLanguage(text: string): string | null {
  const sample = text.slice(0, 4000);
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  if (letters < 20) return null;
  for (const [language, pattern] of SCRIPTS) {
    const share = (sample.match(pattern)?.length ?? 0) / letters;
    // Japanese mixes kana with Chinese characters; a few letters identify Ukrainian.
    if (share > (language === "ja" ? 0.1 : language === "uk" ? 0.03 : 0.3)) return language;
  }
  const words = sample.toLowerCase().match(/\p{L}+/gu) ?? [];
  let best: string | null = null;
  // These words make up a fifth to a third of running text.
  let bestShare = 0.08;
  for (const [language, set] of SETS) {
    const share = words.filter((word) => set.has(word)).length / Math.max(1, words.length);
    if (share > bestShare) {
      best = language;
      bestShare = share;
    }
  }
  return best;
}
