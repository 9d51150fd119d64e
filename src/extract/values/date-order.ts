/** The order of day, month and year in numeric dates. */
type DateOrder = "dmy" | "mdy" | "ymd";

const cache = new Map<string, DateOrder | null>();
const MAX_CACHED = 500;

/** Null: unknown. English without a country, and Canadian English, use both orders. */
export function dateOrderOf(language: string | null): DateOrder | null {
  if (language === null || /^en(?:-ca)?$/i.test(language)) return null;
  const cached = cache.get(language);
  if (cached !== undefined) return cached;
  const order = orderFromLocale(language);
  if (cache.size < MAX_CACHED) cache.set(language, order);
  return order;
}

function orderFromLocale(language: string): DateOrder | null {
  try {
    const format = new Intl.DateTimeFormat(`${language.replaceAll("_", "-")}-u-ca-gregory-nu-latn`, {
      timeZone: "UTC",
    });
    const parts = format.formatToParts(Date.UTC(2024, 4, 1)).map(({ type }) => type[0]);
    const order = parts.filter((letter) => letter === "d" || letter === "m" || letter === "y").join("");
    return order === "dmy" || order === "mdy" || order === "ymd" ? order : null;
  } catch {
    // Not a valid language tag.
    return null;
  }
}
