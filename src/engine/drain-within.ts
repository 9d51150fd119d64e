import type { Clock } from "../base/clock.ts";

interface Drainable {
  drain(): Promise<void>;
  hurry(): void;
  fence(): Promise<void>;
}

/** What cannot be handed back so long after the grace period (a full disk) is left to whoever takes it back later. */
const HAND_BACK_MS = 2000;

/** Lets work finish for as long as the grace period lasts, then has it handed back; ends at once when ownership is lost. */
export async function drainWithin(work: Drainable, clock: Clock, graceMs: number, lost: AbortSignal): Promise<void> {
  const fence = () => void work.fence();
  const timers = [
    clock.after(graceMs, () => work.hurry(), { keepAlive: true }),
    clock.after(graceMs + HAND_BACK_MS, fence, { keepAlive: true }),
  ];
  lost.addEventListener("abort", fence, { once: true });
  await work.drain();
  lost.removeEventListener("abort", fence);
  for (const timer of timers) timer.cancel();
}
