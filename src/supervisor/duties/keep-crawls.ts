import { admitCrawls } from "../../orchestrator/crawls/start.ts";
import type { CrawlDeps } from "../../orchestrator/jobs/deps.ts";
import type { Duty } from "../duties.ts";

const AT_ONCE = 100;
const CHUNK = 1000;

/** Crawls whose time is over end with what they have, and those that wait begin when there is room. */
export function keepCrawls(deps: CrawlDeps): Duty {
  const { store, clock } = deps;
  return {
    name: "end crawls whose time is over, and let others begin",
    everyMs: 500,
    async run() {
      for (const id of await store.overdueRuns(clock.now(), AT_ONCE)) {
        await store.endByTime(id, clock.now());
        await deps.wake(null);
        while ((await store.sweepEnded(CHUNK, clock.now(), id)) === CHUNK);
      }
      await admitCrawls(deps);
    },
  };
}
