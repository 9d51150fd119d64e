import type { Clock } from "../../base/clock.ts";
import type { Store } from "../../store/port.ts";
import { type Raise, workerLost } from "../alerts.ts";
import type { Duty } from "../duties.ts";

/** How long those that stopped or were lost are remembered. */
const REMEMBERED_MS = 24 * 3600_000;
const FORGET_EVERY_MS = 10 * 60_000;

/** Workers that have not been heard of are called lost, and told of. */
export function loseWorkers({ store, clock, raise }: { store: Store; clock: Clock; raise: Raise }): Duty {
  let forgotten = Number.NEGATIVE_INFINITY;
  return {
    name: "look for workers that are lost",
    everyMs: 2000,
    async run() {
      const lost = await store.loseWorkers(clock.now());
      if (lost.length > 0) await raise(lost.map(workerLost));
      if (clock.monotonic() - forgotten < FORGET_EVERY_MS) return;
      forgotten = clock.monotonic();
      await store.forgetWorkers(clock.now() - REMEMBERED_MS);
    },
  };
}
