import type { EventType } from "./event-catalogue.ts";
import { type RunState, TERMINAL_RUN_STATES } from "./states.ts";

const ENTERED = {
  completed: "run.completed",
  partial: "run.partial",
  failed: "run.failed",
  cancelled: "run.cancelled",
  paused: "run.paused",
  waiting_for_human: "run.waiting_for_human",
  recovering: "run.recovering",
} as const satisfies Partial<Record<RunState, EventType>>;

/** The event of a transition, where nothing but the two states is known. */
export function eventOfMove(from: RunState, to: RunState): EventType {
  if (to !== "running" && to !== "queued") return ENTERED[to];
  if (TERMINAL_RUN_STATES.includes(from)) return "run.reopened";
  return from === "queued" ? "run.started" : "run.resumed";
}
