import { LONGEST_STEP_MS } from "../../domain/run/running-time.ts";
import { admitCrawls } from "../../orchestrator/crawls/turns.ts";
import type { CrawlDeps } from "../../orchestrator/jobs/deps.ts";
import { dropWork } from "../../orchestrator/runs/control.ts";
import type { Duty } from "../duties.ts";

const AT_ONCE = 100;
/** Each pass writes, so crawls may end this much late. */
const STEP_MS = 1000;

/** Ends crawls whose time limit has passed, and starts queued ones while the limit allows. */
export function keepCrawls(deps: CrawlDeps): Duty {
  const { store, clock } = deps;
  let countedAt: number | null = null;
  return {
    name: "end crawls at their time limit and start waiting ones",
    everyMs: 500,
    looksFirst: true,
    async run(_signal, due) {
      const monotonic = clock.monotonic();
      if (due?.timedRuns === false) countedAt = monotonic;
      else if (countedAt === null || monotonic - countedAt >= STEP_MS) {
        const elapsed = countedAt === null ? 0 : Math.min(LONGEST_STEP_MS, monotonic - countedAt);
        countedAt = monotonic;
        await passTime(elapsed);
      }
      if (due?.waitingCrawls !== false) await admitCrawls(deps);
    },
  };

  async function passTime(elapsedMs: number): Promise<void> {
    for (const id of await store.passTime(elapsedMs, clock.now(), AT_ONCE)) {
      await store.endByTime(id, clock.now());
      await dropWork(deps, [id]);
    }
  }
}
