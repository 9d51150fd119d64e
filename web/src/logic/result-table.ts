/** Records of any shape as a table: which columns they have, and what stands in them. */

export interface ResultRow {
  id: string;
  url: string;
  data: Record<string, unknown>;
  created_at: string;
}

export interface ResultColumn {
  /** `title`, or `fields.price` for what stands one deeper. */
  id: string;
  name: string;
  /** Long texts are not shown until they are asked for. */
  hidden: boolean;
  /** Wherever something was found it is a number: they are read from the right. */
  isNumber: boolean;
}

const LONG = new Set([
  "text",
  "markdown",
  "html",
  "content_html",
  "content",
  "links",
  "images",
  "metadata",
  "content_hash",
]);
const MOST_COLUMNS = 60;
const FIRST = 8;

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The columns in the order in which the records name them; what rules have found comes before the rest. */
export function resultColumns(rows: readonly ResultRow[]): ResultColumn[] {
  const found = new Map<string, string>();
  const other = new Map<string, string>();
  for (const { data } of rows)
    for (const [key, value] of Object.entries(data)) {
      if (key === "url") continue;
      if (key === "fields" && isPlain(value)) for (const name of Object.keys(value)) found.set(`fields.${name}`, name);
      else if (other.size < MOST_COLUMNS) other.set(key, key);
    }
  const all = [...found, ...other].slice(0, MOST_COLUMNS);
  let shown = 0;
  return all.map(([id, name]) => {
    // What a rule has found under the same name says it better.
    const hidden = LONG.has(name) || shown >= FIRST || (id === name && found.has(`fields.${name}`));
    if (!hidden) shown += 1;
    return { id, name, hidden, isNumber: isNumbers(rows.map(({ data }) => valueAt(data, id))) };
  });
}

function isNumbers(values: readonly unknown[]): boolean {
  const found = values.filter((value) => value !== undefined && value !== null && value !== "");
  return found.length > 0 && found.every((value) => typeof value === "number");
}

export function valueAt(data: Record<string, unknown>, id: string): unknown {
  if (Object.hasOwn(data, id)) return data[id];
  const [head, ...rest] = id.split(".");
  const inner = head === undefined ? undefined : data[head];
  return rest.length > 0 && isPlain(inner) ? inner[rest.join(".")] : undefined;
}

/** One line of text; null: nothing was found. */
export function cellText(value: unknown, most = 200): string | null {
  if (value === null || value === undefined || value === "") return null;
  const text =
    typeof value === "string"
      ? value
      : Array.isArray(value) && value.every((one) => typeof one === "string" || typeof one === "number")
        ? value.join(", ")
        : JSON.stringify(value);
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

/** All of a value, for those who want to read it. */
export function fullText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

export const EXPORT_FORMATS = [
  { format: "json", name: "JSON" },
  { format: "jsonl", name: "JSON Lines" },
  { format: "csv", name: "CSV" },
  { format: "markdown", name: "Markdown" },
  { format: "parquet", name: "Parquet" },
  { format: "warc", name: "WARC" },
] as const;
