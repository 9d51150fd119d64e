/** Prints Markdown tables. */
import { print } from "../support/measure.ts";

export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(3, ...all.map((row) => row[column]!.length)));
  const isText = header.map((_, column) => rows.some((row) => !/^[\d.,–]/.test(row[column]!)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (isText[column] ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join(" | ")} |`;
  print("");
  print(line(header));
  print(
    `|${widths.map((width, column) => (isText[column] ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`,
  );
  for (const row of rows) print(line(row));
  print("");
}

const MOST_NAMES = 20;

/** A list of names, truncated if long. */
export function printNames(what: string, names: readonly string[]): void {
  if (names.length === 0) return;
  print(`  ${what}: ${names.length}`);
  for (const name of names.slice(0, MOST_NAMES)) print(`    ${name}`);
  if (names.length > MOST_NAMES) print(`    … and ${names.length - MOST_NAMES} more`);
}
