import type { Log } from "../../base/log.ts";
import { considerRepair } from "../../orchestrator/jobs/repair.ts";
import type { FixtureDeps } from "../../orchestrator/jobs/fixtures.ts";
import type { Duty } from "../duties.ts";

/** Runs per look: each takes seconds. */
const RUNS = 5;

/**
 * Proposes new rules for jobs whose newest run is degraded. Each run is considered once, and the result is one
 * transaction.
 */
export function repairDegradedRuns(deps: FixtureDeps & { log: Log; deliver: boolean }): Duty {
  return {
    name: "repair the rules of degraded runs",
    everyMs: 1000,
    looksFirst: true,
    follows: true,
    async run(signal, due) {
      if (due?.repairs === false) return;
      for (const run of await deps.store.repairsDue(RUNS)) {
        if (signal.aborted) return;
        const alert = await considerRepair(deps, run, deps, signal);
        if (alert !== null)
          deps.log.info(`alert: ${alert.message}`, { alert: alert.id, kind: alert.kind, subject: alert.subject });
      }
    },
  };
}
