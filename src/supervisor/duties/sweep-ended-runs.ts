import type { Clock } from "../../base/clock.ts";
import type { Store } from "../../store/port.ts";
import type { Duty } from "../duties.ts";

const CHUNK = 1000;

/** Whoever cancelled a run may have died before all its waiting tasks were ended. */
export function sweepEndedRuns({ store, clock }: { store: Store; clock: Clock }): Duty {
  return {
    name: "end what ended runs have left waiting",
    everyMs: 10_000,
    async run() {
      while ((await store.sweepEnded(CHUNK, clock.now())) === CHUNK);
    },
  };
}
