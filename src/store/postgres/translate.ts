/**
 * The methods speak SQLite's way; this says the same to Postgres. Only what differs in form is changed here: numbered
 * values, hints for SQLite's planner, and that LIKE does not tell capital letters apart.
 */
interface Translated {
  text: string;
  /** Which value stands at which number; names where values are given by name. */
  order: (number | string)[];
}

const known = new Map<string, Translated>();

export function translate(text: string): Translated {
  let made = known.get(text);
  if (made === undefined) known.set(text, (made = make(text)));
  return made;
}

function make(text: string): Translated {
  const order: (number | string)[] = [];
  let next = 0;
  const place = (value: number | string): string => {
    const index = order.indexOf(value);
    if (index !== -1) return `$${index + 1}`;
    order.push(value);
    return `$${order.length}`;
  };
  const said = text.replace(TOKENS, (token) => {
    // Places in lists have names like everything else.
    if (token.startsWith("'$[")) return token.replaceAll(/\[#?(-?\d+)\]/g, ".$1");
    // What else stands in quotes, or is a cast, is left as it is.
    if (token.startsWith("'") || token.startsWith('"') || token === "::") return token;
    if (token === "?") {
      next += 1;
      return place(next - 1);
    }
    if (token.startsWith("?")) {
      // As SQLite counts: what has no number goes on behind the highest one.
      const number = Number(token.slice(1));
      next = Math.max(next, number);
      return place(number - 1);
    }
    if (token.startsWith(":")) return place(token.slice(1));
    if (token.startsWith("INDEXED")) return "";
    return WORDS[token] ?? token;
  });
  return { text: said, order };
}

const TOKENS =
  /'(?:[^']|'')*'|"[^"]*"|::|\?\d+|\?|:[a-z_]+|\bINDEXED BY \w+|\bCROSS JOIN\b|\bLIKE\b|\bjson_group_array\b|\bIN \(\)/g;

const WORDS: Record<string, string> = {
  LIKE: "ILIKE",
  "CROSS JOIN": "JOIN",
  json_group_array: "json_agg",
  "IN ()": "IN (NULL)",
};
