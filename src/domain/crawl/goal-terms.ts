/**
 * The words of a crawl's goal, and where they occur in texts. Case, accents and common English endings make no
 * difference; in scripts without spaces between words, pairs of characters are compared.
 */

const MAX_TERMS = 32;

/** Joined words are of one script: Latin words next to Chinese ones are words of their own. */
const SPACELESS = ["Han", "Hiragana", "Katakana", "Thai", "Khmer", "Lao", "Myanmar", "Tibetan"]
  .map((script) => `\\p{Script=${script}}`)
  .join("");
const WORDS = new RegExp(`[${SPACELESS}]+|(?:(?![${SPACELESS}])[\\p{L}\\p{N}\\p{M}])+`, "gu");
const IS_SPACELESS = new RegExp(`^[${SPACELESS}]`, "u");
const ASCII = /^[a-z0-9]+$/;

/** Words that say nothing about a subject, as long as there are others. */
const COMMON = new Set(
  `a about all an and any are as at be by can do every everything find for from get give has have how i in into is it its
  me more most my new no not of on or other our out page pages site so some than that the their them these they this to up
  us was we what when where which who why will with you your
  aber als am an auf aus bei das dem den der des die ein eine einer es für ich im in ist mit nach oder sich sie über um
  und vom von wie zu zum zur
  au aux avec ce ces dans de des du en est et la le les leur ou par pas pour que qui sur un une
  al como con del e el las lo los para por se sin sobre su una y`.split(/\s+/),
);

/** The terms of a goal, each once; empty: the goal has no word. */
export function goalTerms(goal: string): string[] {
  const all = [...new Set(wordsOf(goal))];
  const telling = all.filter((word) => !COMMON.has(word));
  return [...new Set((telling.length === 0 ? all : telling).map(stem))].slice(0, MAX_TERMS);
}

/** Finds the terms of a goal in texts. */
export class TermFinder {
  readonly terms: readonly string[];
  readonly #places: ReadonlyMap<string, number>;
  /** Most words of a page occur again and again. */
  readonly #known = new Map<string, number>();

  constructor(terms: readonly string[]) {
    this.terms = terms;
    this.#places = new Map(terms.map((term, index) => [term, index]));
  }

  /** Calls `found` for each occurrence, with the term's position in the goal and the word's in the text. Returns the number of words. */
  scan(text: string, found: (term: number, word: number) => void): number {
    let count = 0;
    for (const word of wordsOf(text)) {
      const term = this.#termOf(word);
      if (term >= 0) found(term, count);
      count += 1;
    }
    return count;
  }

  /** The terms in a text, in order of the goal. */
  in(text: string): number[] {
    const terms = new Set<number>();
    this.scan(text, (term) => terms.add(term));
    return [...terms].toSorted((a, b) => a - b);
  }

  /** The terms in the path and the query of a URL. */
  inUrl(address: string): number[] {
    const url = URL.parse(address);
    if (url === null) return [];
    return this.in(`${decoded(url.pathname)} ${decoded(url.search)}`);
  }

  #termOf(word: string): number {
    let term = this.#known.get(word);
    if (term === undefined) {
      term = this.#places.get(stem(word)) ?? -1;
      if (this.#known.size < MAX_KNOWN) this.#known.set(word, term);
    }
    return term;
  }
}

const MAX_KNOWN = 20_000;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function* wordsOf(text: string): Generator<string> {
  for (const [run] of plain(text).matchAll(WORDS)) {
    if (!IS_SPACELESS.test(run)) {
      yield run;
      continue;
    }
    const characters = [...run];
    if (characters.length === 1) yield run;
    for (let at = 0; at + 1 < characters.length; at += 1) yield `${characters[at]}${characters[at + 1]}`;
  }
}

const NOT_ASCII = /\P{ASCII}/u;

function plain(text: string): string {
  const lower = text.toLowerCase();
  return NOT_ASCII.test(lower) ? lower.normalize("NFKD").replace(/(\p{Script=Latin})\p{M}+/gu, "$1") : lower;
}

/** Shorter words have no ending to drop. */
const MIN_STEM = 4;

/** Without plural, -ed, -ing and the last e: battery and batteries, recycle and recycling are the same. */
function stem(word: string): string {
  if (word.length < MIN_STEM || !ASCII.test(word)) return word;
  const one = word
    .replace(/(?:ies)$/, "y")
    .replace(/(ss|sh|ch|x)es$/, "$1")
    .replace(/([^su])s$/, "$1");
  const root = one.replace(/([a-z]*[aeiouy][a-z]*[a-z])(?:ing|ed)$/, "$1");
  const bare = root === one ? one : root.replace(/([bdgmnprt])\1$/, "$1");
  return bare.length >= MIN_STEM ? bare.replace(/e$/, "") : bare;
}
