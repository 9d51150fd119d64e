import assert from "node:assert/strict";
import type { Slot } from "../../../src/store/job-records.ts";
import type { NewRun, Store } from "../../../src/store/port.ts";
import { newJob } from "./jobs.ts";
import { DONE, type Kit, LANE, newTask, type Scenario } from "./kit.ts";
import { newWorkflow } from "./workflow-kit.ts";

const MINUTE = 60_000;

/** A job that is due now, and the hands to start it. */
async function dueJob(kit: Kit, overlap: Slot["overlap"]) {
  const { made: job } = await kit.store.createJob(newJob("due", { nextAt: kit.now }), kit.now);
  const run: NewRun = { kind: "page", jobId: job.id, maxAttempts: 3, snapshot: null };
  const slot: Slot = { jobId: job.id, at: kit.now, next: kit.now + MINUTE, overlap };
  return {
    job,
    slot,
    run,
    start: (store: Store = kit.store, at: Slot = slot) => store.startSlot(run, [newTask("page")], at, kit.now),
    next: async () => (await kit.store.job(job.id))?.nextAt,
    states: async () => (await kit.store.runs({ jobId: job.id, limit: 100 })).map(({ status }) => status),
    /** A run that was started before, by hand. */
    byHand: async () => (await kit.store.startRun(run, [newTask("page")], kit.now)).made,
  };
}

export function slotScenarios(scenario: Scenario): void {
  scenario("a slot starts one run and is passed, from every connection", async (kit) => {
    for (const overlap of ["skip", "queue", "cancel"] as const) {
      const due = await dueJob(kit, overlap);
      const other = await kit.open();
      const starts = await Promise.all([due.start(), due.start(other), due.start()]);
      const started = starts.filter((start) => start.kind === "started");
      assert.deepEqual(
        started.map(({ made, lanes, cancelled }) => [made.jobId, lanes, cancelled]),
        [[due.job.id, [LANE], []]],
      );
      assert.equal(starts.filter(({ kind }) => kind === "gone").length, 2);
      assert.deepEqual([await due.states(), await due.next()], [["queued"], due.slot.next]);
    }
  });

  scenario("a run that is not at its end is left alone, joined or replaced, as the slot says", async (kit) => {
    for (const overlap of ["skip", "queue", "cancel"] as const) {
      const due = await dueJob(kit, overlap);
      const before = await due.byHand();
      const start = await due.start();
      assert.equal(await due.next(), due.slot.next);
      if (overlap === "skip") {
        assert.deepEqual(start, { kind: "blocked", by: { id: before.id, status: "queued" } });
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

  scenario("a workflow that was never started keeps no slot from its run, and is not cancelled for it", async (kit) => {
    for (const overlap of ["skip", "cancel"] as const) {
      const due = await dueJob(kit, overlap);
      await newWorkflow(kit, { a: [] }, { start: false }, { jobId: due.job.id });
      const start = await due.start();
      assert.deepEqual(start.kind === "started" && start.cancelled, []);
      assert.deepEqual(await due.states(), ["queued", "queued"]);
    }
  });

  scenario(
    "a slot that is not the job's next one starts nothing, and neither does one of a deleted job",
    async (kit) => {
      const due = await dueJob(kit, "cancel");
      const before = await due.byHand();
      assert.deepEqual(await due.start(kit.store, { ...due.slot, at: kit.now - 1 }), { kind: "gone" });
      assert.deepEqual([await due.states(), await due.next()], [["queued"], kit.now]);
      await kit.store.changeRun(before.id, "cancelled", "Run cancelled", kit.now);
      await kit.store.sweepEnded(100, kit.now);
      await kit.store.deleteJob(due.job.id, kit.now);
      assert.deepEqual(await due.start(), { kind: "gone" });
      assert.deepEqual(await due.states(), ["cancelled"]);
    },
  );

  scenario("a slot that comes a second time, because the clock was set back, leaves its run alone", async (kit) => {
    const due = await dueJob(kit, "cancel");
    await due.start();
    await kit.store.updateJob(due.job.id, { nextAt: due.slot.at }, kit.now);
    assert.deepEqual(await due.start(), { kind: "gone" });
    assert.deepEqual([await due.states(), await due.next()], [["queued"], due.slot.next]);
  });

  scenario("a slot whose run cannot be written is not passed", async (kit) => {
    const due = await dueJob(kit, "cancel");
    const before = await due.byHand();
    const wrong = newTask("wrong", { key: undefined as unknown as string });
    await assert.rejects(kit.store.startSlot(due.run, [wrong], due.slot, kit.now));
    assert.deepEqual([await due.states(), await due.next()], [["queued"], due.slot.at]);
    assert.equal(await kit.status(before), "queued");
    assert.equal((await due.start()).kind, "started");
    await kit.store.sweepEnded(100, kit.now);
  });
}
