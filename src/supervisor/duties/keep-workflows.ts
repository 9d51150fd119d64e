import { LONGEST_STEP_MS } from "../../domain/run/running-time.ts";
import type { OrchestratorDeps } from "../../orchestrator/deps.ts";
import type { Duty } from "../duties.ts";

const AT_ONCE = 100;

/** Executes recovery requests, and wakes sleeping steps that are due. */
export function keepWorkflows({ store, clock, wake }: OrchestratorDeps): Duty {
  let countedAt: number | null = null;
  return {
    name: "start recoveries of workflows and wake steps whose wait is over",
    everyMs: 500,
    looksFirst: true,
    async run(signal, due) {
      const monotonic = clock.monotonic();
      const elapsed = countedAt === null ? 0 : Math.min(LONGEST_STEP_MS, monotonic - countedAt);
      countedAt = monotonic;
      if (due?.sleepingSteps !== false) {
        const woken = await store.passStepTime(elapsed, clock.now());
        if (woken.length > 0) await wake(woken);
      }
      const stuck = new Set<string>();
      for (let more = due?.recoveries !== false; more && !signal.aborted;) {
        const taken = await store.takeUpRecoveries(AT_ONCE, clock.now());
        if (taken.lanes.length > 0) await wake(taken.lanes);
        more = taken.more;
        for (const recovery of taken.stuck ?? []) stuck.add(recovery);
      }
      if (stuck.size > 0) throw new Error(`recoveries that cannot start: ${[...stuck].join("; ")}`);
    },
  };
}
