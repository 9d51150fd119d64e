import type { Log, LogFields, LogLevel } from "../base/log.ts";
import { LOG_LEVELS } from "../base/log.ts";
import { oneLine, paint, type Terminal } from "./print/output.ts";

const COLOURS = { debug: "gray", info: "gray", warn: "yellow", error: "red" } as const;
const NAMES = { debug: "debug", info: "info", warn: "warning", error: "error" } as const;

/** The log of a one-off command: plain lines between its other output, from warnings up; a warning is printed once. */
export function commandLog(terminal: Terminal, configured: LogLevel): Log {
  const level = configured === "info" ? "warn" : configured;
  return withFields(terminal, LOG_LEVELS.indexOf(level), new Set(), {});
}

function withFields(terminal: Terminal, threshold: number, printed: Set<string>, bound: LogFields): Log {
  const say = (level: keyof typeof COLOURS) => (message: string, fields?: LogFields) => {
    if (LOG_LEVELS.indexOf(level) < threshold) return;
    const details = Object.entries({ ...bound, ...fields }).map(
      ([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
    );
    const text = oneLine(`${message}${details.join("")}`);
    if (level === "warn" && printed.has(text)) return;
    printed.add(text);
    terminal.err(`${paint(terminal, COLOURS[level], `${NAMES[level]}:`)} ${text}\n`);
  };
  return {
    debug: say("debug"),
    info: say("info"),
    warn: say("warn"),
    error: say("error"),
    with: (fields) => withFields(terminal, threshold, printed, { ...bound, ...fields }),
  };
}
