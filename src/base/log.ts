import { styleText } from "node:util";
import { type Clock, systemClock } from "./clock.ts";
import { visible } from "./visible-text.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFields = Record<string, unknown>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log that adds these fields to each line. */
  with(fields: LogFields): Log;
}

export interface LogOptions {
  level: LogLevel;
  /** Readable lines for people, JSON for machines. */
  pretty: boolean;
  write: (line: string) => void;
  clock?: Clock;
}

const COLOURS = { debug: "gray", info: "cyan", warn: "yellow", error: "red" } as const;

export function createLog(options: LogOptions, bound: LogFields = {}): Log {
  const threshold = LOG_LEVELS.indexOf(options.level);
  const clock = options.clock ?? systemClock;
  const emit = (level: keyof typeof COLOURS, message: string, fields?: LogFields) => {
    if (LOG_LEVELS.indexOf(level) < threshold) return;
    const all = { ...bound, ...fields };
    const time = new Date(clock.now()).toISOString();
    if (!options.pretty) {
      options.write(`${JSON.stringify({ time, level, message, ...all })}\n`);
      return;
    }
    const details = Object.entries(all)
      .map(([name, value]) => `${name}=${visible(typeof value === "string" ? value : String(JSON.stringify(value)))}`)
      .join(" ");
    const tail = details === "" ? "" : ` ${styleText("gray", details)}`;
    options.write(`${time.slice(11, 19)} ${styleText(COLOURS[level], level.padEnd(5))} ${visible(message)}${tail}\n`);
  };
  return {
    debug: (message, fields) => emit("debug", message, fields),
    info: (message, fields) => emit("info", message, fields),
    warn: (message, fields) => emit("warn", message, fields),
    error: (message, fields) => emit("error", message, fields),
    with: (fields) => createLog(options, { ...bound, ...fields }),
  };
}

export const silentLog: Log = createLog({ level: "silent", pretty: false, write: () => {} });
