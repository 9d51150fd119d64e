import assert from "node:assert/strict";
import type { NewRun, Store } from "../../../src/store/ports/port.ts";
import { MOST_QUEUED, type DueOccurrence } from "../../../src/store/ports/schedule-port.ts";
import { missedAt, newJob, timeAt } from "./jobs.ts";
import { DONE, type Kit, LANE, newTask, NOBODY, refused, type Scenario } from "./kit.ts";
import { newWorkflow } from "./workflow-kit.ts";

const MINUTE = 60_000;

/** A job that is due now, and the hands to start it. */
async function dueJob(kit: Kit, overlap: DueOccurrence["overlap"]) {
  const { created: job } = await kit.store.createJob(newJob("due", { nextAt: kit.now }), kit.now);
  const run: NewRun = { kind: "page", jobId: job.id, maxAttempts: 3, snapshot: null };
  const occurrence: DueOccurrence = { jobId: job.id, at: kit.now, next: timeAt(kit.now + MINUTE), overlap };
  return {
    job,
    occurrence,
    run,
    start: (store: Store = kit.store, at: DueOccurrence = occurrence) =>
      store.startOccurrence(run, [newTask("page")], at, kit.now),
    next: async () => (await kit.store.job(job.id))?.nextAt,
    states: async () => (await kit.store.runs({ jobId: job.id, limit: 100 })).map(({ status }) => status),
    /** A run that was started before, by hand. */
    byHand: async () => (await kit.store.startRun(run, [newTask("page")], kit.now)).created,
  };
}

export function scheduleOccurrenceScenarios(scenario: Scenario): void {
  scenario("an occurrence starts one run and is passed, from every connection [slow]", async (kit) => {
    for (const overlap of ["skip", "queue", "cancel"] as const) {
      const due = await dueJob(kit, overlap);
      const other = await kit.open();
      const starts = await Promise.all([due.start(), due.start(other), due.start()]);
      const started = starts.filter((start) => start.kind === "started");
      assert.deepEqual(
        started.map(({ created, lanes, cancelled }) => [created.jobId, lanes, cancelled]),
        [[due.job.id, [LANE], []]],
      );
      assert.equal(starts.filter(({ kind }) => kind === "gone").length, 2);
      assert.deepEqual([await due.states(), await due.next()], [["queued"], due.occurrence.next!.scheduledAt]);
    }
  });

  scenario("it is known when the next job is due", async (kit) => {
    assert.equal(await kit.store.nextDueAt(), null);
    const due = await dueJob(kit, "skip");
    await kit.store.createJob(newJob("later", { nextAt: kit.now + 2 * MINUTE }), kit.now);
    assert.equal(await kit.store.nextDueAt(), kit.now);
    await due.start();
    assert.equal(await (await kit.open()).nextDueAt(), kit.now + MINUTE);
    await kit.store.skipOccurrences(due.job.id, missedAt(kit.now + MINUTE), null, kit.now);
    assert.equal(await kit.store.nextDueAt(), kit.now + 2 * MINUTE);
  });

  scenario("a run that is not at its end is left alone, joined or replaced, as the occurrence says", async (kit) => {
    for (const overlap of ["skip", "queue", "cancel"] as const) {
      const due = await dueJob(kit, overlap);
      const before = await due.byHand();
      const start = await due.start();
      assert.equal(await due.next(), due.occurrence.next!.scheduledAt);
      if (overlap === "skip") {
        assert.deepEqual(start, { kind: "blocked", by: { id: before.id, status: "queued" }, waiting: false });
        assert.deepEqual(await due.states(), ["queued"]);
      } else {
        assert.deepEqual(start.kind === "started" && start.cancelled, overlap === "queue" ? [] : [before.id]);
        assert.deepEqual(await due.states(), ["queued", overlap === "queue" ? "queued" : "cancelled"]);
      }
      if (overlap === "cancel") assert.match((await kit.ends(before)).join(), /^Run cancelled/);
    }
    await kit.store.sweepEnded(100, kit.now);
  });

  scenario("runs that have ended and those of other jobs are in nobody's way", async (kit) => {
    const due = await dueJob(kit, "skip");
    await due.byHand();
    await kit.work(await kit.take("A"), DONE);
    const other = await dueJob(kit, "cancel");
    await other.byHand();
    assert.equal((await due.start()).kind, "started");
    assert.deepEqual(await due.states(), ["queued", "completed"]);
    assert.deepEqual(await other.states(), ["queued"]);
  });

  scenario(
    "a workflow that was never started keeps no occurrence from its run, and is not cancelled for it",
    async (kit) => {
      for (const overlap of ["skip", "cancel"] as const) {
        const due = await dueJob(kit, overlap);
        await newWorkflow(kit, { a: [] }, { start: false }, { jobId: due.job.id });
        const start = await due.start();
        assert.deepEqual(start.kind === "started" && start.cancelled, []);
        assert.deepEqual(await due.states(), ["queued", "queued"]);
      }
    },
  );

  scenario(
    "an occurrence that is not the job's next one starts nothing, and neither does one of a deleted job",
    async (kit) => {
      const due = await dueJob(kit, "cancel");
      const before = await due.byHand();
      assert.deepEqual(await due.start(kit.store, { ...due.occurrence, at: kit.now - 1 }), { kind: "gone" });
      assert.deepEqual([await due.states(), await due.next()], [["queued"], kit.now]);
      await kit.store.changeRun(before.id, "cancelled", "Run cancelled", kit.now);
      await kit.store.sweepEnded(100, kit.now);
      await kit.store.deleteJob(due.job.id, kit.now);
      assert.deepEqual(await due.start(), { kind: "gone" });
      assert.deepEqual(await due.states(), ["cancelled"]);
    },
  );

  scenario(
    "an occurrence that comes a second time, because the clock was set back, leaves its run alone",
    async (kit) => {
      const due = await dueJob(kit, "cancel");
      await due.start();
      await kit.store.updateJob(
        due.job.id,
        { nextAt: due.occurrence.at, nextOccurrenceAt: due.occurrence.at },
        kit.now,
      );
      assert.deepEqual(await due.start(), { kind: "gone" });
      assert.deepEqual([await due.states(), await due.next()], [["queued"], due.occurrence.next!.scheduledAt]);
    },
  );

  scenario("an occurrence whose run cannot be written is not passed", async (kit) => {
    const due = await dueJob(kit, "cancel");
    const before = await due.byHand();
    const wrong = newTask("wrong", { key: undefined as unknown as string });
    await assert.rejects(kit.store.startOccurrence(due.run, [wrong], due.occurrence, kit.now));
    assert.deepEqual([await due.states(), await due.next()], [["queued"], due.occurrence.at]);
    assert.equal(await kit.status(before), "queued");
    assert.equal((await due.start()).kind, "started");
    await kit.store.sweepEnded(100, kit.now);
  });

  scenario("what became of each time is told, newest first, and counted", async (kit) => {
    const due = await dueJob(kit, "skip");
    await due.start();
    const [run] = await kit.store.runs({ jobId: due.job.id, limit: 1 });
    const second = { ...due.occurrence, at: due.occurrence.next!.scheduledAt, next: timeAt(kit.now + 60 * MINUTE) };
    assert.equal((await due.start(kit.store, second)).kind, "blocked");
    const missed = missedAt(kit.now + 60 * MINUTE, kit.now + 62 * MINUTE, 3);
    const third = {
      ...due.occurrence,
      missed,
      at: kit.now + 63 * MINUTE,
      next: timeAt(kit.now + 64 * MINUTE),
      overlap: "cancel",
    };
    const started = await due.start(kit.store, third as DueOccurrence);
    const unfit = { ...missedAt(kit.now + 64 * MINUTE), outcome: "refused", message: "gone" } as const;
    assert.equal(await kit.store.skipOccurrences(due.job.id, unfit, null, kit.now), true);
    const told = await kit.store.scheduleOccurrences(due.job.id, { limit: 10 });
    assert.deepEqual(
      told.map(({ at, until, count, outcome, runId }) => [
        (at - kit.now) / MINUTE,
        (until - kit.now) / MINUTE,
        count,
        outcome,
        runId,
      ]),
      [
        [64, 64, 1, "refused", null],
        [63, 63, 1, "started", started.kind === "started" && started.created.id],
        [60, 62, 3, "missed", null],
        [1, 1, 1, "skipped", run!.id],
        [0, 0, 1, "started", run!.id],
      ],
    );
    assert.deepEqual(
      (await kit.store.scheduleOccurrences(due.job.id, { limit: 2, after: told[1]!.at })).map(({ outcome }) => outcome),
      ["missed", "skipped"],
    );
    assert.equal((await kit.store.scheduleOccurrences(due.job.id, { outcome: "missed", limit: 10 })).length, 1);
    const counts = await kit.store.occurrenceCounts([due.job.id, NOBODY]);
    assert.deepEqual(counts.get(due.job.id), { started: 2, missed: 3, skipped: 1, refused: 1 });
    await kit.store.sweepEnded(100, kit.now);
  });

  scenario(
    "runs that are queued wait for the one before, one after the other, and not too many of them",
    async (kit) => {
      const due = await dueJob(kit, "queue");
      const nth = (n: number): DueOccurrence => {
        const at = due.occurrence.at + n * MINUTE;
        return { ...due.occurrence, at, next: timeAt(at + MINUTE) };
      };
      for (let n = 0; n <= MOST_QUEUED; n += 1) assert.equal((await due.start(kit.store, nth(n))).kind, "started");
      const start = await due.start(kit.store, nth(MOST_QUEUED + 1));
      assert.deepEqual([start.kind, start.kind === "blocked" && start.waiting], ["blocked", true]);
      const runs = (await kit.store.runs({ jobId: due.job.id, limit: 100 })).toReversed();
      assert.deepEqual(
        runs.map(({ hold }) => hold?.reason ?? null),
        [null, ...runs.slice(1).map(() => "previous_run")],
      );
      assert.deepEqual(await kit.store.runsInTurn(10), []);
      const hold = await kit.take("A");
      const { tasks } = await kit.claim(hold);
      assert.deepEqual(
        tasks.map(({ runId }) => runId),
        [runs[0]!.id],
      );
      await kit.settle(hold, tasks, DONE);
      assert.deepEqual(await kit.store.runsInTurn(10), [runs[1]!.id]);
      const event = { level: "info", message: "The run before it has ended" } as const;
      await kit.store.releaseRuns([runs[1]!.id], "previous_run", event, kit.now);
      assert.deepEqual(await kit.store.runsInTurn(10), []);
      assert.deepEqual(
        (await kit.claim(hold)).tasks.map(({ runId }) => runId),
        [runs[1]!.id],
      );
    },
  );

  scenario("a schedule that is paused starts nothing, whatever else is changed, until it is resumed", async (kit) => {
    const due = await dueJob(kit, "skip");
    await kit.store.updateJob(due.job.id, { schedulePausedAt: kit.now }, kit.now);
    await kit.store.updateJob(due.job.id, { nextAt: kit.now, nextOccurrenceAt: kit.now, name: "other" }, kit.now);
    assert.deepEqual(await kit.store.dueJobs(kit.now, 10), []);
    assert.deepEqual(await due.start(), { kind: "gone" });
    await kit.store.updateJob(
      due.job.id,
      { schedulePausedAt: null, nextAt: kit.now, nextOccurrenceAt: kit.now },
      kit.now,
    );
    assert.equal((await due.start()).kind, "started");
  });

  scenario("the last thousand times of a job are kept, and go with the job [slow]", async (kit) => {
    const { created: job } = await kit.store.createJob(newJob("busy", { nextAt: kit.now }), kit.now);
    for (let n = 0; n < 1005; n += 1)
      await kit.store.skipOccurrences(job.id, missedAt(kit.now + n), timeAt(kit.now + n + 1), kit.now);
    const kept = await kit.store.scheduleOccurrences(job.id, { limit: 2000 });
    assert.deepEqual([kept.length, kept.at(-1)?.at], [1000, kit.now + 5]);
    assert.equal((await kit.store.occurrenceCounts([job.id])).get(job.id)?.missed, 1005);
    const totals = await kit.store.occurrenceTotals();
    assert.equal(totals.missed, 1005);
    await kit.store.deleteJob(job.id, kit.now);
    await refused("not_found", kit.store.scheduleOccurrences(job.id, { limit: 1 }));
    assert.deepEqual(await kit.store.occurrenceTotals(), totals, "what was counted stays counted");
    const { created: next } = await kit.store.createJob(newJob("next", { nextAt: kit.now }), kit.now);
    await kit.store.skipOccurrences(next.id, missedAt(kit.now), null, kit.now);
    await kit.store.deleteJob(next.id, kit.now);
    assert.deepEqual(await kit.store.occurrenceTotals(), { ...totals, missed: 1006 });
  });
}
