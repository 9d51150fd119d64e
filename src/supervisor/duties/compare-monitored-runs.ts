import { isOrbError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { compareRun, type CompareDeps } from "../../orchestrator/jobs/compare-run.ts";
import type { MonitorRun } from "../../store/ports/monitors/monitor-port.ts";
import type { Duty } from "../duties.ts";

/** Runs per look. */
const RUNS = 10;
/** So often a run is tried before its pages are dropped. */
const TRIES = 5;
/** Doubled with each try. */
const FIRST_WAIT_MS = 10_000;
/** Failing runs that are remembered; the oldest are tried again at once. */
const MAX_FAILING = 1000;

/** Compares the pages of ended runs of monitors with their last good states. A run that fails does not stop the others. */
export function compareMonitoredRuns(deps: CompareDeps & { log: Log }): Duty {
  const failing = new Map<string, { tries: number; nextAt: number }>();

  async function compare(run: MonitorRun, signal: AbortSignal): Promise<void> {
    const alert = await compareRun(deps, run, signal);
    if (alert !== null)
      deps.log.info(`alert: ${alert.message}`, { alert: alert.id, kind: alert.kind, subject: alert.subject });
  }

  function failed({ runId }: MonitorRun, error: unknown): void {
    const tries = (failing.get(runId)?.tries ?? 0) + 1;
    failing.delete(runId);
    failing.set(runId, { tries, nextAt: deps.clock.monotonic() + FIRST_WAIT_MS * 2 ** (tries - 1) });
    for (const oldest of failing.keys()) if (failing.size > MAX_FAILING) failing.delete(oldest);
    const fields = { run: runId, tries, error: messageOf(error) };
    deps.log.warn("the pages of a monitor's run cannot be compared; trying again later", fields);
  }

  return {
    name: "compare the pages of monitors",
    everyMs: 1000,
    looksFirst: true,
    follows: true,
    async run(signal, due) {
      if (due?.monitors === false) return;
      const runs = await deps.store.monitorsDue(RUNS + failing.size);
      for (const run of runs) {
        if (signal.aborted) return;
        const { tries, nextAt } = failing.get(run.runId) ?? { tries: 0, nextAt: Number.NEGATIVE_INFINITY };
        if (deps.clock.monotonic() < nextAt) continue;
        const drop = run.drop || tries >= TRIES;
        try {
          await compare({ ...run, drop }, signal);
        } catch (error) {
          if (signal.aborted || isOrbError(error, "database_unavailable")) throw error;
          failed(run, error);
          continue;
        }
        if (drop && !run.drop)
          deps.log.warn(
            "the pages of a monitor's run were not compared; the next run is compared with the last good one",
            {
              run: run.runId,
              tries,
            },
          );
        failing.delete(run.runId);
      }
    },
  };
}
