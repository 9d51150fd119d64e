/** How every state is shown: word, tone (colour) and shape, so that none of them carries the meaning alone. */

export type Tone = "neutral" | "info" | "good" | "warn" | "bad" | "muted";
export type Shape =
  | "ring"
  | "spin"
  | "pause"
  | "person"
  | "check"
  | "half"
  | "cross"
  | "slash"
  | "clock"
  | "bolt"
  | "dot";

interface StateLook {
  word: string;
  tone: Tone;
  shape: Shape;
}

const LOOKS: Readonly<Record<string, StateLook>> = {
  // Runs and tasks.
  pending: { word: "Pending", tone: "muted", shape: "ring" },
  queued: { word: "Queued", tone: "neutral", shape: "ring" },
  running: { word: "Running", tone: "info", shape: "spin" },
  in_progress: { word: "In progress", tone: "info", shape: "spin" },
  retrying: { word: "Retrying", tone: "warn", shape: "clock" },
  paused: { word: "Paused", tone: "warn", shape: "pause" },
  waiting_for_human: { word: "Needs you", tone: "warn", shape: "person" },
  recovering: { word: "Recovering", tone: "info", shape: "spin" },
  completed: { word: "Completed", tone: "good", shape: "check" },
  done: { word: "Done", tone: "good", shape: "check" },
  partial: { word: "Partial", tone: "warn", shape: "half" },
  failed: { word: "Failed", tone: "bad", shape: "cross" },
  error: { word: "Failed", tone: "bad", shape: "cross" },
  cancelled: { word: "Cancelled", tone: "muted", shape: "slash" },
  skipped: { word: "Skipped", tone: "muted", shape: "slash" },
  // Sites, breakers and proxies.
  active: { word: "Active", tone: "info", shape: "spin" },
  waiting: { word: "Waiting", tone: "neutral", shape: "clock" },
  blocked: { word: "Circuit open", tone: "bad", shape: "bolt" },
  idle: { word: "Idle", tone: "muted", shape: "dot" },
  closed: { word: "Closed", tone: "good", shape: "check" },
  open: { word: "Open", tone: "bad", shape: "bolt" },
  half_open: { word: "Half open", tone: "warn", shape: "half" },
  unchecked: { word: "Unchecked", tone: "muted", shape: "ring" },
  usable: { word: "Usable", tone: "good", shape: "check" },
  resting: { word: "Cooling down", tone: "warn", shape: "clock" },
  disabled: { word: "Disabled", tone: "muted", shape: "slash" },
  // Schedule occurrences, alerts and sessions.
  started: { word: "Started", tone: "good", shape: "check" },
  missed: { word: "Missed", tone: "warn", shape: "clock" },
  refused: { word: "Refused", tone: "bad", shape: "cross" },
  delivered: { word: "Delivered", tone: "good", shape: "check" },
  given_up: { word: "Given up", tone: "bad", shape: "cross" },
  off: { word: "Not sent", tone: "muted", shape: "slash" },
  healthy: { word: "Healthy", tone: "good", shape: "check" },
  rejected: { word: "Rejected", tone: "bad", shape: "cross" },
  unreachable: { word: "Unreachable", tone: "warn", shape: "bolt" },
  // Workers and checks.
  working: { word: "Working", tone: "good", shape: "check" },
  standby: { word: "Standby", tone: "neutral", shape: "clock" },
  draining: { word: "Draining", tone: "warn", shape: "half" },
  drained: { word: "Drained", tone: "warn", shape: "pause" },
  up: { word: "Connected", tone: "good", shape: "check" },
  connecting: { word: "Connecting", tone: "info", shape: "spin" },
  down: { word: "Unreachable", tone: "bad", shape: "cross" },
  lost: { word: "Lost", tone: "bad", shape: "cross" },
  stopped: { word: "Stopped", tone: "muted", shape: "slash" },
  ok: { word: "OK", tone: "good", shape: "check" },
  degraded: { word: "Degraded", tone: "warn", shape: "half" },
};

/** An unknown state is shown by its own name. */
export function lookOf(state: string): StateLook {
  const known = Object.hasOwn(LOOKS, state) ? LOOKS[state] : undefined;
  if (known !== undefined) return known;
  const word = state.replaceAll("_", " ");
  return { word: word.slice(0, 1).toUpperCase() + word.slice(1), tone: "neutral", shape: "dot" };
}

const ENDED = new Set(["completed", "partial", "failed", "cancelled"]);

/** Whether a run will change by itself. */
export function isActive(status: string): boolean {
  return !ENDED.has(status);
}
