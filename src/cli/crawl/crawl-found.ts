/** Prints crawl results on a terminal: a table that fits, and how to get everything. */
import { rowsOf } from "../api/rows.ts";
import { resultsCommand } from "./crawl-resume.ts";
import type { CliContext, OpenApi } from "../context.ts";
import { oneLine, paint, table, type Terminal } from "../print/output.ts";

interface Wanted {
  format?: string;
  out?: string;
  url?: string;
}

const MOST_SHOWN = 20;
const SHOWN_OF_ID = 8;
/** A narrower column is useless. */
const LEAST_COLUMN = 12;
/** Maximum share of the width for one value: tables never cut their first column. */
const MOST_OF_WIDTH = 0.45;
/** Too long for a table: texts of pages, and hashes. */
const TOO_LONG = new Set(["markdown", "text", "html", "links", "article", "raw_html", "content_hash"]);

/** Pipes, and an explicit --format, get the records themselves. */
export function showsFound({ terminal, json }: CliContext, { format, out }: Wanted): boolean {
  return terminal.columns !== undefined && !json && format === undefined && out === undefined;
}

export async function showFound(terminal: Terminal, api: OpenApi, { task_id: id }: { task_id: string }): Promise<void> {
  const { rows, more } = await rowsOf({ limit: MOST_SHOWN }, (limit) => api.runs.results(id, { limit }));
  if (rows.length === 0) return terminal.out("no records\n");
  const records = rows.map(({ data }) => data);
  const columns = terminal.columns ?? 80;
  const header = columnsFor(records, columns);
  const lines = records.map((record) =>
    header.map((name) => cell(name, record[name], Math.floor(columns * MOST_OF_WIDTH))),
  );
  terminal.out(table(header.map(oneLine), lines, columns));
  if (more) terminal.err(`showing the first ${MOST_SHOWN}\n`);
}

/** How long results are stored, and the command that exports them; a short id is enough. */
export function printResultsHint(terminal: Terminal, { task_id: id }: { task_id: string }, { url }: Wanted): void {
  const at = url === undefined ? {} : { url };
  const command = (form: Wanted) =>
    paint(terminal, "cyan", resultsCommand(id.slice(0, SHOWN_OF_ID), { ...at, ...form }));
  terminal.err(`all results are stored with the run; show them, or write them to a file:\n`);
  terminal.err(`  ${command({})}\n  ${command({ format: "csv", out: "found.csv" })}\n`);
}

/** Title and URL first, then as many short fields as fit. */
function columnsFor(records: readonly Record<string, unknown>[], columns: number): string[] {
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const isShort = (name: string) =>
    !TOO_LONG.has(name) &&
    records.some((record) => !isEmpty(record[name])) &&
    records.every((record) => isValue(record[name]));
  const shown = names.filter(isShort);
  const first = ["title", "name", "url"].filter((name) => shown.includes(name));
  const most = Math.max(1, Math.floor(columns / (2 * LEAST_COLUMN)));
  const others = shown.filter((name) => !first.includes(name));
  const picked = [...first, ...others].slice(0, Math.max(most, 2));
  return picked.length > 0 ? picked : names.slice(0, 1);
}

const isEmpty = (value: unknown) => value === null || value === undefined || value === "";

function isValue(value: unknown): boolean {
  if (isEmpty(value) || typeof value === "number" || typeof value === "boolean") return true;
  return typeof value === "string" && value.length <= 300 && !value.includes("\n");
}

function cell(name: string, value: unknown, longest: number): string | number {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return value;
  const text = oneLine(typeof value === "string" ? value : JSON.stringify(value));
  if (name === "url") return text.replace(/^https?:\/\//, "");
  return text.length > longest ? `${text.slice(0, longest - 1).trimEnd()}…` : text;
}
