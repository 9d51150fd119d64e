/**
 * The only source of time, so that the whole engine can run under a simulated clock. `now` is the wall clock, which may
 * jump. `monotonic` counts milliseconds since the machine booted; all processes of a machine read the same value, so
 * leases between processes survive clock jumps.
 */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  now(): number;
  monotonic(): number;
  /** Calls `fn` once, `ms` from now. An idle timer never keeps the process alive unless `keepAlive` is set. */
  after(ms: number, fn: () => void, options?: { keepAlive?: boolean }): Timer;
}

// performance.now() uses the same clock, counted from process start, without hrtime's BigInts (0.1 µs instead of 1);
// the difference is constant.
const SINCE_BOOT = Number(process.hrtime.bigint()) / 1e6 - performance.now();

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now() + SINCE_BOOT,
  after(ms, fn, options) {
    // setTimeout overflows to 1 ms above 2^31-1; callers that wait longer check the time and re-arm.
    const handle = setTimeout(fn, Math.min(Math.max(0, ms), 2_147_483_647));
    if (options?.keepAlive !== true) handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Waits `ms`; an aborted signal ends the wait early without an error (the caller checks the signal). */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      timer.cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.after(ms, done, { keepAlive: true });
    signal?.addEventListener("abort", done, { once: true });
  });
}
