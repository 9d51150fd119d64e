/** Values of any shape, for people to read: in one line where there is one, and whole where there is room. */

export const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Nothing was found: no text, or a list or object without anything in it. */
export function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isPlain(value) && Object.keys(value).length === 0;
}

const isScalar = (value: unknown) => !Array.isArray(value) && !isPlain(value);

/** "name: Tea, price: 4.5; name: Honey, price: 7": no more of it than is wanted, however large it is. */
export function lineOf(value: unknown, most: number): string {
  let line = "";
  // False: there is enough.
  const say = (text: string) => {
    line += text;
    return line.length <= most;
  };
  const write = (one: unknown): boolean => {
    if (Array.isArray(one)) {
      const between = one.every(isScalar) ? ", " : "; ";
      return one.every((inner, n) => (n === 0 || say(between)) && write(inner));
    }
    if (isPlain(one))
      return Object.entries(one).every(
        ([name, inner], n) =>
          (n === 0 || say(", ")) && say(`${name}: `) && (isNothing(inner) ? say("–") : write(inner)),
      );
    // Much more than a line is not gone through for the sake of one.
    return say(
      String(one)
        .slice(0, most * 4)
        .replace(/\s+/g, " "),
    );
  };
  write(value);
  return line;
}

export type Shape =
  | { kind: "none" }
  | { kind: "text"; text: string }
  | { kind: "link"; href: string }
  | { kind: "list"; values: readonly unknown[] }
  | { kind: "table"; columns: readonly string[]; rows: readonly Record<string, unknown>[] }
  | { kind: "pairs"; pairs: readonly (readonly [string, unknown])[] }
  | { kind: "json"; text: string };

/** Deeper than this JSON is easier to read than boxes in boxes. */
const DEEPEST = 3;
const MOST_COLUMNS = 6;

export function shapeOf(value: unknown, depth = 0): Shape {
  if (isNothing(value)) return { kind: "none" };
  if (isScalar(value)) {
    const text = String(value);
    const href = safeHref(text);
    return href === null ? { kind: "text", text } : { kind: "link", href };
  }
  if (depth >= DEEPEST) return { kind: "json", text: JSON.stringify(value, null, 2) };
  if (isPlain(value)) return { kind: "pairs", pairs: Object.entries(value) };
  const all = value as unknown[];
  const columns = columnsOf(all);
  return columns === null ? { kind: "list", values: all } : { kind: "table", columns, rows: all.filter(isPlain) };
}

/** Of things that are alike and flat; null: a table would not show them. */
function columnsOf(values: readonly unknown[]): string[] | null {
  if (values.length < 2 || !values.every(isPlain)) return null;
  const names = new Set<string>();
  for (const one of values) {
    for (const [name, inner] of Object.entries(one)) {
      if (!isScalar(inner)) return null;
      names.add(name);
    }
    if (names.size > MOST_COLUMNS) return null;
  }
  return [...names];
}

/** An address that a click may follow: of the web, and nothing but an address. null: it stays text. */
export function safeHref(text: string): string | null {
  if (text.length > 4000 || !/^https?:\/\/[^\s<>"]+$/i.test(text)) return null;
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== "" ? text : null;
}
