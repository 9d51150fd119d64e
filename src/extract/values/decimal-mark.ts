const cache = new Map<string, "," | ".">();
/** Locales whose CLDR comma is not used in practice. */
const POINT_IN_USE = new Set(["en-ZA"]);
const MAX_CACHED = 500;

/** The decimal mark of a language by CLDR; used only for ambiguous texts (`1.234`). */
export function decimalMarkOf(language: string | null): "," | "." {
  if (language === null) return ".";
  const cached = cache.get(language);
  if (cached !== undefined) return cached;
  const mark = markFromLocale(language);
  if (cache.size < MAX_CACHED) cache.set(language, mark);
  return mark;
}

function markFromLocale(language: string): "," | "." {
  try {
    const locale = new Intl.Locale(language.replaceAll("_", "-"));
    if (POINT_IN_USE.has(locale.baseName)) return ".";
    const parts = new Intl.NumberFormat(locale, { numberingSystem: "latn" }).formatToParts(1.5);
    return parts.find(({ type }) => type === "decimal")?.value === "," ? "," : ".";
  } catch {
    // Not a valid language tag.
    return ".";
  }
}
