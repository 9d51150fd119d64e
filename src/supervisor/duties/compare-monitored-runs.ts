import type { Log } from "../../base/log.ts";
import { compareRun, type CompareDeps } from "../../orchestrator/jobs/compare-run.ts";
import type { Duty } from "../duties.ts";

/** Runs per look. */
const RUNS = 10;

/** Compares the pages of ended runs of monitors with their last good states. */
export function compareMonitoredRuns(deps: CompareDeps & { log: Log }): Duty {
  return {
    name: "compare the pages of monitors",
    everyMs: 1000,
    looksFirst: true,
    async run(signal, due) {
      if (due?.monitors === false) return;
      for (const run of await deps.store.monitorsDue(RUNS)) {
        if (signal.aborted) return;
        const alert = await compareRun(deps, run, signal);
        if (alert !== null)
          deps.log.info(`alert: ${alert.message}`, { alert: alert.id, kind: alert.kind, subject: alert.subject });
      }
    },
  };
}
