/** What is told to a store of a task, and what the model makes of it. */
import type { SettledTask } from "../../src/store/ports/port.ts";
import { DONE, FAILED, HANDED_BACK, movedTo, RATE_WAIT, retryAt, SKIPPED } from "../contract/store/kit.ts";
import { LANES, type ModelTask, type Settling } from "./world-model.ts";

export function verdictOf(what: Settling, now: number): SettledTask["verdict"] {
  switch (what.verdict) {
    case "completed":
      return { ...DONE, results: [{ n: 1 }] } as SettledTask["verdict"];
    case "skipped":
      return SKIPPED;
    case "failed":
      return FAILED;
    case "retry":
      return retryAt(now + 500);
    case "rate_wait":
      return RATE_WAIT;
    case "handed_back":
      return HANDED_BACK;
    case "moved":
      return movedTo(LANES[what.to] ?? "");
  }
}

/** The model of a task after it; a lane that it moves to is known from then on. */
export function applyVerdict(task: ModelTask, what: Settling, now: number): void {
  task.history += 1;
  switch (what.verdict) {
    case "completed":
    case "skipped":
    case "failed":
      task.state = what.verdict;
      task.tries += 1;
      return;
    case "retry":
      task.state = "retrying";
      task.tries += 1;
      task.readyAt = now + 500;
      return;
    case "rate_wait":
      task.waits += 1;
      task.state = "queued";
      return;
    case "handed_back":
      task.state = "queued";
      return;
    case "moved":
      task.lane = what.to;
      task.state = "queued";
  }
}
