/** How money is marked beside its amount. */
const CODES = new Set(Intl.supportedValuesOf("currency"));
const WORDS =
  /(?:^|[^\p{L}])(?:kr|zł|Kč|Ft|lei|лв|руб|р|грн|din|дин|Rs|Rp|RM|Fr|SFr|Bs|S\/|Kč|円|元|원)(?:\.|$|[^\p{L}])/u;

export function hasCurrency(text: string): boolean {
  if (/\p{Sc}/u.test(text) || WORDS.test(text)) return true;
  return [...text.matchAll(/[A-Z]{3}/g)].some(([code]) => CODES.has(code));
}

/** `CHF-4.20`, as Switzerland writes it; `SKU-12` is none. */
export const MINUS_AFTER_CURRENCY = new RegExp(`(?:^|[^A-Za-z])(?:${[...CODES].join("|")})\\s?[-\\u2212]\\s?$`);
