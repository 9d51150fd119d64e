import type { Clock } from "../../base/clock.ts";
import { crashLoop, type Raise } from "../alerts.ts";
import type { ChildStatus } from "./state-file.ts";

/** One that comes up for a moment now and then, and dies again, is still the same news. */
const AGAIN_MS = 3_600_000;

/** Tells of children that die again and again, given what is known of all of them after every change. */
export function tellCrashLoops({ clock, raise }: { clock: Clock; raise: Raise }) {
  const told = new Map<string, number>();
  return async (children: readonly ChildStatus[]): Promise<void> => {
    const now = clock.monotonic();
    const looping = children.filter(
      ({ name, state }) => state === "crash_loop" && now - (told.get(name) ?? Number.NEGATIVE_INFINITY) >= AGAIN_MS,
    );
    for (const { name } of looping) told.set(name, now);
    if (looping.length > 0) await raise(looping.map((child) => crashLoop(child, clock.now())));
  };
}
