import { styleText } from "node:util";
import { isOrbError, messageOf } from "../base/errors.ts";

/** Where a command writes: results to `out`, everything about the work itself to `err`. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** People are watching `err`. */
  readonly live: boolean;
  readonly colour: boolean;
}

export const EXIT = { done: 0, failed: 1, usage: 2, partial: 3 } as const;

export function paint(terminal: Terminal, style: Parameters<typeof styleText>[0], text: string): string {
  return terminal.colour ? styleText(style, text, { validateStream: false }) : text;
}

export function printJson(terminal: Terminal, value: unknown): void {
  terminal.out(`${JSON.stringify(value, null, 2)}\n`);
}

/** Columns as wide as they need to be; numbers to the right. */
export function table(header: string[], lines: (string | number)[][]): string {
  const texts = [header, ...lines.map((line) => line.map(String))];
  const widths = header.map((_, column) => Math.max(...texts.map((line) => line[column]?.length ?? 0)));
  const numeric = header.map(
    (_, column) => lines.length > 0 && lines.every((line) => typeof line[column] === "number"),
  );
  return texts
    .map((line) =>
      line
        .map((text, column) =>
          numeric[column] ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

const USAGE_CODES = ["usage", "config_invalid", "input_invalid", "handlers_invalid"] as const;

/** Says what happened and what to do; returns the exit code. */
export function reportError(terminal: Terminal, error: unknown, json: boolean): number {
  const known = isOrbError(error) ? error : null;
  const exit = known !== null && USAGE_CODES.some((code) => code === known.code) ? EXIT.usage : EXIT.failed;
  if (json) {
    printJson(terminal, {
      error: {
        code: known?.code ?? "internal",
        message: messageOf(error),
        hint: known?.hint ?? null,
        fields: known?.fields ?? [],
      },
    });
    return exit;
  }
  terminal.err(`${paint(terminal, "red", "error:")} ${messageOf(error)}\n`);
  if (known?.hint !== undefined) terminal.err(`${known.hint}\n`);
  // What nobody foresaw is a bug: its trace helps whoever mends it.
  if (known === null && error instanceof Error && error.stack !== undefined) terminal.err(`${error.stack}\n`);
  return exit;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
