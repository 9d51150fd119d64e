import type { OrchestratorDeps } from "../../orchestrator/deps.ts";
import type { Duty } from "../duties.ts";

const AT_ONCE = 100;

/** Workflows that are to be recovered go on from where they failed. */
export function keepWorkflows({ store, clock, wake }: OrchestratorDeps): Duty {
  return {
    name: "take up workflows that are to be recovered",
    everyMs: 500,
    async run(signal) {
      for (let more = true; more && !signal.aborted;) {
        const taken = await store.takeUpRecoveries(AT_ONCE, clock.now());
        if (taken.lanes.length > 0) await wake(taken.lanes);
        more = taken.more;
      }
    },
  };
}
