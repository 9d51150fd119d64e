import type { Log } from "../base/log.ts";
import type { StepProgress, WorkflowProgress } from "../orchestrator/workflows/progress.ts";
import type { DisplayMode } from "./crawl-display.ts";
import { oneLine, plural, type Terminal } from "./output.ts";
import { Picture } from "./picture.ts";
import { fit } from "./progress.ts";
import { plainSigns } from "./signs.ts";
import { treeLines, workflowBlock, type WorkflowMoment } from "./workflow-block.ts";
import { againIn, took } from "./workflow-line.ts";
import { type TreeLine, treeOf } from "./workflow-tree.ts";

/** What is known of a workflow besides its progress. */
export type Details = Pick<WorkflowMoment, "children" | "results">;

const NO_DETAILS: Details = { children: new Map(), results: new Map() };
/** What stands for a step at work where nothing turns. */
const STILL = "▸";

/** How a workflow is getting on: its steps, drawn in place, or a line for each change. */
export class WorkflowDisplay {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  readonly #mode: DisplayMode;
  readonly #isNew: boolean;
  readonly #picture: Picture;
  #seen: { view: WorkflowProgress; details: Details; at: number; tree: readonly TreeLine[] } | null = null;

  /** `isNew`: nothing of it has happened before it is shown. */
  constructor(terminal: Terminal, now: () => number, mode: DisplayMode, isNew = false) {
    this.#terminal = terminal;
    this.#now = now;
    this.#mode = mode;
    this.#isNew = isNew;
    this.#picture = new Picture(terminal, mode === "live", (spinner) => this.#block(spinner));
  }

  wrap(log: Log): Log {
    return this.#picture.wrap(log);
  }

  /** Without details, those that were shown last are still there. */
  show(view: WorkflowProgress, details: Details = this.#seen?.details ?? NO_DETAILS): void {
    if (this.#mode === "plain") this.#tell(view, details);
    this.#seen = { view, details, at: this.#now(), tree: this.#seen?.tree ?? treeOf(view.steps) };
    this.#picture.show();
  }

  /** Something that has to be known, also when the picture is gone: it stays above it. */
  note(text: string): void {
    if (this.#mode === "silent") return;
    this.#picture.clear();
    this.#terminal.err(`${text}\n`);
    this.#picture.show();
  }

  /** The picture goes away; of what was on it the steps stay. */
  done(): void {
    this.#picture.done();
    if (this.#mode !== "live" || this.#seen === null) return;
    const { view, details } = this.#seen;
    const screen = { columns: process.stderr.columns ?? 80, lines: Math.max(8, (process.stderr.rows ?? 24) - 6) };
    this.#terminal.err(workflowText(this.#terminal, view, details, { ...screen, now: this.#now() }));
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

  #tell(view: WorkflowProgress, { results }: Details): void {
    const before = this.#seen?.view;
    if (before !== undefined && before.status !== view.status && view.status === "paused")
      this.#terminal.err("paused\n");
    for (const [index, step] of view.steps.entries()) {
      const was = before?.steps[index] ?? (this.#isNew ? NOT_BEGUN : undefined);
      if (was?.status === step.status && was.retry_count === step.retry_count) continue;
      const words = changeWords(step, results.get(index) ?? "", clockOf(view, this.#now()));
      // What began and ended between two looks is told in full.
      const isQuick = was !== undefined && NOT_YET.has(was.status) && DONE.has(step.status);
      for (const one of [isQuick ? "started" : null, words])
        if (one !== null) this.#terminal.err(`${oneLine(`${step.task_name}: ${one}`)}\n`);
    }
  }
}

const NOT_BEGUN = { status: "pending", retry_count: 0 } as const;
const NOT_YET: ReadonlySet<StepProgress["status"]> = new Set(["pending", "queued"]);
const DONE: ReadonlySet<StepProgress["status"]> = new Set(["completed", "failed"]);

/** What a line says of a step that has changed; null: nothing worth a line. */
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

/** Whoever does the work may have another clock: what it says of itself counts. */
function clockOf(
  { started_at: since, elapsed_seconds: spent, completed_at: end }: WorkflowProgress,
  here: number,
): number {
  return since === null || spent === null || end !== null ? here : Date.parse(since) + spent * 1000;
}

function momentOf(view: WorkflowProgress, details: Details, here: number): Omit<WorkflowMoment, "tree"> {
  return { view, ...details, elapsedSeconds: view.elapsed_seconds ?? 0, now: clockOf(view, here), spinner: STILL };
}

/** How much room there is; absent: as much as is needed. */
interface Paper {
  columns?: number | undefined;
  lines?: number;
  now: number;
}

/** The steps of a workflow as a text that stays. */
export function workflowText(
  terminal: Terminal,
  view: WorkflowProgress,
  details: Details,
  { columns, lines: most = view.steps.length, now }: Paper,
): string {
  const moment = { ...momentOf(view, details, now), tree: treeOf(view.steps) };
  const lines = treeLines(terminal, moment, columns ?? UNBOUNDED, most);
  const more = view.steps.length > most ? [`  orb workflows show ${view.workflow_id} shows every step`] : [];
  const text = [...lines, ...more].map((line) => `${columns === undefined ? line : fit(line, columns)}\n`).join("");
  return terminal.ascii === true ? plainSigns(text) : text;
}

/** Wide enough for everything. */
const UNBOUNDED = 1000;
