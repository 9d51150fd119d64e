import { type Clock, sleep } from "../../base/clock.ts";
import type { RetentionRules } from "../../domain/run/retention.ts";
import type { Store } from "../../store/ports/port.ts";
import type { Duty } from "../duties.ts";

const AT_ONCE = 100;
/** Rows per transaction: other writers get the database in between. */
const CHUNK = 500;
const REST_MS = 20;
/** How often all jobs are checked; jobs with a new run are checked every time. */
const ALL_JOBS_MS = 3_600_000;

const DAY_MS = 86_400_000;
/** How long a page that is compared with the last time waits for the next one. */
const TRACKED_DAYS = 90;

/** Deletes expired runs, deleted runs, and the rest of interrupted deletions: hidden at once, then row by row. */
export function removeExpiredRuns(deps: { store: Store; clock: Clock; retention: RetentionRules }): Duty {
  const { store, clock, retention } = deps;
  const { temporaryMs, keepRuns, keepDays } = retention;
  /** The newest run as of the last time, and of the time before. */
  let [seen, seenBefore] = [0, 0];
  let lookedAt = Number.NEGATIVE_INFINITY;

  async function trim(signal: AbortSignal): Promise<void> {
    const [now, isLong] = [clock.now(), clock.monotonic() - lookedAt >= ALL_JOBS_MS];
    // Read first: a run that arrives meanwhile is checked next time.
    const newest = await store.lastRunNumber();
    // Runs that are started at the same time become visible in any order: one may appear below the newest of last time.
    const since = isLong ? 0 : seenBefore;
    for (let after: number | null = 0; after !== null && !signal.aborted;) {
      const trimmed = await store.trimJobs({ defaults: { keepRuns, keepDays }, after, since, limit: AT_ONCE }, now);
      if (!trimmed.isMore) after = trimmed.last;
    }
    if (signal.aborted) return;
    [seen, seenBefore] = [newest, seen];
    if (isLong) lookedAt = clock.monotonic();
  }

  return {
    name: "remove expired and deleted runs",
    everyMs: 60_000,
    async run(signal) {
      const now = clock.now();
      const limits = {
        temporaryBefore: now - temporaryMs,
        endedBefore: keepDays === 0 ? null : now - keepDays * DAY_MS,
      };
      while (!signal.aborted && (await store.advanceDeletions(AT_ONCE, now))) await sleep(clock, REST_MS, signal);
      while (!signal.aborted && (await store.expireRuns(limits, AT_ONCE, now)) === AT_ONCE);
      await trim(signal);
      while (!signal.aborted && (await store.removeExpired(CHUNK)) > 0) await sleep(clock, REST_MS, signal);
      const unread = now - TRACKED_DAYS * DAY_MS;
      while (!signal.aborted && (await store.expireTrackedPages(unread, CHUNK)) > 0)
        await sleep(clock, REST_MS, signal);
    },
  };
}
