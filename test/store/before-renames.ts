/** A database of the version before the renames, with rows in every table, and what must be true of it after the upgrade. */
import assert from "node:assert/strict";
import type { NewRun, Store } from "../../src/store/ports/port.ts";
import { newJob } from "../contract/store/jobs.ts";
import { newTask, refused } from "../contract/store/kit.ts";

/** Tables by their names of today. Columns have kept their order. */
export const OLD_TABLES: Readonly<Record<string, string>> = {
  idempotency_keys: "answers",
  schedule_occurrences: "slots",
  schedule_outcome_counts: "slot_counts",
  orphaned_files: "loose_files",
  page_aliases: "aliases",
  crawl_throughput: "crawl_pace",
  budget_permits: "loans",
  step_timers: "step_time",
};

export const oldName = (table: string) => OLD_TABLES[table] ?? table;

/** By an owner that `fillDatabase` has let in. */
export const OLD_PERMITS = "INSERT INTO loans VALUES ('resolver:1', 'A', 1), ('wish:resolver:1', 'A', 2)";
export const PERMITS = [
  ["resolver:1", "A", 1],
  ["waiting:resolver:1", "A", 2],
];

/** Answers were stored with the names that records had. */
export const OLD_ANSWERS = `UPDATE answers SET answer = replace(answer, '"nextOccurrenceAt":', '"nextSlot":')`;
/** Their rows are not the same to the letter. */
export const CHANGED_TABLES = ["budget_permits", "idempotency_keys"];

/** Tables that came later: a database of that version has no rows for them. */
export const LATER_TABLES = [
  ...["api_keys", "audit_log", "notification_channels", "notices", "notification_deliveries"],
  ...["run_health", "fixtures", "job_versions", "run_pages", "repairs"],
  ...["monitors", "monitor_states", "monitor_pages", "monitor_changes", "monitor_files", "tracked_pages"],
];
/** Rows and columns that came later, as an upgrade makes them. */
export const LATER_ROWS = "DELETE FROM meta WHERE name = 'degraded_runs'";
export const LATER_VALUES =
  "UPDATE runs SET health_generation = generation, monitor_due = 0 WHERE finished_at IS NOT NULL";

/** `size`: as it was filled with, at `now`. */
export async function expectUpgraded(store: Store, size: number, now: number): Promise<void> {
  assert.deepEqual((await store.audit()).findings, []);
  await keysStillAnswer(store, now);
  const { orphaned } = await store.orphanedFiles({ limit: 1000 });
  assert.equal(orphaned.length, size);
  await store.forgetOrphanedFiles(orphaned);
  assert.deepEqual((await store.orphanedFiles({ limit: 1000 })).orphaned, []);
  await occurrencesAreNotRepeated(store, now);
  assert.deepEqual((await store.audit()).findings, []);
}

async function keysStillAnswer(store: Store, now: number): Promise<void> {
  const once = { key: "key 0", fingerprint: "same" };
  const again = await store.createJob(newJob("another name"), now, once);
  assert.deepEqual([again.replayed, again.created.name], [true, "job 0"]);
  assert.equal(again.created.nextOccurrenceAt, (await store.job(again.created.id))?.nextOccurrenceAt);
  assert.ok(!("nextSlot" in again.created));
  await refused("idempotency_conflict", store.createJob(newJob("x"), now, { ...once, fingerprint: "other" }));
  const run: NewRun = { kind: "crawl", maxAttempts: 3, snapshot: {} };
  const started = await store.startRun(run, [newTask("x")], now, { key: "once", fingerprint: "same" });
  assert.equal(started.replayed, true);
}

/** Also when the clock is set back to a time that has had its turn. */
async function occurrencesAreNotRepeated(store: Store, now: number): Promise<void> {
  const job = (await store.jobs({ limit: 1000 })).find(({ name }) => name === "saved");
  assert.ok(job !== undefined);
  const before = await store.scheduleOccurrences(job.id, { limit: 10 });
  assert.deepEqual(
    before.map(({ at, outcome }) => [at, outcome]),
    [[now, "missed"]],
  );
  await store.updateJob(job.id, { nextAt: now, nextOccurrenceAt: now }, now);
  const run: NewRun = { kind: "crawl", maxAttempts: 3, snapshot: {}, jobId: job.id };
  const due = { jobId: job.id, at: now, next: null, overlap: "skip" } as const;
  assert.deepEqual(await store.startOccurrence(run, [newTask("page")], due, now), { kind: "gone" });
  assert.deepEqual(await store.scheduleOccurrences(job.id, { limit: 10 }), before);
  assert.equal((await store.occurrenceCounts([job.id])).get(job.id)?.missed, 1);
}
