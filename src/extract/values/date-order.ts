/** In which order a language writes day, month and year in digits. */
type DateOrder = "dmy" | "mdy" | "ymd";

const known = new Map<string, DateOrder | null>();
const MOST_KNOWN = 500;

/** Null: the language does not say. English without a country is written both ways, Canada's too. */
export function dateOrderOf(language: string | null): DateOrder | null {
  if (language === null || /^en(?:-ca)?$/i.test(language)) return null;
  const there = known.get(language);
  if (there !== undefined) return there;
  const order = look(language);
  if (known.size < MOST_KNOWN) known.set(language, order);
  return order;
}

function look(language: string): DateOrder | null {
  try {
    const format = new Intl.DateTimeFormat(`${language.replaceAll("_", "-")}-u-ca-gregory-nu-latn`, {
      timeZone: "UTC",
    });
    const parts = format.formatToParts(Date.UTC(2024, 4, 1)).map(({ type }) => type[0]);
    const order = parts.filter((letter) => letter === "d" || letter === "m" || letter === "y").join("");
    return order === "dmy" || order === "mdy" || order === "ymd" ? order : null;
  } catch {
    // Not the name of a language.
    return null;
  }
}
