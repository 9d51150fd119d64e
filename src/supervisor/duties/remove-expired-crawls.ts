import { type Clock, sleep } from "../../base/clock.ts";
import type { Store } from "../../store/port.ts";
import type { Duty } from "../duties.ts";

const AT_ONCE = 100;
/** Rows of one transaction, and the rest after it: other writers have the database in between. */
const CHUNK = 500;
const REST_MS = 20;

/**
 * Crawls without a job, or whose job is gone, are removed some time after their end. What was hidden by that, or deleted by
 * somebody, is removed here; so is what an interrupted removal has left.
 */
export function removeExpiredCrawls(deps: { store: Store; clock: Clock; crawlsKeptMs: number }): Duty {
  const { store, clock, crawlsKeptMs } = deps;
  return {
    name: "remove crawls that were kept long enough, and what was deleted",
    everyMs: 60_000,
    async run(signal) {
      const now = clock.now();
      while (!signal.aborted && (await store.expireCrawls(now - crawlsKeptMs, AT_ONCE, now)) === AT_ONCE);
      while (!signal.aborted && (await store.removeExpired(CHUNK)) > 0) await sleep(clock, REST_MS, signal);
    },
  };
}
