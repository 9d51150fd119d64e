import assert from "node:assert/strict";
import type { Store } from "../../src/store/ports/port.ts";
import type { ScheduleOccurrence } from "../../src/store/ports/schedule-port.ts";
import { until } from "./orb.ts";

export const SECOND = 1000;

/** What the store says of the job's times, oldest first. */
export async function slotsOf(store: Store, jobId: string): Promise<ScheduleOccurrence[]> {
  return (await store.scheduleOccurrences(jobId, { limit: 1000 })).toReversed();
}

/** As many more times as that have had their run. */
export async function started(store: Store, jobId: string, more: number): Promise<void> {
  const count = async () => (await store.occurrenceCounts([jobId])).get(jobId)?.started ?? 0;
  const before = await count();
  await until(async () => (await count()) >= before + more, `${more} more times have their run`);
}

/** Every second from the first to the last is in exactly one record, and every run belongs to one of them. */
export async function assertAccounted(store: Store, jobId: string): Promise<Record<string, number>> {
  const slots = await slotsOf(store, jobId);
  for (const [index, slot] of slots.entries()) {
    assert.equal(slot.count, (slot.until - slot.at) / SECOND + 1, JSON.stringify(slot));
    const next = slots[index + 1];
    if (next !== undefined)
      assert.equal(next.at, slot.until + SECOND, `${JSON.stringify(slot)} → ${JSON.stringify(next)}`);
  }
  const own = slots.flatMap(({ outcome, runId }) => (outcome === "started" ? [runId] : []));
  const runs = (await store.runs({ jobId, limit: 1000 })).map(({ id }) => id);
  assert.deepEqual(own.toSorted(), runs.toSorted(), "each time has at most one run, and each run its time");
  return (await store.occurrenceCounts([jobId])).get(jobId) as Record<string, number>;
}
