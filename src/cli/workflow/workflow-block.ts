import { stripVTControlCharacters } from "node:util";
import type { StepProgress, WorkflowProgress } from "../../orchestrator/workflows/progress.ts";
import type { Room } from "../crawl/crawl-block.ts";
import { oneLine, paint, plural, type Terminal } from "../print/output.ts";
import { bar, clock, fit, joined, span } from "../print/progress.ts";
import { markOf, stateOf, timeOf } from "./workflow-line.ts";
import type { TreeLine } from "./workflow-tree.ts";

/** Progress of a child run. */
export interface ChildMoment {
  words: string;
  /** What blocks it; null: nothing. */
  waits: string | null;
}

/** The state of a workflow as drawn. */
export interface WorkflowMoment {
  view: WorkflowProgress;
  tree: readonly TreeLine[];
  /** Progress of child runs, by id. */
  children: ReadonlyMap<string, ChildMoment>;
  /** Outputs of steps, by index. */
  results: ReadonlyMap<number, string>;
  elapsedSeconds: number;
  /** The worker's clock. */
  now: number;
  spinner: string;
}

/** Draws a workflow: at most as many lines as the screen has, each cut to its width. */
export function workflowBlock(terminal: Terminal, moment: WorkflowMoment, { columns, rows }: Room): string[] {
  const head = [headLine(terminal, moment, columns)];
  // The last line of a screen stays free for the cursor.
  const freeRows = Math.max(0, rows - 1 - head.length);
  return [...head, ...treeLines(terminal, moment, columns, freeRows)]
    .slice(0, Math.max(1, rows - 1))
    .map((line) => fit(line, columns));
}

const ROOM_FOR_BAR = 72;
const ROOM_FOR_KINDS = 96;
const NARROW = 70;

const ENDED: ReadonlySet<StepProgress["status"]> = new Set(["completed", "failed", "skipped", "cancelled"]);

export function headLine(
  terminal: Terminal,
  { view, elapsedSeconds, spinner }: WorkflowMoment,
  columns: number,
): string {
  const { status, progress, steps, total_steps: total } = view;
  const ended = steps.filter((step) => ENDED.has(step.status)).length;
  const lead = status === "running" || status === "recovering" ? `${paint(terminal, "cyan", spinner)} ` : "";
  const picture = columns < ROOM_FOR_BAR ? "" : `${bar(terminal, progress / 100)} `;
  const left = view.time_remaining_seconds;
  const parts = [
    `${lead}${paint(terminal, "bold", shortened(oneLine(view.name), Math.max(10, Math.floor(columns / 3))))}`,
    statusWords(terminal, view),
    `${picture}${progress} %`,
    columns < ROOM_FOR_BAR ? `${ended}/${total} steps` : `${ended} of ${plural(total, "step")} ended`,
    elapsedSeconds > 0 ? clock(elapsedSeconds) : "",
    status === "running" && left !== null && left > 0
      ? `${columns < ROOM_FOR_BAR ? "~" : "about "}${span(left)} left`
      : "",
  ];
  return joined(
    parts.filter((part) => part !== ""),
    columns,
  );
}

function statusWords(terminal: Terminal, { status, recovery_attempts: recoveries }: WorkflowProgress): string {
  if (status === "running") return recoveries === 0 ? "" : `recovery ${recoveries}`;
  const colour = { completed: "green", failed: "red", cancelled: "gray", paused: "yellow" } as const;
  return paint(terminal, status in colour ? colour[status as keyof typeof colour] : "cyan", status);
}

function shortened(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}

/** A row before it is cut to columns: its parts and their widths. */
interface Row {
  name: string;
  kind: string;
  time: string;
  state: string;
}

/** The steps; if they do not all fit, the active ones. */
export function treeLines(terminal: Terminal, moment: WorkflowMoment, columns: number, freeRows: number): string[] {
  const { view, tree } = moment;
  const chosen = chooseLines(
    tree.map(({ step }) => view.steps[step]!),
    freeRows,
  );
  const shown = chosen.flatMap((part) => (typeof part === "number" ? [tree[part]!] : []));
  const rows = new Map(shown.map((line) => [line.step, rowOf(terminal, moment, line, columns)]));
  const widest = (part: keyof Row) =>
    Math.max(0, ...[...rows.values()].map((row) => stripVTControlCharacters(row[part]).length));
  const width = Math.min(widest("name"), Math.max(16, Math.floor(columns * 0.42)));
  const [kinds, times] = [columns < ROOM_FOR_KINDS ? 0 : widest("kind"), widest("time")];
  return chosen.map((part) => {
    if (typeof part !== "number") return paint(terminal, "gray", `  … ${part.words}`);
    const { name, kind, time, state } = rows.get(tree[part]!.step)!;
    const cells = [
      padded(name, width),
      ...(kinds === 0 ? [] : [paint(terminal, "gray", kind.padEnd(kinds))]),
      ...(times === 0 ? [] : [time.padStart(times)]),
      state,
    ];
    return cells.join("  ").trimEnd();
  });
}

function padded(text: string, width: number): string {
  const plain = stripVTControlCharacters(text);
  return plain.length > width ? `${plain.slice(0, width - 1)}…` : `${text}${" ".repeat(width - plain.length)}`;
}

/** Deep in a graph the rails would push everything off the screen. */
const MOST_RAILS = 18;

function rowOf(terminal: Terminal, moment: WorkflowMoment, { step, rails, after }: TreeLine, columns: number): Row {
  const { view, now, spinner, children, results } = moment;
  const one = view.steps[step]!;
  const run = one.waiting_for?.for === "run" ? children.get(one.waiting_for.run_id) : undefined;
  const child = run === undefined ? null : oneLine(run.waits ?? run.words);
  const names = after?.map((index) => view.steps[index]?.task_name ?? "") ?? null;
  const short = rails.length > MOST_RAILS ? `…${rails.slice(1 - MOST_RAILS)}` : rails;
  return {
    name: `${paint(terminal, "gray", short)}${markOf(terminal, one, spinner)} ${oneLine(one.task_name)}`,
    kind: oneLine(one.task_type),
    time: timeOf(one, now, columns >= NARROW),
    state: stateOf(terminal, one, { now, spinner, columns, child, result: results.get(step) ?? null, after: names }),
  };
}

/** Order of interest. */
const WORTH: Readonly<Record<StepProgress["status"], number>> = {
  running: 0,
  retrying: 0,
  failed: 1,
  queued: 2,
  completed: 3,
  pending: 3,
  skipped: 4,
  cancelled: 4,
};

/** Selects the shown lines and summarises those between them. */
function chooseLines(steps: readonly StepProgress[], freeRows: number): (number | { words: string })[] {
  if (steps.length <= freeRows) return steps.map((_, at) => at);
  const order = byWorth(steps);
  for (let count = Math.min(freeRows, steps.length); count > 0; count -= 1) {
    const lines = withGaps(steps, new Set(order.slice(0, count)));
    if (lines.length <= freeRows) return lines;
  }
  return freeRows > 0 ? withGaps(steps, new Set()) : [];
}

/** Among equals, those nearest to the activity: what ended last and what comes next. */
function byWorth(steps: readonly StepProgress[]): number[] {
  const active = steps.flatMap((step, at) => (WORTH[step.status] === 0 ? [at] : []));
  const focus = active.length > 0 ? active : [steps.findLastIndex(({ status }) => ENDED.has(status))];
  const distance = steps.map((_, at) => Math.min(...focus.map((one) => Math.abs(one - at))));
  return steps
    .map((step, at) => ({ at, worth: WORTH[step.status], distance: distance[at] ?? 0 }))
    .sort((a, b) => a.worth - b.worth || a.distance - b.distance || a.at - b.at)
    .map(({ at }) => at);
}

function withGaps(steps: readonly StepProgress[], shown: ReadonlySet<number>): (number | { words: string })[] {
  const lines: (number | { words: string })[] = [];
  let hidden: number[] = [];
  const close = () => {
    // A summary of one step would be as long as the step.
    if (hidden.length === 1) lines.push(hidden[0]!);
    else if (hidden.length > 1) lines.push({ words: countWords(hidden.map((at) => steps[at]!.status)) });
    hidden = [];
  };
  for (const at of steps.keys()) {
    if (!shown.has(at)) hidden.push(at);
    else {
      close();
      lines.push(at);
    }
  }
  close();
  return lines;
}

function countWords(states: readonly StepProgress["status"][]): string {
  const counts = new Map<string, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(", ");
}
