import { type Clock, sleep } from "../../base/clock.ts";
import type { Store } from "../../store/ports/port.ts";
import type { Duty } from "../duties.ts";

/** Tasks per transaction: other writers get the database in between. */
const CHUNK = 1000;
const REST_MS = 5;

/** Ends the waiting tasks of ended runs: the process that ends a run does not wait for that, and may die before. */
export function sweepEndedRuns({ store, clock }: { store: Store; clock: Clock }): Duty {
  return {
    name: "end waiting tasks of ended runs",
    everyMs: 1000,
    looksFirst: true,
    async run(signal, due) {
      if (due?.endedRuns === false) return;
      while (!signal.aborted && (await store.sweepEnded(CHUNK, clock.now())) === CHUNK)
        await sleep(clock, REST_MS, signal);
    },
  };
}
