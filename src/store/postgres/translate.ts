/**
 * Translates SQLite's SQL to Postgres. Only the form differs: numbered parameters, hints for SQLite's planner, and
 * LIKE, which is case-insensitive in SQLite.
 */
interface Translated {
  text: string;
  /** The value of each parameter: an index, or a name for named values. */
  order: (number | string)[];
}

const cache = new Map<string, Translated>();

export function translate(text: string): Translated {
  let translated = cache.get(text);
  if (translated === undefined) cache.set(text, (translated = translateText(text)));
  return translated;
}

function translateText(text: string): Translated {
  const order: (number | string)[] = [];
  let next = 0;
  const parameter = (value: number | string): string => {
    const index = order.indexOf(value);
    if (index !== -1) return `$${index + 1}`;
    order.push(value);
    return `$${order.length}`;
  };
  const result = text.replace(TOKENS, (token) => {
    // List positions are path elements like keys.
    if (token.startsWith("'$[")) return token.replaceAll(/\[#?(-?\d+)\]/g, ".$1");
    // Other quoted text and casts stay as they are.
    if (token.startsWith("'") || token.startsWith('"') || token === "::") return token;
    if (token === "?") {
      next += 1;
      return parameter(next - 1);
    }
    if (token.startsWith("?")) {
      // As in SQLite: a plain `?` continues after the highest number.
      const number = Number(token.slice(1));
      next = Math.max(next, number);
      return parameter(number - 1);
    }
    if (token.startsWith(":")) return parameter(token.slice(1));
    if (token.startsWith("INDEXED")) return "";
    return WORDS[token] ?? token;
  });
  return { text: result, order };
}

const TOKENS =
  /'(?:[^']|'')*'|"[^"]*"|::|\?\d+|\?|:[a-z_]+|\bINDEXED BY \w+|\bCROSS JOIN\b|\bLIKE\b|\bjson_group_array\b|\bIN \(\)/g;

const WORDS: Record<string, string> = {
  LIKE: "ILIKE",
  "CROSS JOIN": "JOIN",
  json_group_array: "json_agg",
  "IN ()": "IN (NULL)",
};
