import { styleText } from "node:util";
import { ERROR_CATALOGUE, isOrbError, messageOf, type OrbError } from "../../base/errors.ts";
import { refusal, ServerProblem } from "../api/problem.ts";

/** Where a command writes: results to `out`, progress and messages to `err`. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** `err` is a terminal. */
  readonly live: boolean;
  readonly colour: boolean;
  /** The terminal only supports ASCII. */
  readonly ascii?: boolean;
  /** Width of the terminal behind `out`; undefined: a program or a file. */
  readonly columns?: number | undefined;
}

export const EXIT = { done: 0, failed: 1, usage: 2, partial: 3, interrupted: 130 } as const;

export function paint(terminal: Terminal, style: Parameters<typeof styleText>[0], text: string): string {
  return terminal.colour ? styleText(style, text, { validateStream: false }) : text;
}

export function printJson(terminal: Terminal, value: unknown): void {
  terminal.out(`${JSON.stringify(value, null, 2)}\n`);
}

/** Columns as wide as needed, cut to the screen's width if there is one; numbers are right-aligned. */
export function table(header: string[], lines: (string | number)[][], columns?: number): string {
  const numeric = header.map(
    (_, column) => lines.length > 0 && lines.every((line) => typeof line[column] === "number"),
  );
  const texts = [header, ...lines.map((line) => line.map((cell) => oneLine(String(cell))))];
  const widths = header.map((_, column) => Math.max(...texts.map((line) => line[column]?.length ?? 0)));
  if (columns !== undefined) narrow(widths, columns, numeric);
  return texts
    .map((line) =>
      line
        .map((text, column) => {
          const width = widths[column] ?? 0;
          const cut = text.length > width ? `${text.slice(0, Math.max(0, width - 1))}…` : text;
          return numeric[column] ? cut.padStart(width) : cut.padEnd(width);
        })
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

const LEAST_WIDTH = 8;
/** Minimum width of a list's last column: it is a URL. */
const ROOM_FOR_ADDRESS = 24;

/**
 * A table for a screen: drops empty columns, and columns before the last when that would get too narrow. Programs and
 * wide screens get all columns.
 */
export function listTable(header: string[], lines: (string | number)[][], columns: number | undefined): string {
  if (columns === undefined) return table(header, lines);
  const widthOf = (column: number) =>
    Math.max(...[header, ...lines].map((line) => oneLine(String(line[column] ?? "")).length));
  const last = header.length - 1;
  let used = header.flatMap((_, column) =>
    column === 0 || column === last || lines.some((line) => line[column] !== "") ? [column] : [],
  );
  const room = () => columns - used.slice(0, -1).reduce((sum, column) => sum + widthOf(column) + 2, 0);
  while (used.length > 3 && room() < Math.min(ROOM_FOR_ADDRESS, widthOf(last))) used = used.toSpliced(-2, 1);
  const keep = <T>(line: readonly T[]) => used.flatMap((column) => line.slice(column, column + 1));
  return table(keep(header), lines.map(keep), columns);
}

/** Shrinks the widest columns first; never the first column, which identifies the row. */
function narrow(widths: number[], columns: number, numeric: readonly boolean[]): void {
  const total = () => widths.reduce((sum, width) => sum + width + 2, -2);
  while (total() > columns) {
    let widest = -1;
    for (const [column, width] of widths.entries())
      if (column > 0 && !numeric[column] && width > Math.max(LEAST_WIDTH, widths[widest] ?? 0)) widest = column;
    if (widest === -1) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

/** Makes content of sites safe to print: it cannot move the cursor, colour the screen or start another line. */
export function oneLine(text: string): string {
  return plainText(text)
    .replace(/[\s\u2028\u2029]+/g, " ")
    .trim();
}

/** Like `oneLine`, but keeps line breaks. */
export function plainText(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(UNWANTED, "");
}

/** Control characters, and those that override the text direction. */
// oxlint-disable-next-line no-control-regex
const UNWANTED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Names and values below each other; omits null, and wraps long values. */
export function facts(lines: readonly (readonly [string, string | number | null])[], columns?: number): string {
  const shown = lines.filter(([, value]) => value !== null);
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown
    .map(([name, value]) => `${name.padEnd(width)}  ${wrapped(oneLine(String(value)), columns, width + 2)}\n`)
    .join("");
}

/** Breaks lines between words, or within a word longer than a line, and keeps the indentation. */
export function wrapped(text: string, columns: number | undefined, indent: number): string {
  if (columns === undefined) return text;
  const room = Math.max(20, columns - indent);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length <= room) {
      line += ` ${word}`;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    for (; line.length > room; line = line.slice(room)) lines.push(line.slice(0, room));
  }
  return [...lines, line].join(`\n${" ".repeat(indent)}`);
}

const USAGE_CODES = ["usage", "config_invalid", "input_invalid", "handlers_invalid"] as const;

/** Prints the error and its remedy; returns the exit code. */
export function reportError(terminal: Terminal, error: unknown, json: boolean): number {
  const known = isOrbError(error) ? error : refusal(error);
  const exit = known !== null && USAGE_CODES.some((code) => code === known.code) ? EXIT.usage : EXIT.failed;
  if (json) {
    printJson(terminal, {
      error: {
        code: known instanceof ServerProblem ? known.problem : (known?.code ?? "internal"),
        message: messageOf(known ?? error),
        hint: hintOf(known),
        fields: known?.fields ?? [],
      },
    });
    return exit;
  }
  terminal.err(`${paint(terminal, "red", "error:")} ${plainText(messageOf(known ?? error))}\n`);
  const hint = hintOf(known);
  if (hint !== null) terminal.err(`${plainText(hint)}\n`);
  // An unexpected error is a bug: its stack trace helps to fix it.
  if (known === null && error instanceof Error && error.stack !== undefined) terminal.err(`${error.stack}\n`);
  return exit;
}

/** Most messages contain the remedy; a forbidden address does not, because few know that it can be allowed. */
function hintOf(error: OrbError | null): string | null {
  return error?.hint ?? (error?.code === "forbidden_target" ? ERROR_CATALOGUE.forbidden_target.remedy : null);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
