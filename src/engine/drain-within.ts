import type { Clock } from "../base/clock.ts";

interface Drainable {
  drain(): Promise<void>;
  hurry(): void;
  fence(): Promise<void>;
}

/**
 * Tasks that cannot be requeued this long after the grace period (a full disk) are left to the next owner of their lane.
 */
const REQUEUE_MS = 2000;

/** Lets work finish during the grace period, then requeues it; ends at once when ownership is lost. */
export async function drainWithin(work: Drainable, clock: Clock, graceMs: number, lost: AbortSignal): Promise<void> {
  const fence = () => void work.fence();
  const timers = [
    clock.after(graceMs, () => work.hurry(), { keepAlive: true }),
    clock.after(graceMs + REQUEUE_MS, fence, { keepAlive: true }),
  ];
  lost.addEventListener("abort", fence, { once: true });
  await work.drain();
  lost.removeEventListener("abort", fence);
  for (const timer of timers) timer.cancel();
}
