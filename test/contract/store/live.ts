import assert from "node:assert/strict";
import { failure, type FailureReason } from "../../../src/domain/run/failure.ts";
import { DONE, FAILED, type Kit, newTask, type Scenario } from "./kit.ts";

const HOUR = 3_600_000;
const failedBy = (reason: FailureReason) => ({ kind: "failed", failure: failure(reason, `it was ${reason}`) }) as const;

const activeNames = async (kit: Kit, limit = 10) => (await kit.store.activeRuns(limit)).map(({ name }) => name);

export function liveScenarios(scenario: Scenario): void {
  scenario("runs that have not ended are listed, those at work first, and counted", async (kit) => {
    for (const name of ["old", "paused", "waiting", "newer", "done"]) await kit.page(name, { name });
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const byKey = (key: string) => tasks.filter((task) => task.key === key);
    await kit.settle(lane, byKey("done"), DONE);
    const runOf = async (name: string) => (await kit.store.runs({ q: name, limit: 1 }))[0]!;
    await kit.settle(
      lane,
      tasks.filter(({ key }) => key === "waiting"),
      { kind: "handed_back" },
    );
    await kit.store.changeRun((await runOf("paused")).id, "paused", "Run paused", kit.now);
    assert.deepEqual(await activeNames(kit), ["newer", "waiting", "old", "paused"]);
    assert.deepEqual(await activeNames(kit, 2), ["newer", "waiting"]);
    const counted = (await kit.store.countActiveRuns()).map(({ kind, status, count }) => `${count} ${kind} ${status}`);
    assert.deepEqual(counted.toSorted(), ["1 page paused", "3 page running"]);
    await kit.store.releaseLane(lane);
  });

  scenario("pages that a crawl knows beyond its limit are counted apart: they are never fetched", async (kit) => {
    const page = { kind: "crawl", maxAttempts: 3, snapshot: { options: {} } } as const;
    const tasks = Array.from({ length: 12 }, (_, index) => newTask(`p${index}`));
    await kit.store.startRun({ ...page, pagesLimit: 5 }, tasks, kit.now);
    await kit.store.startRun({ ...page, pagesLimit: 20 }, tasks, kit.now);
    const [{ count, beyond } = { count: 0, beyond: 0 }] = await kit.store.countActiveRuns();
    assert.deepEqual([count, beyond], [2, 7]);
  });

  scenario("the oldest task that waits is found whatever its priority is, if its run may work", async (kit) => {
    assert.equal(await kit.store.oldestQueued(), null);
    const began = kit.now;
    const paused = await kit.runWith(["first"], { kind: "download" });
    await kit.store.changeRun(paused.id, "paused", "Run paused", kit.now);
    kit.pass(1000);
    const run = await kit.runWith([newTask("low", { priority: -5 })]);
    for (const priority of [3, 0, 9]) {
      kit.pass(1000);
      await kit.enqueue(run, [newTask(`p${priority}`, { priority })]);
    }
    assert.equal(await kit.store.oldestQueued(), began + 1000);
    await kit.store.changeRun(paused.id, "running", "Run resumed", kit.now);
    assert.equal(await kit.store.oldestQueued(), began);
  });

  scenario("lanes with open work are listed by name, with who waits there", async (kit) => {
    const began = kit.now;
    await kit.runWith([
      newTask("b1", { lane: "site:b.example" }),
      newTask("b2", { lane: "site:b.example", priority: 5 }),
    ]);
    kit.pass(1000);
    await kit.runWith(["a1", newTask("b3", { lane: "site:b.example" })]);
    const lane = await kit.take("A");
    await kit.claim(lane);
    assert.deepEqual(await kit.store.openLanes({ limit: 10 }), [
      {
        lane: "site:a.example",
        sites: ["a.example"],
        counts: { queued: 0, running: 1, retrying: 0 },
        runs: 1,
        isOwned: true,
        oldestQueued: null,
        sleeps: null,
      },
      {
        lane: "site:b.example",
        sites: ["b.example"],
        counts: { queued: 3, running: 0, retrying: 0 },
        runs: 2,
        isOwned: false,
        oldestQueued: began,
        sleeps: null,
      },
    ]);
    const after = (await kit.store.openLanes({ after: "site:a.example", limit: 10 })).map((one) => one.lane);
    assert.deepEqual(after, ["site:b.example"]);
    await kit.store.releaseLane(lane);
  });

  scenario("what failed of late is counted over all runs, with an example of the newest", async (kit) => {
    const fail = async (key: string, reason: FailureReason) => {
      const run = await kit.page(key);
      const lane = await kit.take("A");
      await kit.work(lane, failedBy(reason));
      await kit.store.releaseLane(lane);
      return run;
    };
    await fail("long-ago", "dns_failed");
    kit.pass(2 * HOUR);
    await fail("a", "timeout_idle");
    await fail("b", "http_not_found");
    const last = await fail("c", "timeout_idle");
    const found = await kit.store.recentErrors(kit.now - HOUR, 10);
    assert.deepEqual(
      found.map(({ reason, count, exampleRunId, exampleUrl }) => [reason, count, exampleRunId, exampleUrl]),
      [
        ["timeout_idle", 2, last.id, "https://a.example/c"],
        ["http_not_found", 1, found[1]?.exampleRunId, "https://a.example/b"],
      ],
    );
    assert.deepEqual(
      (await kit.store.recentErrors(kit.now - HOUR, 1)).map(({ reason }) => reason),
      ["timeout_idle"],
    );
  });

  scenario("pages are counted at sites that are named, and at the busiest", async (kit) => {
    const at = (site: string, keys: readonly string[]) => keys.map((key) => newTask(key, { lane: `site:${site}` }));
    await kit.runWith([...at("a.example", ["1", "2"]), ...at("b.example", ["3"]), ...at("c.example", ["4"])]);
    const lane = await kit.take("A", "site:c.example");
    await kit.work(lane, FAILED);
    await kit.store.releaseLane(lane);
    const counts = await kit.store.siteCounts({ sites: ["c.example", "unknown.example"], busiest: 1 });
    assert.deepEqual([...counts.keys()].toSorted(), ["a.example", "c.example"]);
    assert.deepEqual([counts.get("a.example")?.queued, counts.get("c.example")?.failed], [2, 1]);
    assert.equal((await kit.store.siteCounts({ sites: [], busiest: 0 })).size, 0);
  });
}
