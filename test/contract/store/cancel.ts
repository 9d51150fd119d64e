import assert from "node:assert/strict";
import type { RunRecord } from "../../../src/store/ports/port.ts";
import {
  DONE,
  evidence,
  FAILED,
  type Kit,
  LANE,
  newTask,
  NOBODY,
  refused,
  retryAt,
  type Scenario,
  TTL,
} from "./kit.ts";

const OTHER = "site:b.example";

function cancel(kit: Kit, run: RunRecord): Promise<RunRecord> {
  return kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
}

/** Time in which the living engine keeps its lanes and the dead do not come back. */
async function passTime(kit: Kit, engine: string, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += TTL / 2) {
    kit.pass(TTL / 2);
    await kit.store.heartbeat(engine, TTL);
  }
}

export function cancelScenarios(scenario: Scenario): void {
  scenario(
    "what a cancelled run has left is swept in pieces, and what runs is dropped when it comes in",
    async (kit) => {
      const keys = Array.from({ length: 10 }, (_, index) => `k${index}`);
      const run = await kit.runWith([...keys, newTask("far", { lane: OTHER }), newTask("slow", { resolver: "r" })]);
      const lane = await kit.take("A");
      const { tasks } = await kit.claim(lane, 5);
      await kit.settle(lane, tasks.slice(0, 1), DONE);
      await kit.settle(lane, tasks.slice(1, 2), FAILED);
      await kit.settle(lane, tasks.slice(2, 3), retryAt(kit.now + 1000));
      await cancel(kit, run);
      await kit.expectClean();
      assert.deepEqual((await kit.claim(lane)).tasks, []);
      assert.deepEqual(await kit.store.lanesWithWork("A"), []);

      kit.pass(10);
      const swept: number[] = [];
      do {
        swept.push(await kit.store.sweepEnded(4, kit.now));
        await kit.expectClean();
      } while (swept.at(-1) !== 0);
      assert.deepEqual(swept, [4, 4, 0]);
      assert.deepEqual(await kit.counts(run), { running: 2, completed: 1, failed: 1, cancelled: 8 });
      const settled = await kit.settle(lane, tasks.slice(3), DONE);
      const dropped = tasks.slice(3).map(({ row }) => row);
      assert.deepEqual(settled, { lost: [], opened: [], ended: [], dropped });
      assert.deepEqual(await kit.counts(run), { completed: 1, failed: 1, cancelled: 10 });
      assert.equal((await kit.store.overview(run.id, 10)).openStreams, 0);
      assert.equal((await kit.store.taskByKey(run.id, "far"))?.endedAt, kit.now);
      assert.deepEqual((await kit.words(run)).slice(-1), ["Run cancelled"]);
      assert.equal((await kit.ends(run)).length, 1);
      assert.equal(await kit.store.sweepEnded(100, kit.now), 0);
      kit.pass(5000);
      assert.deepEqual((await kit.claim(lane)).tasks, []);
      await refused("illegal_transition", kit.store.retryFailed(run.id, { limit: 10 }, kit.now));
      await refused("illegal_transition", kit.enqueue(run, ["more"]));
    },
  );

  scenario("a sweep takes no more than it was told, over all lanes together", async (kit) => {
    const keys = ["a", "b", "c"];
    const run = await kit.runWith([...keys, ...keys.map((key) => newTask(`far ${key}`, { lane: OTHER }))]);
    await cancel(kit, run);
    const swept = [];
    for (let round = 0; round < 3; round += 1) swept.push(await kit.store.sweepEnded(4, kit.now));
    assert.deepEqual(swept, [4, 2, 0]);
    assert.deepEqual(await kit.counts(run), { cancelled: 6 });
  });

  scenario("sweeping one run leaves the others alone, live and ended", async (kit) => {
    const [mine, ended, live] = [await kit.runWith(["a", "b"]), await kit.runWith(["c"]), await kit.runWith(["d"])];
    await cancel(kit, mine);
    await cancel(kit, ended);
    assert.equal(await kit.store.sweepEnded(100, kit.now, live.id), 0);
    assert.equal(await kit.store.sweepEnded(100, kit.now, mine.id), 2);
    assert.deepEqual(await kit.counts(mine), { cancelled: 2 });
    assert.deepEqual(await kit.counts(ended), { queued: 1 });
    assert.equal(await kit.store.sweepEnded(100, kit.now), 1);
    assert.deepEqual(await kit.counts(ended), { cancelled: 1 });
    assert.deepEqual(await kit.counts(live), { queued: 1 });
    await refused("not_found", kit.store.sweepEnded(100, kit.now, NOBODY));
    assert.equal(await kit.store.sweepEnded(100, kit.now), 0);
  });

  scenario("runs in other states keep their work when ended ones are swept", async (kit) => {
    const runs = [await kit.runWith(["a"]), await kit.runWith(["b"]), await kit.page("c")];
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.settle(lane, tasks, retryAt(kit.now + 1000));
    await kit.store.changeRun(runs[1]?.id ?? "", "paused", "Run paused", kit.now);
    await kit.store.changeRun(runs[2]?.id ?? "", "waiting_for_human", "Waiting", kit.now);
    assert.equal(await kit.store.sweepEnded(100, kit.now), 0);
    for (const run of runs) assert.deepEqual(await kit.counts(run), { retrying: 1 });
  });

  scenario("two sweepers share the work, and count every task once", async (kit) => {
    const run = await kit.runWith(Array.from({ length: 50 }, (_, index) => `k${index}`));
    await cancel(kit, run);
    const other = await kit.open();
    let swept = 0;
    for (let round = 0; round < 20; round += 1) {
      const parts = await Promise.all([kit.store.sweepEnded(3, kit.now), other.sweepEnded(4, kit.now)]);
      swept += parts[0] + parts[1];
    }
    assert.equal(swept, 50);
    assert.deepEqual(await kit.counts(run), { cancelled: 50 });
  });

  scenario("what a dead owner had in hand of a cancelled run is swept too, and the audit stays clean", async (kit) => {
    const run = await kit.runWith(["a", "b", "c"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane, 2);
    await cancel(kit, run);
    // While its owner lives, what it has in hand is its own to bring in.
    assert.equal(await kit.store.sweepEnded(100, kit.now), 1);
    assert.deepEqual(await kit.counts(run), { running: 2, cancelled: 1 });
    // The owner dies; nothing in the lane would make anybody take it.
    if (!kit.store.capabilities.singleEngine) kit.pass(TTL + 1);
    await kit.enter("B");
    assert.deepEqual(await kit.store.lanesWithWork("B"), []);
    assert.equal(await kit.store.sweepEnded(1, kit.now), 1);
    assert.equal(await kit.store.sweepEnded(100, kit.now), 1);
    assert.deepEqual(await kit.counts(run), { cancelled: 3 });
    assert.equal((await kit.store.overview(run.id, 10)).openStreams, 0);
    await passTime(kit, "B", 3 * TTL);
    await kit.expectClean();
    // If it was not dead after all, it comes too late.
    assert.deepEqual((await kit.settle(lane, tasks, DONE)).lost, [lane.laneId]);
    assert.deepEqual(await kit.counts(run), { cancelled: 3 });
  });

  scenario("what a dead owner had in hand of a waiting or paused run is no fault, and goes on with it", async (kit) => {
    const paused = await kit.runWith(["a"]);
    const waits = await kit.runWith(["b"]);
    const lane = await kit.take("A");
    await kit.claim(lane);
    await kit.store.changeRun(paused.id, "paused", "Run paused", kit.now);
    await kit.store.changeRun(waits.id, "waiting_for_human", "Waiting", kit.now);
    if (!kit.store.capabilities.singleEngine) kit.pass(TTL + 1);
    await kit.enter("B");
    assert.deepEqual(await kit.store.lanesWithWork("B"), []);
    await passTime(kit, "B", 3 * TTL);
    await kit.expectClean();
    await kit.store.changeRun(paused.id, "running", "Run resumed", kit.now);
    assert.deepEqual(await kit.store.lanesWithWork("B"), [{ lane: LANE, readyAt: 0 }]);
    await kit.expectClean();
    const next = await kit.take("B");
    assert.equal(next.recovered, 2);
    await kit.work(next, DONE);
    assert.equal(await kit.status(paused), "completed");
    assert.deepEqual(await kit.counts(waits), { queued: 1 });
  });

  scenario("a run that was ended as failed with work left is swept like a cancelled one", async (kit) => {
    const run = await kit.runWith(["a", "b"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane, 1);
    await kit.store.changeRun(run.id, "failed", "Run failed: out of time", kit.now);
    assert.equal(await kit.store.sweepEnded(100, kit.now), 1);
    await kit.settle(lane, tasks, DONE);
    assert.deepEqual(await kit.counts(run), { cancelled: 2 });
    assert.equal((await kit.ends(run)).length, 1);
  });

  scenario("evidence of a cancelled task stays with it, and does not upset the audit", async (kit) => {
    const run = await kit.page();
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.report(lane, tasks, retryAt(kit.now + 1000), { evidence: [evidence("a")] });
    await cancel(kit, run);
    assert.equal(await kit.store.sweepEnded(10, kit.now), 1);
    assert.equal((await kit.store.artifactsOf(tasks[0]?.id ?? "")).length, 1);
  });
}
