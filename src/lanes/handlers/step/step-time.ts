import type { Clock } from "../../../base/clock.ts";
import { FetchFailure } from "../../../domain/run/failure.ts";

/** How long a step may take to stop after it was asked to; then it is abandoned and its result ignored. */
const LAST_WORDS_MS = 5000;

export interface Bounds {
  clock: Clock;
  /** Its result is not wanted any more. */
  signal: AbortSignal;
  /** Time left for the attempt; null: unlimited. */
  leftMs: number | null;
  /** How the failure calls the time. */
  seconds: number | null;
}

export function stepTimeout(seconds: number | null): FetchFailure {
  return new FetchFailure("step_timeout", `the step did not end within its timeout of ${seconds} s`);
}

/** Does the work within its time. Throws `step_timeout` when that is over, and the reason of the signal when it fires. */
export async function withinBounds<T>(bounds: Bounds, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, signal, leftMs, seconds } = bounds;
  const controller = new AbortController();
  const timers: { cancel(): void }[] = [];
  const tooLate = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener("abort", () =>
      timers.push(clock.after(LAST_WORDS_MS, () => reject(controller.signal.reason as Error), { keepAlive: true })),
    );
  });
  const stop = () => controller.abort(new FetchFailure("run_cancelled", "stopped"));
  // The wall clock may be set while the step is at work, which does not make its time longer or shorter.
  const overAt = leftMs === null ? null : clock.monotonic() + leftMs;
  const armDeadline = () => {
    if (overAt === null) return;
    const left = overAt - clock.monotonic();
    if (left <= 0) return controller.abort(stepTimeout(seconds));
    timers.push(clock.after(left, armDeadline, { keepAlive: true }));
  };
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  armDeadline();
  try {
    const result = await Promise.race([work(controller.signal), tooLate]);
    // A result that arrives after the deadline is late all the same.
    if (controller.signal.aborted && !signal.aborted) throw controller.signal.reason as Error;
    return result;
  } catch (error) {
    // Whatever the end of its time made of it: that is what happened.
    throw controller.signal.aborted ? (controller.signal.reason as Error) : error;
  } finally {
    signal.removeEventListener("abort", stop);
    for (const timer of timers) timer.cancel();
    tooLate.catch(() => {});
  }
}
