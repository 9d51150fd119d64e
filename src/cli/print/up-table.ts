import { fit, span } from "./progress.ts";
import { oneLine, paint, type Terminal } from "./output.ts";
import type { CliUpChild, CliUpState } from "../wiring.ts";

const SIGNS: Readonly<Record<string, { sign: string; colour: "green" | "yellow" | "red" | "gray" | "cyan" }>> = {
  up: { sign: "✓", colour: "green" },
  starting: { sign: "◐", colour: "cyan" },
  silent: { sign: "○", colour: "yellow" },
  restarting: { sign: "↻", colour: "yellow" },
  crash_loop: { sign: "✗", colour: "red" },
  stopping: { sign: "◐", colour: "cyan" },
  stopped: { sign: "–", colour: "gray" },
  gone: { sign: "✗", colour: "red" },
};

/** Narrower screens have no space for process ids. */
const NARROW = 80;
const PID = 3;
const NUMBERS = new Set(["pid", "restarts", "uptime"]);

/** For people: one line per process, cut to the screen's width. */
export function upTable(terminal: Terminal, { children }: CliUpState, now: number): string {
  const isNarrow = (terminal.columns ?? NARROW) < NARROW;
  const shown = (cells: string[]) => (isNarrow ? cells.toSpliced(PID, 1) : cells);
  const rows = children.map((child) => ({ child, cells: shown(cellsOf(child, now)) }));
  const header = shown(["", "name", "state", "pid", "restarts", "uptime", "health"]);
  const all = [header, ...rows.map(({ cells }) => cells)];
  const widths = header.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)));
  const columns = (terminal.columns ?? 1000) + 1;
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        NUMBERS.has(header[column] ?? "") ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ");
  const lines = rows.map(({ child, cells }) => {
    const plain = fit(line(cells).trimEnd(), columns);
    const { colour } = signOf(child);
    return `${paint(terminal, colour, plain.slice(0, 1))}${plain.slice(1)}`;
  });
  return [paint(terminal, "gray", fit(line(header).trimEnd(), columns)), ...lines].map((text) => `${text}\n`).join("");
}

function signOf({ state }: CliUpChild) {
  return SIGNS[state] ?? { sign: "?", colour: "gray" as const };
}

function cellsOf(child: CliUpChild, now: number): string[] {
  const { name, state, identity, restarts, since, health, note } = child;
  return [
    signOf(child).sign,
    name,
    state.replace("_", " "),
    identity === null ? "" : String(identity.pid),
    String(restarts),
    since === null ? "" : span(Math.max(0, now - since) / 1000),
    oneLine((state === "up" || note === null ? health : note) ?? ""),
  ];
}

/** For programs. */
export function upJson(state: CliUpState): object {
  return {
    running: state.supervisor !== null,
    by: state.by,
    pid: state.supervisor?.pid ?? null,
    started_at: new Date(state.startedAt).toISOString(),
    url: state.url,
    processes: state.children.map(({ identity, since, ...child }) => ({
      ...child,
      pid: identity?.pid ?? null,
      since: since === null ? null : new Date(since).toISOString(),
    })),
  };
}
