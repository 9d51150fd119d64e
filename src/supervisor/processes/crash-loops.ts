import type { Clock } from "../../base/clock.ts";
import { crashLoop, type Raise } from "../alerts.ts";
import type { ChildStatus } from "./state-file.ts";

/** A child that comes up briefly and dies again within this time is the same incident. */
const AGAIN_MS = 3_600_000;

/** Raises an alert for each child in a crash loop; called with the state of all children after every change. */
export function alertCrashLoops({ clock, raise }: { clock: Clock; raise: Raise }) {
  const alertedAt = new Map<string, number>();
  return async (children: readonly ChildStatus[]): Promise<void> => {
    const now = clock.monotonic();
    const looping = children.filter(
      ({ name, state }) =>
        state === "crash_loop" && now - (alertedAt.get(name) ?? Number.NEGATIVE_INFINITY) >= AGAIN_MS,
    );
    for (const { name } of looping) alertedAt.set(name, now);
    if (looping.length > 0) await raise(looping.map((child) => crashLoop(child, clock.now())));
  };
}
