import type { Log } from "../../base/log.ts";
import type { StepProgress, WorkflowProgress } from "../../orchestrator/workflows/progress.ts";
import { nextCommand, type UrlOption } from "../api/command.ts";
import type { DisplayMode } from "../crawl/crawl-display.ts";
import { oneLine, plural, type Terminal } from "../print/output.ts";
import { Picture } from "../print/picture.ts";
import { plainSigns } from "../print/signs.ts";
import { headLine, treeLines, workflowBlock, type WorkflowMoment } from "./workflow-block.ts";
import { againIn, took } from "./workflow-line.ts";
import { type TreeLine, treeOf } from "./workflow-tree.ts";

/** Details besides the progress. */
export type Details = Pick<WorkflowMoment, "children" | "results">;

const NO_DETAILS: Details = { children: new Map(), results: new Map() };
/** Where to query, and whether estimates are shown. */
interface DisplayOptions extends UrlOption {
  guesses?: boolean;
}
/** Marks a running step where there is no spinner. */
const STILL = "▸";

/** Progress of a workflow: its steps drawn in place, or a line per change. */
export class WorkflowDisplay {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  readonly #mode: DisplayMode;
  readonly #urlOption: UrlOption;
  readonly #guesses: boolean;
  readonly #picture: Picture;
  /** Its state before; null: it has no history. */
  #was: WorkflowProgress | null = null;
  /** The state when lines were last written. */
  #printed: WorkflowProgress | null = null;
  /** The last printed reason of blocked child runs, by id. */
  readonly #waits = new Map<string, string>();
  #seen: { view: WorkflowProgress; details: Details; at: number; tree: readonly TreeLine[] } | null = null;

  constructor(
    terminal: Terminal,
    now: () => number,
    mode: DisplayMode,
    { guesses = true, ...urlOption }: DisplayOptions,
  ) {
    this.#terminal = terminal;
    this.#now = now;
    this.#mode = mode;
    this.#urlOption = urlOption;
    this.#guesses = guesses;
    this.#picture = new Picture(terminal, mode === "live", (spinner) => this.#block(spinner));
  }

  wrap(log: Log): Log {
    return this.#picture.wrap(log);
  }

  /** The last shown state. */
  get view(): WorkflowProgress | null {
    return this.#seen?.view ?? null;
  }

  /** Sets the earlier state, which is not printed as news. */
  was(view: WorkflowProgress): void {
    this.#was = view;
  }

  /** Without details, keeps those shown last. */
  show(progress: WorkflowProgress, details: Details = this.#seen?.details ?? NO_DETAILS): void {
    const view = this.#guesses ? progress : withoutGuesses(progress);
    this.#seen = { view, details, at: this.#now(), tree: this.#seen?.tree ?? treeOf(view.steps) };
    // While a recovery is being prepared, its steps still have their old state.
    if (this.#mode === "plain" && view.status !== "recovering") this.#printChanges(view, details);
    this.#picture.show();
  }

  note(text: string): void {
    if (this.#mode !== "silent") this.#picture.note(text);
  }

  /** Removes the picture and leaves the steps. */
  done(): void {
    this.#picture.done();
    if (this.#mode !== "live" || this.#seen === null) return;
    const { view, details } = this.#seen;
    const screen = { columns: process.stderr.columns ?? 80, lines: Math.max(8, (process.stderr.rows ?? 24) - 6) };
    this.#terminal.err(
      workflowText(this.#terminal, view, details, { ...screen, ...this.#urlOption, now: this.#now(), head: true }),
    );
    this.#seen = null;
  }

  #block(spinner: string): string {
    if (this.#seen === null) return `${spinner} starting`;
    const { view, details, at, tree } = this.#seen;
    const passed = this.#now() - at;
    const moment = { ...momentOf(view, details, this.#now()), tree, spinner };
    const room = { columns: process.stderr.columns ?? 80, rows: process.stderr.rows ?? 24 };
    const isMoving = view.status === "running" || view.status === "recovering";
    const elapsedSeconds = moment.elapsedSeconds + (isMoving ? passed / 1000 : 0);
    return workflowBlock(this.#terminal, { ...moment, elapsedSeconds, now: moment.now + passed }, room).join("\n");
  }

  #printChanges(view: WorkflowProgress, { results, children }: Details): void {
    const before = this.#printed ?? this.#was;
    if (this.#printed === null && before !== null)
      for (const line of linesBefore(before, view)) this.#terminal.err(`${oneLine(line)}\n`);
    this.#printed = view;
    if (before !== null && before.status !== view.status && view.status === "paused") this.#terminal.err("paused\n");
    for (const [index, step] of view.steps.entries()) {
      const was = before?.steps[index] ?? NOT_BEGUN;
      if (isSame(was, step)) continue;
      const words = changeWords(step, results.get(index) ?? "", clockOf(view, this.#now()));
      // Steps that started and ended between two polls are printed in full.
      const isQuick = !AT_WORK.has(was.status) && DONE.has(step.status);
      for (const one of [isQuick ? "started" : null, words])
        if (one !== null) this.#terminal.err(`${oneLine(`${step.task_name}: ${one}`)}\n`);
    }
    for (const { task_name: name, waiting_for: why } of view.steps) {
      if (why?.for !== "run") continue;
      const waits = children.get(why.run_id)?.waits ?? null;
      if (waits === null || this.#waits.get(why.run_id) === waits) continue;
      this.#waits.set(why.run_id, waits);
      this.#terminal.err(`${oneLine(`${name}: waits: ${waits}`)}\n`);
    }
  }
}

function withoutGuesses(view: WorkflowProgress): WorkflowProgress {
  const steps = view.steps.map((step) => ({ ...step, estimated_duration: null }));
  return { ...view, time_remaining_seconds: null, steps };
}

type Known = Pick<StepProgress, "status" | "retry_count" | "completed_at">;

const NOT_BEGUN: Known = { status: "pending", retry_count: 0, completed_at: null };
const AT_WORK: ReadonlySet<StepProgress["status"]> = new Set(["running", "retrying"]);
const DONE: ReadonlySet<StepProgress["status"]> = new Set(["completed", "failed"]);

/** A step repeated between two polls has another end time. */
function isSame(was: Known, step: StepProgress): boolean {
  return was.status === step.status && was.retry_count === step.retry_count && was.completed_at === step.completed_at;
}

const MOST_NAMES = 10;

/** Earlier results, a line per state: `completed before: first, side`. */
function linesBefore(before: WorkflowProgress, view: WorkflowProgress): string[] {
  const names = new Map<string, string[]>();
  for (const [index, step] of view.steps.entries()) {
    const was = before.steps[index];
    if (was === undefined || !isSame(was, step) || step.status === "pending" || step.status === "queued") continue;
    const label = AT_WORK.has(step.status) ? step.status : `${step.status} earlier`;
    names.set(label, [...(names.get(label) ?? []), step.task_name]);
  }
  return [...names].map(
    ([label, all]) => `${label}: ${all.length > MOST_NAMES ? plural(all.length, "step") : all.join(", ")}`,
  );
}

/** The line for a changed step; null: not worth a line. */
function changeWords(step: StepProgress, result: string, now: number): string | null {
  const { status, error_message: error, actual_duration: seconds, entries } = step;
  const because = error === null ? "" : `: ${error}`;
  switch (status) {
    case "pending":
    case "queued":
      return null;
    case "running":
      return step.retry_count === 0 ? "started" : `started again, retry ${step.retry_count} of ${step.max_retries}`;
    case "retrying":
      return `${againIn(step, now)}${because}`;
    case "completed": {
      const list = entries === null ? "" : `${entries.completed} of ${plural(entries.total, "entry", "entries")} done`;
      const what = [list, result].find((part) => part !== "");
      return `completed after ${took(seconds ?? 0)}${what === undefined ? "" : `: ${what}`}`;
    }
    default:
      return `${status}${because}`;
  }
}

/** The worker's clock may differ: use its times. */
function clockOf(
  { started_at: since, elapsed_seconds: spent, completed_at: end }: WorkflowProgress,
  here: number,
): number {
  return since === null || spent === null || end !== null ? here : Date.parse(since) + spent * 1000;
}

function momentOf(view: WorkflowProgress, details: Details, here: number): Omit<WorkflowMoment, "tree"> {
  return { view, ...details, elapsedSeconds: view.elapsed_seconds ?? 0, now: clockOf(view, here), spinner: STILL };
}

/** Available space; absent: unlimited. */
interface Paper extends UrlOption {
  columns?: number | undefined;
  lines?: number;
  /** With its name and duration above the steps. */
  head?: boolean;
  now: number;
}

/** The steps of a workflow as text. */
export function workflowText(
  terminal: Terminal,
  view: WorkflowProgress,
  details: Details,
  { columns = UNBOUNDED, lines: most = view.steps.length, now, head = false, ...urlOption }: Paper,
): string {
  const moment = { ...momentOf(view, details, now), tree: treeOf(view.steps) };
  const lines = [
    ...(head ? [headLine(terminal, moment, columns)] : []),
    // Not redrawn, so long lines may wrap.
    ...treeLines(terminal, moment, columns, most),
  ];
  const more =
    view.steps.length > most
      ? [`  ${nextCommand(`workflows show ${view.workflow_id}`, urlOption)} shows every step`]
      : [];
  const text = [...lines, ...more].map((line) => `${line}\n`).join("");
  return terminal.ascii === true ? plainSigns(text) : text;
}

/** Wide enough for everything. */
const UNBOUNDED = 1000;
