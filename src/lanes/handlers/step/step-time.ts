import type { Clock } from "../../../base/clock.ts";
import { FetchFailure } from "../../../domain/run/failure.ts";

/** How long an aborted step may take to stop; then it is abandoned and its result ignored. */
const STOP_GRACE_MS = 5000;

export interface Bounds {
  clock: Clock;
  /** Aborted when the result is no longer wanted. */
  signal: AbortSignal;
  /** Time left for the attempt; null: unlimited. */
  leftMs: number | null;
  /** The timeout, for the error message. */
  seconds: number | null;
}

export function stepTimeout(seconds: number | null): FetchFailure {
  return new FetchFailure("step_timeout", `the step did not end within its timeout of ${seconds} s`);
}

/** Runs the work with a timeout. Throws `step_timeout` after it, and the reason of the signal when that is aborted. */
export async function withinBounds<T>(bounds: Bounds, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, signal, leftMs, seconds } = bounds;
  const controller = new AbortController();
  const timers: { cancel(): void }[] = [];
  const tooLate = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener("abort", () =>
      timers.push(clock.after(STOP_GRACE_MS, () => reject(controller.signal.reason as Error), { keepAlive: true })),
    );
  });
  const stop = () => controller.abort(new FetchFailure("run_cancelled", "stopped"));
  // Monotonic: setting the wall clock must not change the timeout.
  const deadline = leftMs === null ? null : clock.monotonic() + leftMs;
  const armDeadline = () => {
    if (deadline === null) return;
    const left = deadline - clock.monotonic();
    if (left <= 0) return controller.abort(stepTimeout(seconds));
    timers.push(clock.after(left, armDeadline, { keepAlive: true }));
  };
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  armDeadline();
  try {
    const result = await Promise.race([work(controller.signal), tooLate]);
    // A result after the deadline is too late.
    if (controller.signal.aborted && !signal.aborted) throw controller.signal.reason as Error;
    return result;
  } catch (error) {
    // The abort counts, not the error that it caused.
    throw controller.signal.aborted ? (controller.signal.reason as Error) : error;
  } finally {
    signal.removeEventListener("abort", stop);
    for (const timer of timers) timer.cancel();
    tooLate.catch(() => {});
  }
}
