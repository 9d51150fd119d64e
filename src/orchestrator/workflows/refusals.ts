/** Actions that a workflow's state does not allow, and what to do instead. */
import { OrbError } from "../../base/errors.ts";
import type { RunState } from "../../domain/run/states.ts";
import { workflowStatusOf } from "./view.ts";

type WorkflowAction = "start" | "pause" | "resume" | "cancel" | "recover" | "delete";

const AGAIN = "Re-run it instead: POST /workflows/{id}/rerun, or orb workflows rerun ID.";
const RECOVER = "Recover it instead: POST /workflows/{id}/recover, or orb workflows recover ID.";
const CANCEL = "Cancel it first, or delete it with force.";
const BUSY = "It is being recovered: retry when it is running.";

const HINTS: Readonly<Record<WorkflowAction, Partial<Record<RunState, string>>>> = {
  start: {
    paused: "Resume it instead.",
    recovering: BUSY,
    failed: RECOVER,
    completed: AGAIN,
    cancelled: AGAIN,
  },
  pause: {
    queued: "It was not started yet, so there is nothing to pause.",
    recovering: BUSY,
    failed: "It has ended.",
    completed: "It has ended.",
    cancelled: "It has ended.",
  },
  resume: { queued: "Start it instead.", recovering: BUSY, failed: RECOVER, completed: AGAIN, cancelled: AGAIN },
  cancel: { failed: "It has ended.", completed: "It has ended." },
  recover: {
    queued: "It was not started yet: start it.",
    running: "Only a failed workflow can be recovered. This one is still running.",
    paused: "Only a failed workflow can be recovered. This one is paused: resume it.",
    recovering: "It is being recovered already.",
    completed: `All its steps are completed. ${AGAIN}`,
    cancelled: AGAIN,
  },
  delete: { queued: CANCEL, running: CANCEL, paused: CANCEL, recovering: CANCEL },
};

/** The past participle of each action. */
const DONE = {
  start: "started",
  pause: "paused",
  resume: "resumed",
  cancel: "cancelled",
  recover: "recovered",
  delete: "deleted",
} as const;

/** Throws `illegal_transition` when the state does not allow the action. */
export function refuseUnlessFit(action: WorkflowAction, state: RunState): void {
  const hint = HINTS[action][state];
  if (hint === undefined) return;
  throw new OrbError("illegal_transition", `a workflow that is ${workflowStatusOf(state)} cannot be ${DONE[action]}`, {
    hint,
  });
}
