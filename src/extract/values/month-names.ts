/** Month names in common languages, from CLDR. */

const LANGUAGES = (
  "en de fr es it pt nl ru pl tr uk cs ro hu sv da nb fi el bg hr sr-Cyrl sr-Latn bs sk sl sq mk lt lv et is ga cy ca eu gl af " +
  "ar fa ur he hi bn mr ne ta te kn ml gu pa si th lo km my id ms fil sw vi az kk uz ka hy mn be"
).split(" ");
/** Languages in which prefixes of three or more letters abbreviate the month. */
const SHORTENED = new Set(["en", "de", "fr", "es", "it", "pt", "nl"]);
const EXTRA_NAMES: readonly [name: string, month: number][] = [
  ["sept", 9],
  ["mrz", 3],
  ["mär", 3],
];

type Names = ReadonlyMap<string, number>;

const FORMS: readonly Intl.DateTimeFormatOptions[] = [
  { month: "long" },
  { month: "long", day: "numeric" },
  { month: "long", day: "numeric", year: "numeric" },
  { month: "short" },
  { month: "short", day: "numeric" },
  { month: "short", day: "numeric", year: "numeric" },
];

const NO_NAMES: Names = new Map();
const namesByTag = new Map<string, Names>();
let cachedCommonNames: Names | null = null;

/** The month of a name or abbreviation, in the page's language or in any. Null: none, or ambiguous. */
export function monthNumber(word: string, language: string | null): number | null {
  const name = plain(word);
  if (language !== null) {
    const month = find(namesOf(language), name);
    if (month !== undefined) return month;
  }
  return find((cachedCommonNames ??= commonNames()), name) ?? null;
}

function find(names: Names, name: string): number | undefined {
  // Hebrew prefixes the month with "in" without a space.
  return names.get(name) ?? (name.startsWith("ב") ? names.get(name.slice(1)) : undefined);
}

function namesOf(language: string): Names {
  const tag = (language.split(/[-_]/)[0] ?? "").toLowerCase();
  const known = namesByTag.get(tag);
  if (known !== undefined) return known;
  const variants = LANGUAGES.filter((name) => name.split("-")[0] === (tag === "no" ? "nb" : tag));
  if (variants.length === 0) return NO_NAMES;
  const names = merged(variants.map(namesIn));
  namesByTag.set(tag, names);
  return names;
}

/** `listopad` is November in Polish and October in Croatian: ambiguous without a language. */
function commonNames(): Names {
  const names = new Map(merged(LANGUAGES.map(namesIn)));
  for (const [name, month] of EXTRA_NAMES) names.set(plain(name), month);
  return names;
}

function merged(all: readonly Names[]): Names {
  const names = new Map<string, number>();
  const ambiguous = new Set<string>();
  for (const languageNames of all) {
    for (const [name, month] of languageNames) {
      const known = names.get(name);
      if (known !== undefined && known !== month) ambiguous.add(name);
      names.set(name, month);
    }
  }
  for (const name of ambiguous) names.delete(name);
  return names;
}

function namesIn(language: string): Names {
  const names = new Map<string, number>();
  const ambiguous = new Set<string>();
  const add = (name: string, month: number) => {
    const known = names.get(name);
    if (known !== undefined && known !== month) ambiguous.add(name);
    names.set(name, month);
  };
  for (const form of FORMS) {
    const format = new Intl.DateTimeFormat(`${language}-u-ca-gregory-nu-latn`, { ...form, timeZone: "UTC" });
    for (let month = 1; month <= 12; month += 1) {
      const part = format.formatToParts(Date.UTC(2024, month - 1, 5)).find(({ type }) => type === "month");
      const name = plain(part?.value ?? "");
      // Skips languages with numeric months.
      if (!/^\p{L}/u.test(name) || /\d/.test(name)) continue;
      add(name, month);
      if (SHORTENED.has(language))
        for (let length = 3; length < name.length; length += 1) add(name.slice(0, length), month);
    }
  }
  // For example `jui`: June or July.
  for (const name of ambiguous) names.delete(name);
  return names;
}

function plain(word: string): string {
  return word
    .toLowerCase()
    .replace(/[.\u200e\u200f]/g, "")
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .trim();
}
