import type { Clock } from "../../base/clock.ts";
import type { Store } from "../../store/ports/port.ts";
import { type Raise, workerLost } from "../alerts.ts";
import type { Duty } from "../duties.ts";

/** How long those that stopped or were lost are remembered. */
const REMEMBERED_MS = 24 * 3600_000;
const FORGET_EVERY_MS = 10 * 60_000;
const MOST_TOLD = 1000;

/** Workers that have not been heard of are called lost, and told of. */
export function loseWorkers({ store, clock, raise }: { store: Store; clock: Clock; raise: Raise }): Duty {
  let told = false;
  let forgotten = Number.NEGATIVE_INFINITY;
  return {
    name: "look for workers that are lost",
    everyMs: 2000,
    async run() {
      const isTimeToForget = clock.monotonic() - forgotten >= FORGET_EVERY_MS;
      if ((await store.loseWorkers(clock.now())).length > 0 || isTimeToForget) told = false;
      // All of them, each of which is told once: whoever called one lost may have died before it was told.
      if (!told) {
        const lost = (await store.workers({ limit: MOST_TOLD })).filter(({ state }) => state === "lost");
        if (lost.length > 0) await raise(lost.map(workerLost));
        told = true;
      }
      if (!isTimeToForget) return;
      forgotten = clock.monotonic();
      await store.forgetWorkers(clock.now() - REMEMBERED_MS);
    },
  };
}
