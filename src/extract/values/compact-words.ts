/** Words and letters that multiply numbers (`Mio.`, `mil`, `K`), per language, from CLDR's compact notation. */

interface CompactWords {
  /** Powers of ten. Names of three and more letters are in lower case; none has a period at its end. Null: ambiguous. */
  exponents: ReadonlyMap<string, number | null>;
  /** Longest first. */
  names: readonly string[];
  /** Names that stand before the number. */
  leading: readonly string[];
  /** Whether a space is usual before single letters: `1,2 M`. */
  spaced: boolean;
}

const NONE: CompactWords = { exponents: new Map(), names: [], leading: [], spaced: false };
const cache = new Map<string, CompactWords>();
const MAX_CACHED = 100;
/** Some languages have a word for one, for a few, for many and for fractions. */
const COUNTS = [1, 1.5, 2, 3, 5, 11, 20];

export function compactWords(language: string | null): CompactWords {
  if (language === null) return NONE;
  const cached = cache.get(language);
  if (cached !== undefined) return cached;
  const words = wordsOf(language);
  if (cache.size < MAX_CACHED) cache.set(language, words);
  return words;
}

/** `Mio.` and `mio` are the same; `M` and `m`, `kM` and `km` are not. */
export function compactName(text: string): string {
  const name = text.replace(/\.$/, "");
  return name.length < 3 ? name : name.toLowerCase();
}

function wordsOf(language: string): CompactWords {
  const exponents = new Map<string, number | null>();
  const leading = new Set<string>();
  let spaced = false;
  for (const compactDisplay of ["short", "long"] as const) {
    const format = formatOf(language, compactDisplay);
    if (format === null) return NONE;
    for (let power = 3; power <= 12; power += 1) {
      for (const count of COUNTS) {
        const value = count * 10 ** power;
        const parts = format.formatToParts(value);
        const word = parts.find(({ type }) => type === "compact")?.value;
        if (word === undefined) continue;
        const shown = Number(
          parts
            .filter(({ type }) => type === "integer" || type === "fraction" || type === "decimal")
            .map((part) => (part.type === "decimal" ? "." : part.value))
            .join(""),
        );
        // Italian has no number before `mille`.
        if (!(shown > 0)) continue;
        const exponent = Math.round(Math.log10(value / shown));
        const name = compactName(word.replace(/[\u00a0\u202f]/g, " ").trim());
        if (name.length === 1) spaced ||= parts.some(({ type, value: gap }) => type === "literal" && gap.trim() === "");
        if (parts.findIndex(({ type }) => type === "compact") < parts.findIndex(({ type }) => type === "integer"))
          leading.add(name);
        const known = exponents.get(name);
        exponents.set(name, known === undefined || known === exponent ? exponent : null);
      }
    }
  }
  const names = [...exponents.keys()].toSorted((a, b) => b.length - a.length);
  return { exponents, names, leading: [...leading], spaced };
}

function formatOf(language: string, compactDisplay: "short" | "long"): Intl.NumberFormat | null {
  try {
    return new Intl.NumberFormat(language.replaceAll("_", "-"), {
      notation: "compact",
      compactDisplay,
      maximumFractionDigits: 3,
      numberingSystem: "latn",
    });
  } catch {
    // Not a valid language tag.
    return null;
  }
}
