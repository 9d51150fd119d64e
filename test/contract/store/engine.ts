import assert from "node:assert/strict";
import { candidate, DONE, type Kit, LANE, type Scenario, TTL } from "./kit.ts";

export function engineScenarios(scenario: Scenario): void {
  /** Only for stores where one process at a time may own lanes; others have nothing to keep here. */
  const locked = (title: string, body: (kit: Kit) => Promise<void>) =>
    scenario(title, async (kit) => {
      if (kit.store.capabilities.singleEngine) await body(kit);
    });

  locked("nobody is the engine until someone takes it, and then everyone sees who", async (kit) => {
    assert.equal(await kit.store.engineHolder(), null);
    const me = candidate("A", { pid: 4711, pidStart: "99", address: "/run/a.sock" });
    const { taken, holder } = await kit.store.takeEngine(me, TTL);
    assert.equal(taken, true);
    assert.deepEqual(holder, { ...me, epoch: 1, remainingMs: TTL });
    const other = await kit.open();
    kit.clock.mono += 1000;
    assert.deepEqual(await other.engineHolder(), { ...me, epoch: 1, remainingMs: TTL - 1000 });
  });

  locked("a second candidate is refused while the first lives, and told who it is", async (kit) => {
    await kit.store.takeEngine(candidate("A"), TTL);
    kit.clock.mono += TTL;
    const other = await kit.open();
    const { taken, holder } = await other.takeEngine(candidate("B"), TTL);
    assert.deepEqual([taken, holder.id, holder.epoch], [false, "A", 1]);
    assert.equal(await other.heartbeat("B", TTL), null);
  });

  locked("of two candidates at once exactly one gets it", async (kit) => {
    const other = await kit.open();
    const both = await Promise.all([kit.store.takeEngine(candidate("A"), TTL), other.takeEngine(candidate("B"), TTL)]);
    assert.equal(both.filter(({ taken }) => taken).length, 1);
    assert.equal(both[0]?.holder.id, both[1]?.holder.id);
  });

  locked("an expired engine is replaced, and learns of it by its next heartbeat", async (kit) => {
    await kit.store.takeEngine(candidate("A"), TTL);
    kit.clock.mono += TTL + 1;
    const { taken, holder } = await kit.store.takeEngine(candidate("B"), TTL);
    assert.deepEqual([taken, holder.id, holder.epoch], [true, "B", 2]);
    assert.equal(await kit.store.heartbeat("A", TTL), null);
    assert.equal((await kit.store.engineHolder())?.id, "B");
  });

  locked("a heartbeat keeps the engine for another lease", async (kit) => {
    await kit.store.takeEngine(candidate("A"), TTL);
    kit.clock.mono += TTL - 1;
    assert.deepEqual(await kit.store.heartbeat("A", TTL), new Set());
    kit.clock.mono += TTL - 1;
    assert.equal((await kit.store.takeEngine(candidate("B"), TTL)).taken, false);
  });

  locked("the wall clock may jump a day: no lease notices", async (kit) => {
    await kit.store.takeEngine(candidate("A"), TTL);
    kit.clock.wall += 86_400_000;
    assert.equal((await kit.store.takeEngine(candidate("B"), TTL)).taken, false);
    kit.clock.wall -= 2 * 86_400_000;
    assert.equal((await kit.store.takeEngine(candidate("B"), TTL)).taken, false);
  });

  locked("who knows that the holder is dead may evict it, but no one else", async (kit) => {
    await kit.store.takeEngine(candidate("A"), TTL);
    assert.equal((await kit.store.takeEngine(candidate("B"), TTL, "someone else")).taken, false);
    assert.equal((await kit.store.takeEngine(candidate("B"), TTL, "A")).taken, true);
    assert.equal((await kit.store.takeEngine(candidate("C"), TTL, "A")).taken, false);
  });

  locked("a lock of another boot of the machine is dead", async (kit) => {
    await kit.store.takeEngine(candidate("A"), TTL);
    kit.clock.mono = 5;
    const { taken, holder } = await kit.store.takeEngine(candidate("B", { boot: "boot-2" }), TTL);
    assert.deepEqual([taken, holder.id, holder.remainingMs], [true, "B", TTL]);
  });

  locked("taking it again as the same candidate keeps the lanes", async (kit) => {
    await kit.runWith(["a"]);
    const lane = await kit.take("A");
    assert.equal((await kit.store.takeEngine(candidate("A"), TTL)).taken, true);
    await kit.work(lane, DONE);
  });

  locked("after a release the next one needs no wait, and only the holder can release", async (kit) => {
    const run = await kit.runWith(["a"]);
    const lane = await kit.take("A");
    await kit.store.releaseEngine("B");
    assert.equal((await kit.store.engineHolder())?.id, "A");
    await kit.store.releaseEngine("A");
    assert.equal(await kit.store.engineHolder(), null);
    assert.equal(await kit.store.claim(lane, { limit: 1 }, kit.now), null);
    assert.equal((await kit.store.takeEngine(candidate("B"), TTL)).taken, true);
    await kit.work(await kit.take("B"), DONE);
    assert.equal(await kit.status(run), "completed");
  });

  locked("only the engine gets lanes", async (kit) => {
    await kit.runWith(["a"]);
    assert.equal(await kit.store.takeLane(LANE, "A", TTL), null);
    await kit.enter("A");
    assert.equal(await kit.store.takeLane(LANE, "B", TTL), null);
    assert.ok((await kit.store.takeLane(LANE, "A", TTL)) !== null);
  });

  locked("a takeover ends every lease of the holder before; the work goes on", async (kit) => {
    const run = await kit.runWith(["a"]);
    const old = await kit.take("A");
    const { tasks } = await kit.claim(old);
    await kit.store.takeEngine(candidate("B"), TTL, "A");
    await kit.expectClean();
    assert.equal(await kit.store.claim(old, { limit: 1 }, kit.now), null);
    assert.deepEqual((await kit.settle(old, tasks, DONE)).lost, [old.laneId]);
    assert.equal(await kit.store.takeLane(LANE, "A", TTL), null);
    const grant = await kit.store.takeLane(LANE, "B", TTL);
    assert.deepEqual([grant?.recovered, (grant?.epoch ?? 0) > old.epoch], [1, true]);
    assert.deepEqual(await kit.states(run), { a: "queued" });
  });

  locked("work that waited while there was no engine is no fault of the new one", async (kit) => {
    await kit.runWith(["a"]);
    kit.clock.mono += 3_600_000;
    await kit.enter("A");
    await kit.expectClean();
  });
}
