/** One step of a workflow in one line: state, duration, and what it does or waits for. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { StepProgress } from "../../orchestrator/workflows/progress.ts";
import { oneLine, paint, plural, type Terminal } from "../print/output.ts";
import { bar, clock, span } from "../print/progress.ts";

interface StepMoment {
  /** The worker's clock. */
  now: number;
  /** Spins while a step runs. */
  spinner: string;
  columns: number;
  /** Progress of its child run. */
  child: string | null;
  /** Its output. */
  result: string | null;
  /** Names of the steps it waits for, if the tree does not show them. */
  after: readonly string[] | null;
}

const MARKS = {
  pending: ["·", "gray"],
  queued: ["○", "cyan"],
  retrying: ["↻", "yellow"],
  completed: ["✓", "green"],
  failed: ["✗", "red"],
  skipped: ["–", "gray"],
  cancelled: ["⊘", "gray"],
} as const;

export function markOf(terminal: Terminal, { status, waiting_for: waits }: StepProgress, spinner: string): string {
  if (status === "running") return paint(terminal, "cyan", waits === null ? spinner : "◐");
  const [sign, colour] = MARKS[status];
  return paint(terminal, colour, sign);
}

/** Short durations have a decimal. */
export function took(seconds: number): string {
  if (seconds >= 10) return clock(seconds);
  return seconds < 0.05 ? "0 s" : `${seconds.toFixed(1)} s`;
}

/** Elapsed time; of pending steps, the estimate. */
export function timeOf(step: StepProgress, now: number, withEstimate: boolean): string {
  const { status, started_at: since, actual_duration: all, estimated_duration: estimate } = step;
  if (status === "skipped") return "";
  if (all !== null) return took(all);
  const expected = estimate === null || !withEstimate ? "" : `~${clock(estimate)}`;
  if (since === null || status === "pending" || status === "queued") return expected;
  const spent = clock(Math.max(0, now - Date.parse(since)) / 1000);
  return expected === "" ? spent : `${spent} of ${expected}`;
}

export function stateOf(terminal: Terminal, step: StepProgress, moment: StepMoment): string {
  const error = step.error_message === null ? "" : oneLine(step.error_message);
  switch (step.status) {
    case "pending":
      return moment.after === null ? "" : paint(terminal, "gray", `after ${moment.after.join(", ")}`);
    case "queued":
      return step.waiting_for === null ? "waiting for a worker" : oneLine(step.waiting_for.message);
    case "running":
      return atWork(terminal, step, moment);
    case "retrying":
      return paint(terminal, "yellow", `${againIn(step, moment.now)}${error === "" ? "" : `: ${error}`}`);
    case "completed":
      return [entriesOf(terminal, step), moment.result ?? ""].find((words) => words !== "") ?? "";
    case "failed":
      return paint(terminal, "red", error === "" ? "failed" : error);
    case "skipped":
    case "cancelled":
      return paint(terminal, "gray", error === "" ? step.status : oneLine(`${step.status}: ${error}`));
  }
}

/** Which attempt comes next, and when. */
export function againIn({ retry_count: spent, max_retries: most, next_try_at: at }: StepProgress, now: number): string {
  const when = at === null ? "soon" : `in ${span(Math.max(0, Date.parse(at) - now) / 1000)}`;
  return `retry ${Math.min(spent, most)} of ${most} ${when}`;
}

/** The server's message, with the remaining time instead of the time of day. */
function leftWords({ message, until }: { message: string; until: string | null }, now: number): string {
  if (until === null) return message;
  const left = span(Math.max(0, Date.parse(until) - now) / 1000);
  return message.replace(/\b(at|until) \d{4}-\d\d-\d\d [\d:]{8} UTC/, (_, word) =>
    word === "at" ? `in ${left}` : `for ${left}`,
  );
}

const SMALL_BAR = 8;

function atWork(terminal: Terminal, step: StepProgress, moment: StepMoment): string {
  const { waiting_for: waits, progress, progress_message: said, retry_count: spent, max_retries: most } = step;
  const again = spent === 0 ? "" : paint(terminal, "yellow", `  retry ${Math.min(spent, most)} of ${most}`);
  if (step.entries !== null && step.entries.total > 0) return `${entriesOf(terminal, step, moment)}${again}`;
  if (waits?.for === "time")
    return `waits, ${span(Math.max(0, Date.parse(waits.until) - moment.now) / 1000)} left${again}`;
  if (waits?.for === "worker") return oneLine(waits.message);
  if (waits?.for === "run") {
    // The failure matters more than the progress.
    const says = waits.last_failure === null ? (moment.child ?? waits.message) : leftWords(waits, moment.now);
    return `${oneLine(says)}${again}`;
  }
  const words = said === null ? "" : oneLine(said);
  const share = progress > 0 ? `${barFor(terminal, progress / 100, moment.columns)}${progress} %` : "";
  return `${[share, words].filter((part) => part !== "").join("  ")}${again}`;
}

const ROOM_FOR_BARS = 80;

function barFor(terminal: Terminal, part: number, columns: number): string {
  return columns < ROOM_FOR_BARS ? "" : `${bar(terminal, part, SMALL_BAR)} `;
}

/** Of a `for_each` step. */
function entriesOf(terminal: Terminal, { entries, status }: StepProgress, moment?: StepMoment): string {
  if (entries === null) return "";
  const { total, open, completed, failed, skipped } = entries;
  const ended = total - open;
  const bad = failed === 0 ? "" : `  ${paint(terminal, "red", `${failed} failed`)}`;
  const left = skipped === 0 ? "" : `  ${skipped} skipped`;
  if (status === "completed" || moment === undefined)
    return `${completed} of ${plural(total, "entry", "entries")} done${bad}${left}`;
  return `${barFor(terminal, ended / total, moment.columns)}${ended}/${total}${bad}${left}`;
}

/** Keys only useful to programs. */
const NOT_FOR_PEOPLE = new Set(["run_id", "artifact_id", "artifact_hash", "seed"]);
const LONGEST_WORD = 40;

/** A step's output, as far as it fits into a line: `downloaded 95, failed 3`. */
export function resultWords(result: Readonly<Record<string, JsonValue>> | null): string {
  return Object.entries(result ?? {})
    .flatMap(([name, value]) => {
      if (NOT_FOR_PEOPLE.has(name) || value === null || typeof value === "object") return [];
      if (name === "bytes" && typeof value === "number") return [sizeWords(value)];
      const text = oneLine(String(value));
      return text === "" || text.length > LONGEST_WORD ? [] : [`${name.replaceAll("_", " ")} ${text}`];
    })
    .join(", ");
}

export function sizeWords(bytes: number): string {
  if (bytes < 1024) return plural(bytes, "byte");
  const units = ["KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  const size = bytes / 1024 ** power;
  return `${size.toFixed(size < 10 ? 1 : 0)} ${units[power - 1]}`;
}
