import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import type { Clock, Timer } from "../clock.ts";

/** A third of V8's maximum, at a few percent more GC work. */
const LARGEST_BYTES = 32 * 1024 * 1024;
const LOOK_MS = 500;

/**
 * V8's young generation doubles while many new objects survive, as the in-flight data of busy servers does. It never
 * shrinks, and keeps alive external memory such as page bodies. V8 reads this factor whenever it would grow; the sizes
 * themselves can only be set on the command line.
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
