import assert from "node:assert/strict";
import type { Store } from "../../src/store/ports/port.ts";
import type { ScheduleOccurrence } from "../../src/store/ports/schedule-port.ts";
import { until } from "./orb.ts";

export const SECOND = 1000;

/** The occurrences of a job, oldest first. */
export async function occurrencesOf(store: Store, jobId: string): Promise<ScheduleOccurrence[]> {
  return (await store.scheduleOccurrences(jobId, { limit: 1000 })).toReversed();
}

/** Waits for `more` further occurrences to start their run. */
export async function untilStarted(store: Store, jobId: string, more: number): Promise<void> {
  const count = async () => (await store.occurrenceCounts([jobId])).get(jobId)?.started ?? 0;
  const before = await count();
  await until(async () => (await count()) >= before + more, `${more} more times have their run`);
}

/** Every second from the first to the last is in exactly one occurrence record, and every run belongs to one. */
export async function assertAccounted(store: Store, jobId: string): Promise<Record<string, number>> {
  const occurrences = await occurrencesOf(store, jobId);
  for (const [index, occurrence] of occurrences.entries()) {
    assert.equal(occurrence.count, (occurrence.until - occurrence.at) / SECOND + 1, JSON.stringify(occurrence));
    const next = occurrences[index + 1];
    if (next !== undefined)
      assert.equal(next.at, occurrence.until + SECOND, `${JSON.stringify(occurrence)} → ${JSON.stringify(next)}`);
  }
  const startedRuns = occurrences.flatMap(({ outcome, runId }) => (outcome === "started" ? [runId] : []));
  const runs = (await store.runs({ jobId, limit: 1000 })).map(({ id }) => id);
  assert.deepEqual(startedRuns.toSorted(), runs.toSorted(), "each time has at most one run, and each run its time");
  return (await store.occurrenceCounts([jobId])).get(jobId) as Record<string, number>;
}
