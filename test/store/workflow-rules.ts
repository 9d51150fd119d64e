/** What becomes of a workflow, in rules that are simple enough to be seen through. */
import { type RunState, type TaskState, TERMINAL_RUN_STATES } from "../../src/domain/run/states.ts";
import type { ClaimedTask, LaneGrant } from "../../src/store/ports/port.ts";

/** A step, or an entry of its list. */
export interface Unit {
  name: string;
  state: TaskState;
  /** When it is ready; what it sleeps for wakes it earlier. */
  readyAt: number;
  sleepsFor: { run: string } | "items" | null;
  slot: number | null;
  hold: { grant: LaneGrant; task: ClaimedTask } | null;
}

export interface Step extends Unit {
  index: number;
  dependencies: readonly number[];
  endedWell: boolean;
  completions: number;
  entries: Unit[];
  stop: boolean;
}

const OPEN: ReadonlySet<TaskState> = new Set(["queued", "running", "retrying"]);

export class WorkflowModel {
  readonly steps: Step[];
  /** Child runs that have not ended, and who waits for each. */
  readonly children = new Map<string, Unit>();
  status: RunState = "queued";
  recoveries = 0;
  recoverFrom: number | null = null;

  constructor(graph: readonly (readonly number[])[]) {
    this.steps = graph.map((dependencies, index) => ({
      ...unit(`s${index}`),
      index,
      dependencies,
      endedWell: false,
      completions: 0,
      entries: [],
      stop: false,
    }));
  }

  units(): Unit[] {
    return this.steps.flatMap((step) => [step, ...step.entries.filter(({ slot }) => slot !== null)]);
  }

  stepOf(one: Unit): Step {
    return this.steps.find((step) => step === one || step.entries.includes(one)) as Step;
  }

  get isOver(): boolean {
    return TERMINAL_RUN_STATES.includes(this.status);
  }

  giveSlot(step: Step, slot: number): void {
    const next = step.entries.find(({ state }) => state === "pending");
    const stops = step.stop && step.entries.some(({ state }) => state === "failed");
    if (next !== undefined && !stops) Object.assign(next, { state: "queued", slot });
  }

  wakeIfDone(step: Step): void {
    if (step.sleepsFor === "items" && !step.entries.some(({ state }) => OPEN.has(state)))
      Object.assign(step, { state: "queued", sleepsFor: null });
  }

  closeEntries(step: Step): void {
    for (const entry of step.entries) {
      if (OPEN.has(entry.state)) {
        if (entry.sleepsFor !== null && entry.sleepsFor !== "items") this.children.delete(entry.sleepsFor.run);
        entry.state = "cancelled";
      } else if (entry.state === "pending") entry.state = "skipped";
    }
  }

  stepEnded(step: Step): void {
    this.closeEntries(step);
    if (step.state === "completed") step.completions += 1;
    step.endedWell = step.state !== "failed";
    if (!step.endedWell) this.skipBehind(step);
    this.openReady();
    this.endIfDone();
  }

  skipBehind(step: Step): void {
    for (const other of this.steps)
      if (other.state === "pending" && other.dependencies.includes(step.index)) {
        other.state = "skipped";
        this.skipBehind(other);
      }
  }

  openReady(): void {
    for (const step of this.steps)
      if (step.state === "pending" && step.dependencies.every((index) => this.steps[index]?.endedWell === true))
        step.state = "queued";
  }

  endIfDone(): void {
    if (this.status !== "running" || this.steps.some(({ state }) => OPEN.has(state) || state === "pending")) return;
    this.status = this.steps.some(({ state }) => state === "failed") ? "failed" : "completed";
    this.children.clear();
  }

  toRunning(): void {
    this.status = "running";
    this.openReady();
    this.endIfDone();
  }

  /** What is to be done again waits once more. */
  putBack(): void {
    const again = new Set<Step>();
    for (const step of this.steps) {
      const follows = step.dependencies.some((index) => again.has(this.steps[index] as Step));
      if (this.recoverFrom === null ? !step.endedWell : step.index === this.recoverFrom || follows) again.add(step);
    }
    for (const step of again) Object.assign(step, { state: "pending", endedWell: false, sleepsFor: null });
    for (const step of this.steps) if (!again.has(step) && !step.endedWell) this.skipBehind(step);
  }
}

export function unit(name: string): Unit {
  return { name, state: "pending", readyAt: 0, sleepsFor: null, slot: null, hold: null };
}
