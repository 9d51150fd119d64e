import type { Clock } from "../../base/clock.ts";
import type { Store } from "../../store/ports/port.ts";
import { type Raise, workerLost } from "../alerts.ts";
import type { Duty } from "../duties.ts";

/** How long rows of stopped and lost workers are kept. */
const REMEMBERED_MS = 24 * 3600_000;
const FORGET_EVERY_MS = 10 * 60_000;
const MAX_REPORTED = 1000;

/** Marks workers without heartbeats as lost, and raises an alert. */
export function loseWorkers({ store, clock, raise }: { store: Store; clock: Clock; raise: Raise }): Duty {
  let reported = false;
  let forgotten = Number.NEGATIVE_INFINITY;
  return {
    name: "detect lost workers",
    everyMs: 2000,
    async run() {
      const isTimeToForget = clock.monotonic() - forgotten >= FORGET_EVERY_MS;
      if ((await store.loseWorkers(clock.now())).length > 0 || isTimeToForget) reported = false;
      // Reports all lost workers, each once: the process that marked one may have died before the alert.
      if (!reported) {
        const lost = (await store.workers({ limit: MAX_REPORTED })).filter(({ state }) => state === "lost");
        if (lost.length > 0) await raise(lost.map(workerLost));
        reported = true;
      }
      if (!isTimeToForget) return;
      forgotten = clock.monotonic();
      await store.forgetWorkers(clock.now() - REMEMBERED_MS);
    },
  };
}
