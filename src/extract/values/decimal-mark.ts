const known = new Map<string, "," | ".">();
/** Where the standard's comma is not what shops and papers write. */
const POINT_IN_USE = new Set(["en-ZA"]);
const MOST_KNOWN = 500;

/** How a language writes decimals, by the Unicode locale data; it decides only what a text itself leaves open (`1.234`). */
export function decimalMarkOf(language: string | null): "," | "." {
  if (language === null) return ".";
  const there = known.get(language);
  if (there !== undefined) return there;
  const mark = look(language);
  if (known.size < MOST_KNOWN) known.set(language, mark);
  return mark;
}

function look(language: string): "," | "." {
  try {
    const locale = new Intl.Locale(language.replaceAll("_", "-"));
    if (POINT_IN_USE.has(locale.baseName)) return ".";
    const parts = new Intl.NumberFormat(locale, { numberingSystem: "latn" }).formatToParts(1.5);
    return parts.find(({ type }) => type === "decimal")?.value === "," ? "," : ".";
  } catch {
    // Not the name of a language.
    return ".";
  }
}
