/** Word sets, to measure how much of the displayed text a response contains. */
const MAX_TEXT = 500_000;
const MAX_WORDS = 20_000;
/** Scripts without spaces: every bigram counts as a word. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Adds the words of a text; the set is bounded. */
export function addWords(text: string, words: Set<string>): void {
  for (const [run] of text
    .slice(0, MAX_TEXT)
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    if (words.size >= MAX_WORDS) return;
    if (!DENSE.test(run)) {
      // Single letters and digits occur everywhere.
      if (run.length > 1) words.add(run);
      continue;
    }
    for (let at = 0; at + 1 < run.length && words.size < MAX_WORDS; at += 1) words.add(run.slice(at, at + 2));
  }
}

export function wordsOf(text: string): Set<string> {
  const words = new Set<string>();
  addWords(text, words);
  return words;
}
