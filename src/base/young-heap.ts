import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import type { Clock, Timer } from "./clock.ts";

/** A third of what V8 lets it grow to, at a few percent more work for its collector. */
const LARGEST_BYTES = 32 * 1024 * 1024;
const LOOK_MS = 500;

/**
 * The part of the heap for new objects doubles as long as much of what is new survives, and what busy servers have in
 * flight does. It takes that memory for good, and keeps alive what lies outside the heap, such as bodies of pages. V8
 * reads this factor whenever it would grow; the sizes themselves can only be given on the command line.
 */
export function keepYoungHeapSmall(clock: Clock): { stop(): void } {
  let grows = true;
  let timer: Timer;
  const look = () => {
    const size = getHeapSpaceStatistics().find((space) => space.space_name === "new_space")?.space_size ?? 0;
    if (grows !== size < LARGEST_BYTES) {
      grows = !grows;
      setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);
    }
    timer = clock.after(LOOK_MS, look);
  };
  look();
  return { stop: () => timer.cancel() };
}
