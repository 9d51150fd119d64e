/** Records of any shape as a table: columns and cells. */
import { middleOut } from "../../../ui/logic/cut-text.ts";
import { documentIn } from "./whole-page.ts";
import { isNothing, isPlain, lineOf } from "../../../logic/nested.ts";

export interface ResultRow {
  id: string;
  url: string;
  data: Record<string, unknown>;
  created_at: string;
}

interface ResultColumn {
  /** `title`, or `fields.price` one level deeper. */
  id: string;
  name: string;
  /** Long texts are hidden by default. */
  hidden: boolean;
  /** Every value is a number: right-aligned. */
  isNumber: boolean;
  /** Full page content: its cells show more than a value. */
  isDocument: boolean;
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

/** Columns in the order of the records; results of rules come first. */
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
    const values = rows.map(({ data }) => valueAt(data, id));
    const isDocument = isDocuments(values);
    // A rule's result of the same name is better.
    const isTooMuch = LONG.has(name) || shown >= FIRST || (id === name && found.has(`fields.${name}`));
    // Documents were requested, so they are shown.
    const hidden = isTooMuch && !isDocument;
    if (!hidden) shown += 1;
    // Two columns of one name would be ambiguous.
    const isTwice = id === name && found.has(`fields.${name}`);
    const title = isTwice ? `${name} (of the page)` : id === "fields.url" ? "url (field)" : name;
    return { id, name: title, hidden, isNumber: isNumbers(values), isDocument };
  });
}

function isNumbers(values: readonly unknown[]): boolean {
  const found = values.filter((value) => value !== undefined && value !== null && value !== "");
  return found.length > 0 && found.every((value) => typeof value === "number");
}

/** Of a page with several records only the first has one. */
function isDocuments(values: readonly unknown[]): boolean {
  const found = values.filter((value) => !isNothing(value));
  return found.length > 0 && found.every((value) => documentIn(value) !== null);
}

export function valueAt(data: Record<string, unknown>, id: string): unknown {
  if (Object.hasOwn(data, id)) return data[id];
  const [head, ...rest] = id.split(".");
  const inner = head === undefined ? undefined : data[head];
  return rest.length > 0 && isPlain(inner) ? inner[rest.join(".")] : undefined;
}

/** One line of text, long ones cut in the middle; null: empty. */
export function cellText(value: unknown, most = 200): string | null {
  if (isNothing(value)) return null;
  // Do not walk much more than one line needs.
  const line =
    typeof value === "string" ? middleOut(value.trim(), most * 4).replace(/\s+/g, " ") : lineOf(value, most).trim();
  if (line === "") return null;
  return typeof value === "string" ? middleOut(line, most) : line.length > most ? `${line.slice(0, most)}…` : line;
}

export const EXPORT_FORMATS = [
  { format: "json", name: "JSON" },
  { format: "jsonl", name: "JSON Lines" },
  { format: "csv", name: "CSV" },
  { format: "csv-excel", name: "CSV for Excel" },
  { format: "markdown", name: "Markdown" },
  { format: "markdown-zip", name: "Markdown (ZIP)" },
  { format: "parquet", name: "Parquet" },
  { format: "warc", name: "WARC" },
] as const;
