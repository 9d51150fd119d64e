import assert from "node:assert/strict";
import type { NewRun } from "../../../src/store/ports/port.ts";
import { candidate, newTask, type Scenario, TTL } from "./kit.ts";

export function budgetScenarios(scenario: Scenario): void {
  scenario("an owner borrows up to the cap and gives back", async (kit) => {
    await kit.enter("A");
    assert.equal(await kit.store.acquirePermits("resolver:x", "A", 2, 3), 2);
    assert.equal(await kit.store.acquirePermits("resolver:x", "A", 2, 3), 3);
    assert.equal(await kit.store.acquirePermits("resolver:x", "A", 1, 3), 3);
    assert.equal(await kit.store.acquirePermits("resolver:y", "A", 1, 3), 1);
    await kit.store.releasePermits("resolver:x", "A", 2);
    assert.equal(await kit.store.acquirePermits("resolver:x", "A", 0, 3), 1);
    await kit.store.releasePermits("resolver:x", "A", 99);
    assert.equal(await kit.store.acquirePermits("resolver:x", "A", 5, 3), 3);
  });

  scenario("several owners share one cap", async (kit) => {
    await kit.enter("A");
    const other = await kit.open();
    assert.equal(await kit.store.acquirePermits("x", "A", 2, 3), 2);
    if (kit.store.capabilities.singleEngine) {
      // Only the engine works, so only the engine borrows: what anyone else took would never come back.
      assert.equal(await other.acquirePermits("x", "B", 1, 3), 0);
      await other.releasePermits("x", "B", 1);
      assert.equal(await kit.store.acquirePermits("x", "A", 2, 3), 3);
      return;
    }
    await kit.enter("B", other);
    assert.equal(await other.acquirePermits("x", "B", 2, 3), 1);
    await kit.store.releasePermits("x", "A", 1);
    assert.equal(await other.acquirePermits("x", "B", 2, 3), 2);
    assert.equal(await kit.store.acquirePermits("x", "A", 1, 3), 1);
  });

  scenario(
    "whoever gets nothing because others have all of it is seen by them, until it gets some or wants none",
    async (kit) => {
      await kit.enter("A");
      assert.equal(await kit.store.permitContenders("x"), 0);
      assert.equal(await kit.store.acquirePermits("x", "A", 3, 3), 3);
      assert.equal(await kit.store.acquirePermits("x", "A", 1, 3), 3);
      assert.equal(await kit.store.permitContenders("x"), 1, "it wants more, and alone has all of it");
      if (kit.store.capabilities.singleEngine) return;
      const other = await kit.open();
      await kit.enter("B", other);
      assert.equal(await other.acquirePermits("x", "B", 2, 3), 0);
      assert.deepEqual([await kit.store.permitContenders("x"), await kit.store.permitContenders("y")], [2, 0]);
      await other.releasePermits("x", "B", 0);
      assert.equal(await kit.store.permitContenders("x"), 1);
      assert.equal(await other.acquirePermits("x", "B", 2, 3), 0);
      await kit.store.releasePermits("x", "A", 1);
      assert.equal(await other.acquirePermits("x", "B", 2, 3), 1, "a wish is no unit");
      assert.equal(await kit.store.permitContenders("x"), 2);
      await other.releasePermits("x", "B", 1);
      assert.equal(await kit.store.permitContenders("x"), 1, "its wish ended when it got some");
      assert.equal(await other.acquirePermits("x", "B", 1, 3), 1);
      assert.equal(await kit.store.acquirePermits("x", "A", 1, 3), 2);
      await other.releasePermits("x", "B", 1);
      assert.equal(await kit.store.acquirePermits("x", "A", 1, 3), 3);
      assert.equal(await other.acquirePermits("x", "B", 1, 3), 0);
      await other.leaveOwners("B");
      assert.equal(await kit.store.permitContenders("x"), 1, "whoever leaves wants nothing");
    },
  );

  scenario("whoever asked first gets the next unit, not whoever asks again first", async (kit) => {
    if (kit.store.capabilities.singleEngine) return;
    for (const name of ["A", "B", "C"]) await kit.enter(name);
    const acquirePermits = (owner: string) => kit.store.acquirePermits("x", owner, 1, 1);
    assert.equal(await acquirePermits("A"), 1);
    assert.deepEqual([await acquirePermits("B"), await acquirePermits("C")], [0, 0]);
    await kit.store.releasePermits("x", "A", 1);
    assert.deepEqual([await acquirePermits("A"), await acquirePermits("C"), await acquirePermits("B")], [0, 0, 1]);
    await kit.store.releasePermits("x", "B", 1);
    assert.deepEqual([await acquirePermits("A"), await acquirePermits("C")], [0, 1]);
    await kit.store.releasePermits("x", "C", 1);
    await kit.store.releasePermits("x", "A", 0);
    assert.equal(await acquirePermits("C"), 1, "nobody waits any more");
  });

  scenario("whoever gives a unit back and wants one again is the last in line at once", async (kit) => {
    if (kit.store.capabilities.singleEngine) return;
    for (const name of ["A", "B", "C"]) await kit.enter(name);
    const acquirePermits = (owner: string) => kit.store.acquirePermits("x", owner, 1, 1);
    assert.deepEqual([await acquirePermits("A"), await acquirePermits("B")], [1, 0]);
    await kit.store.releasePermits("x", "A", 1, true);
    assert.equal(await kit.store.permitContenders("x"), 2, "it is seen before it has asked");
    assert.deepEqual([await acquirePermits("C"), await acquirePermits("A"), await acquirePermits("B")], [0, 0, 1]);
    await kit.store.releasePermits("x", "B", 1);
    assert.deepEqual([await acquirePermits("C"), await acquirePermits("A")], [0, 1], "it asked before the third one");
    assert.equal(await kit.store.acquirePermits("y", "A", 2, 2), 2);
    await kit.store.releasePermits("y", "A", 1, true);
    assert.equal(await kit.store.acquirePermits("y", "B", 1, 2), 1, "whoever has some left is not in line");
    await kit.store.leaveOwners("A");
    await kit.store.releasePermits("x", "A", 1, true);
    assert.equal(await kit.store.permitContenders("x"), 1, "whoever has left wants nothing");
  });

  scenario("who uses a concurrency key can be seen, and where a run has work under it", async (kit) => {
    await kit.enter("A");
    const at = (key: string, site: string, resolver: string) => newTask(key, { lane: `site:${site}`, resolver });
    const tasks = [at("1", "a.test", "k"), at("2", "a.test", "k"), at("3", "b.test", "k"), at("4", "b.test", "other")];
    const run = await kit.store.openRun({ kind: "queue", alias: "queue", maxAttempts: 3, snapshot: {} }, kit.now);
    await kit.store.enqueue(run.id, tasks, kit.now);
    assert.deepEqual(await kit.store.keyUse(run.id, ["k", "other"]), new Map());
    await kit.store.acquirePermits("resolver:k", "A", 2, 2);
    assert.deepEqual(
      await kit.store.keyUse(run.id, ["k", "other"]),
      new Map([["k", { running: 0, granted: 2, waiting: 0 }]]),
    );
    const grant = await kit.store.takeLane("site:a.test", "A", TTL);
    await kit.store.claim(grant!, { limit: 1 }, kit.now);
    await kit.store.releasePermits("resolver:k", "A", 2, true);
    assert.deepEqual(await kit.store.keyUse(run.id, ["k"]), new Map([["k", { running: 1, granted: 0, waiting: 1 }]]));
    await kit.store.setSite("b.test", { maxConcurrency: 7 });
    const open = await kit.store.openUnderKey(run.id, "k", 10);
    assert.deepEqual(
      open.toSorted((a, b) => a.site.localeCompare(b.site)),
      [
        { site: "a.test", open: 2, maxConcurrency: null },
        { site: "b.test", open: 1, maxConcurrency: 7 },
      ],
    );
    assert.equal((await kit.store.openUnderKey(run.id, "k", 1)).length, 1);
  });

  scenario("a run's own limit appears with the run, once, or not at all", async (kit) => {
    const run = (key: string): NewRun => ({ kind: "crawl", maxAttempts: 3, snapshot: {}, budget: { key, cap: 2 } });
    await kit.store.startRun(run("resolver:a"), [newTask("a", { resolver: "a" })], kit.now);
    assert.equal(await (await kit.open()).budgetCap("resolver:a"), 2);
    const once = { key: "k", fingerprint: "f" };
    await kit.store.startRun(run("resolver:b"), [], kit.now, once);
    await kit.store.startRun(run("resolver:c"), [], kit.now, once);
    assert.deepEqual([await kit.store.budgetCap("resolver:b"), await kit.store.budgetCap("resolver:c")], [2, null]);
    const wrong = newTask("wrong", { key: undefined as unknown as string });
    await assert.rejects(kit.store.startRun(run("resolver:d"), [wrong], kit.now));
    assert.equal(await kit.store.budgetCap("resolver:d"), null);
  });

  scenario("a stored cap wins over the configured one, and changes live", async (kit) => {
    await kit.enter("A");
    assert.equal(await kit.store.budgetCap("x"), null);
    const version = await kit.store.controlVersion();
    await kit.store.setBudgetCap("x", 1);
    assert.ok((await kit.store.controlVersion()) > version);
    assert.equal(await kit.store.budgetCap("x"), 1);
    assert.equal(await kit.store.acquirePermits("x", "A", 5, 10), 1);
    await kit.store.setBudgetCap("x", 4);
    assert.equal(await kit.store.acquirePermits("x", "A", 5, 10), 4);
    // A lower cap takes nothing away from what is in use; it grants nothing new until enough came back.
    await kit.store.setBudgetCap("x", 2);
    assert.equal(await kit.store.acquirePermits("x", "A", 1, 10), 4);
    await kit.store.releasePermits("x", "A", 3);
    assert.equal(await kit.store.acquirePermits("x", "A", 5, 10), 2);
    await kit.store.setBudgetCap("x", 0);
    await kit.store.releasePermits("x", "A", 2);
    assert.equal(await kit.store.acquirePermits("x", "A", 5, 10), 0);
    await kit.store.setBudgetCap("x", null);
    assert.equal(await kit.store.budgetCap("x"), null);
    assert.equal(await kit.store.acquirePermits("x", "A", 5, 10), 5);
  });

  scenario("what a dead owner borrowed is free for its successor, and the dead borrow no more", async (kit) => {
    if (!kit.store.capabilities.singleEngine) return;
    await kit.enter("A");
    assert.equal(await kit.store.acquirePermits("x", "A", 3, 3), 3);
    await kit.store.takeEngine(candidate("B"), TTL, "A");
    assert.equal(await kit.store.acquirePermits("x", "A", 1, 3), 0);
    assert.equal(await kit.store.acquirePermits("x", "B", 3, 3), 3);
    await kit.store.releasePermits("x", "A", 3);
    assert.equal(await kit.store.acquirePermits("x", "B", 1, 3), 3);
    await kit.store.releaseEngine("B");
    await kit.enter("A");
    assert.equal(await kit.store.acquirePermits("x", "A", 3, 3), 3);
  });
}
