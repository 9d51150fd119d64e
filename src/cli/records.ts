/** Prints records for people: one below the other, or as a table when they are many and small. */
import { oneLine, paint, plainText, table, type Terminal, wrapped } from "./print/output.ts";

type Data = Record<string, unknown>;

/** Long texts, printed below the other fields. */
const BODIES = new Set(["markdown", "text", "html"]);
const LONG_TEXT = 200;
const MOST_COLUMNS = 8;

export function printRecords(terminal: Terminal, records: readonly Data[]): void {
  if (records.length === 0) return terminal.out("no records\n");
  const rows = records.length > 1 ? asTable(records) : null;
  if (rows !== null) return terminal.out(table(rows.header, rows.lines, terminal.columns));
  return terminal.out(records.map((record) => section(terminal, record)).join("\n"));
}

function asTable(records: readonly Data[]): { header: string[]; lines: (string | number)[][] } | null {
  const header = [...new Set(records.flatMap((record) => Object.keys(record)))];
  if (header.length === 0 || header.length > MOST_COLUMNS) return null;
  const isSmall = (value: unknown) => typeof value !== "string" || (value.length <= LONG_TEXT && !value.includes("\n"));
  if (!records.every((record) => Object.values(record).every(isSmall))) return null;
  const lines = records.map((record) => header.map((name) => cell(record[name])));
  return { header: header.map(oneLine), lines };
}

function cell(value: unknown): string | number {
  if (value === undefined || value === null) return "";
  return typeof value === "number" ? value : oneLine(textOf(value));
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join(", ");
  return JSON.stringify(value);
}

function section(terminal: Terminal, record: Data): string {
  const entries = Object.entries(record).filter(([, value]) => value !== null && value !== "");
  const bodies = entries.filter(([name, value]) => typeof value === "string" && isBody(name, value));
  const short = entries.filter((entry) => !bodies.includes(entry));
  const width = Math.max(0, ...short.map(([name]) => oneLine(name).length));
  const lines = short.map(
    ([name, value]) =>
      `${paint(terminal, "cyan", oneLine(name).padEnd(width))}  ${wrapped(oneLine(textOf(value)), terminal.columns, width + 2)}\n`,
  );
  // A single long text needs no heading; several do.
  const texts = bodies.map(([name, value]) => {
    const title = bodies.length > 1 ? `${paint(terminal, "cyan", oneLine(name))}\n` : "";
    return `${title}${plainText(String(value)).trimEnd()}\n`;
  });
  const parts = [...(lines.length === 0 ? [] : [lines.join("")]), ...texts];
  return parts.length === 0 ? "no data\n" : parts.join("\n");
}

function isBody(name: string, value: string): boolean {
  return BODIES.has(name) || value.length > 5 * LONG_TEXT || value.trim().includes("\n");
}
