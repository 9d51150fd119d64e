/** Layout of steps on a time axis. */
import type { FlowStep } from "./flow-steps.ts";
import { duration } from "../../../logic/format.ts";

type Timed = Pick<FlowStep, "task_name" | "status" | "started_at" | "completed_at" | "step_index">;

interface GanttBar {
  index: number;
  name: string;
  status: FlowStep["status"];
  /** Fractions of the full width, 0 to 1; null: not started. */
  at: { left: number; width: number; ms: number } | null;
}

export interface Gantt {
  bars: GanttBar[];
  ticks: { at: number; name: string }[];
  /** Time span of the full width. */
  ms: number;
}

export function ganttOf(steps: readonly Timed[], now: number): Gantt {
  const spans = steps.map((step) => spanOf(step, now));
  const known = spans.filter((span) => span !== null);
  const first = Math.min(...known.map(({ start }) => start));
  const last = Math.max(...known.map(({ end }) => end));
  const ms = known.length === 0 ? 0 : Math.max(1, last - first);
  const bars = steps.map(({ step_index, task_name, status }, index): GanttBar => {
    const span = spans[index] ?? null;
    return {
      index: step_index,
      name: task_name,
      status,
      at:
        span === null
          ? null
          : { left: (span.start - first) / ms, width: (span.end - span.start) / ms, ms: span.end - span.start },
    };
  });
  return { bars, ticks: ticksOf(ms), ms };
}

function spanOf({ started_at, completed_at, status }: Timed, now: number): { start: number; end: number } | null {
  // A skipped step has an end, but no duration.
  if (started_at === null || status === "skipped") return null;
  const start = Date.parse(started_at);
  return { start, end: Math.max(start, completed_at === null ? now : Date.parse(completed_at)) };
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
];

/** Round times, three to seven of them. */
export function ticksOf(ms: number): { at: number; name: string }[] {
  if (ms <= 0) return [];
  const step = STEPS.find((one) => ms / one <= 6) ?? Math.ceil(ms / 6 / 86_400_000) * 86_400_000;
  const ticks = [];
  for (let at = 0; at <= ms; at += step) ticks.push({ at: at / ms, name: at === 0 ? "0" : duration(at) });
  return ticks;
}
