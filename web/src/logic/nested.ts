/** Formats values of any shape: in one line, or in full. */

export const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Empty: no text, or an empty list or object. */
export function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isPlain(value) && Object.keys(value).length === 0;
}

const isScalar = (value: unknown) => !Array.isArray(value) && !isPlain(value);

/** "name: Tea, price: 4.5; name: Honey, price: 7", up to `most` characters, however large the value is. */
export function lineOf(value: unknown, most: number): string {
  let line = "";
  // False: enough text.
  const say = (text: string) => {
    line += text;
    return line.length <= most;
  };
  const write = (entry: unknown): boolean => {
    if (Array.isArray(entry)) {
      const between = entry.every(isScalar) ? ", " : "; ";
      return entry.every((inner, n) => (n === 0 || say(between)) && write(inner));
    }
    if (isPlain(entry))
      return Object.entries(entry).every(
        ([name, inner], n) =>
          (n === 0 || say(", ")) && say(`${name}: `) && (isNothing(inner) ? say("–") : write(inner)),
      );
    // Do not walk much more than one line needs.
    return say(
      String(entry)
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

/** Deeper values are easier to read as JSON than as nested boxes. */
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

/** Columns for flat, similar objects; null: a table does not fit. */
function columnsOf(values: readonly unknown[]): string[] | null {
  if (values.length < 2 || !values.every(isPlain)) return null;
  const names = new Set<string>();
  for (const entry of values) {
    for (const [name, inner] of Object.entries(entry)) {
      if (!isScalar(inner)) return null;
      names.add(name);
    }
    if (names.size > MOST_COLUMNS) return null;
  }
  return [...names];
}

/** A safe http(s) link; null: it stays text. */
export function safeHref(text: string): string | null {
  if (text.length > 4000 || !/^https?:\/\/[^\s<>"]+$/i.test(text)) return null;
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== "" ? text : null;
}
