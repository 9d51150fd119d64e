import { stripVTControlCharacters } from "node:util";
import type { Log } from "../../base/log.ts";
import type { ImportReport } from "../../orchestrator/queue/import.ts";
import { openItems, type QueueStats } from "../../orchestrator/queue/stats.ts";
import { Drawing } from "./drawing.ts";
import { paint, type Terminal } from "./output.ts";

export const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
export const MOST_LANES_SHOWN = 12;
const BAR = 16;
const REDRAW_MS = 100;

export function bar(terminal: Terminal, part: number, width = BAR): string {
  const full = Math.round(Math.max(0, Math.min(1, part)) * width);
  return `${paint(terminal, "cyan", "█".repeat(full))}${paint(terminal, "gray", "░".repeat(width - full))}`;
}

export function span(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** `0:42`, `1:02:03`. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const two = (number: number) => String(number).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** As many parts, in order, as fit into a line; always the first. */
export function joined(parts: readonly string[], columns: number): string {
  let line = "";
  for (const part of parts) {
    const longer = line === "" ? part : `${line}  ${part}`;
    if (line !== "" && stripVTControlCharacters(longer).length >= columns) continue;
    line = longer;
  }
  return line;
}

/** Cuts a line that does not fit, and drops its colours: a wrapped line would break the drawing. */
export function fit(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line);
  return plain.length < columns ? line : `${plain.slice(0, Math.max(1, columns - 2))}…`;
}

/** A log that clears the picture before each line; the next drawing goes below. */
export function throughPicture(log: Log, clear: () => void): Log {
  const through =
    (level: "debug" | "info" | "warn" | "error") => (message: string, fields?: Record<string, unknown>) => {
      clear();
      log[level](message, fields);
    };
  return {
    debug: through("debug"),
    info: through("info"),
    warn: through("warn"),
    error: through("error"),
    with: (fields) => throughPicture(log.with(fields), clear),
  };
}

const RECENT_MS = 5000;

/** Growth rate of a count over the last seconds. */
export class RecentRate {
  #samples: { at: number; count: number }[] = [];

  note(at: number, count: number): void {
    this.#samples.push({ at, count });
    this.#samples = this.#samples.filter((sample) => at - sample.at <= RECENT_MS);
  }

  /** Null: too few samples. */
  perSecond(): number | null {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last.at <= first.at) return null;
    return Math.max(0, ((last.count - first.count) * 1000) / (last.at - first.at));
  }
}

interface LaneRow {
  running: number;
  lastEnd: string | null;
}

/** The live picture of `queue run`: one line in total, one per site with work. */
export class QueueProgress {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  readonly #drawing: Drawing;
  readonly #lanes = new Map<string, LaneRow>();
  readonly #rate = new RecentRate();
  #frame = 0;
  #note: string | null = null;
  #drawnAt = 0;
  #waiting = new Map<string, string>();
  #redraw: (() => void) | null = null;
  role: "engine" | "standby" | "drained" | "stopped" = "standby";

  constructor(terminal: Terminal, now: () => number, options: { live: boolean }) {
    this.#terminal = terminal;
    this.#now = now;
    this.#drawing = new Drawing(terminal, options.live);
  }

  task(name: string, what: "started" | "ended", end?: string): void {
    const line = this.#lanes.get(name) ?? { running: 0, lastEnd: null };
    line.running += what === "started" ? 1 : -1;
    if (end !== undefined) line.lastEnd = end;
    this.#lanes.set(name, line);
  }

  note(text: string): void {
    this.#note = text;
    if (!this.#drawing.live) this.#terminal.err(`${text}\n`);
    else this.#redraw?.();
  }

  /** Prints log lines above the picture. */
  wrap(log: Log): Log {
    return this.#drawing.live ? throughPicture(log, () => this.#drawing.clear()) : log;
  }

  /** Why sites wait; without a terminal each reason is logged once, when it starts. */
  waiting(reasons: Map<string, string>, log: Log): void {
    if (!this.#drawing.live) {
      for (const [site, why] of reasons) if (this.#waiting.get(site) !== why) log.info("a site waits", { site, why });
    }
    this.#waiting = reasons;
  }

  show(stats: QueueStats, inFlight: number, paused: string | null): void {
    const now = this.#now();
    const ended = stats.done + stats.skipped + stats.error;
    this.#rate.note(now, ended);
    if (!this.#drawing.live || now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#redraw = () => this.#drawing.show(this.#picture(stats, ended, inFlight, paused));
    this.#redraw();
  }

  done(): void {
    this.#drawing.done();
  }

  #picture(stats: QueueStats, ended: number, inFlight: number, paused: string | null): string {
    const terminal = this.#terminal;
    const open = openItems(stats);
    const rate = this.#rate.perSecond() ?? 0;
    this.#frame = (this.#frame + 1) % SPINNER.length;
    const spinner = paint(terminal, "cyan", open > 0 ? (SPINNER[this.#frame] ?? "") : "·");
    const eta = open === 0 ? "idle" : rate > 0 ? `${span(open / rate)} left` : "waiting";
    const errors =
      stats.error === 0 ? "0 errors" : paint(terminal, "red", `${stats.error} error${stats.error === 1 ? "" : "s"}`);
    const head = `${spinner} ${stats.total === 0 ? "" : `${bar(terminal, ended / stats.total)} `}${ended}/${stats.total}  ${rate.toFixed(rate < 10 ? 1 : 0)}/s  ${errors}  ${this.role === "engine" ? `${inFlight} in flight` : "standing by"}  ${eta}`;
    const busy = stats.lanes.filter((lane) => openItems(lane) > 0);
    const shown = busy.slice(0, MOST_LANES_SHOWN);
    const width = Math.max(0, ...shown.map((lane) => lane.lane.length));
    const lanes = shown.map((lane) => {
      const here = this.#lanes.get(lane.lane);
      const done = lane.done + lane.skipped + lane.error;
      const why = this.#waiting.get(lane.lane);
      const last =
        why !== undefined
          ? paint(terminal, "yellow", `  ${why}`)
          : here?.lastEnd === undefined || here.lastEnd === null
            ? ""
            : paint(terminal, "gray", `  last: ${here.lastEnd}`);
      return `  ${lane.lane.padEnd(width)}  ${String(done).padStart(6)}/${String(lane.total).padEnd(6)} ${String(here?.running ?? 0).padStart(3)} in flight${lane.error > 0 ? paint(terminal, "red", `  ${lane.error} failed`) : ""}${last}`;
    });
    const more = busy.length >= MOST_LANES_SHOWN ? ["  … orb queue stats shows every site"] : [];
    const pauseNote = paused === null ? [] : [paint(terminal, "red", `  paused: ${paused}`)];
    const note = this.#note === null ? [] : [paint(terminal, "yellow", `  ${this.#note}`)];
    const empty =
      stats.total === 0 ? ["  the queue is empty; add items with orb queue import FILE, from any terminal"] : [];
    const columns = process.stderr.columns ?? 80;
    return [head, ...lanes, ...more, ...empty, ...pauseNote, ...note].map((line) => fit(line, columns)).join("\n");
  }
}

/** A count while a file is read. */
export function importProgress(terminal: Terminal, json: boolean) {
  const drawing = new Drawing(terminal, terminal.live && !json);
  return {
    update: (report: ImportReport) =>
      drawing.show(
        `${report.lines} lines read, ${report.added} added, ${report.existing} already there, ${report.bad} invalid`,
      ),
    line: (text: string) => {
      drawing.clear();
      terminal.err(`${text}\n`);
    },
    done: () => {
      drawing.clear();
      drawing.done();
    },
  };
}
