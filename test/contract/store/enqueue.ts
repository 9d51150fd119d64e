import assert from "node:assert/strict";
import { DONE, FAILED, LANE, newTask, refused, type Scenario } from "./kit.ts";

export function enqueueScenarios(scenario: Scenario): void {
  scenario("new tasks are added, queued, with what they were given", async (kit) => {
    const run = await kit.run();
    const given = newTask("one", {
      priority: 7,
      resolver: "crossref",
      handler: "file",
      payload: { deep: ["ü", 1, null] },
    });
    assert.deepEqual(await kit.enqueue(run, [given]), { added: 1, existing: 0, lanes: [LANE], reopened: false });
    const task = await kit.store.taskByKey(run.id, "one");
    assert.ok(task !== null);
    const { key, lane, resolver, url, priority, handler, payload } = task;
    assert.deepEqual({ ...given }, { key, lane, site: given.site, resolver, url, priority, handler, payload });
    assert.deepEqual([task.state, task.tries, task.waits, task.attempts], ["queued", 0, 0, []]);
    assert.equal(task.runId, run.id);
    assert.equal(task.createdAt, kit.now);
    assert.deepEqual(await kit.store.task(task.id), task);
  });

  scenario("a key given twice in one batch is one task, and the first one counts", async (kit) => {
    const run = await kit.run();
    const result = await kit.enqueue(run, [newTask("k", { priority: 1 }), newTask("k", { priority: 2 }), "other"]);
    assert.deepEqual([result.added, result.existing], [2, 1]);
    assert.equal((await kit.store.taskByKey(run.id, "k"))?.priority, 1);
    assert.deepEqual(await kit.counts(run), { queued: 2 });
  });

  scenario("a key that names another lane the second time stays where it is", async (kit) => {
    const run = await kit.run();
    const result = await kit.enqueue(run, ["k", newTask("k", { lane: "site:b.example" })]);
    assert.deepEqual(result.lanes, [LANE]);
    assert.equal((await kit.store.taskByKey(run.id, "k"))?.lane, LANE);
  });

  scenario("importing the same batch again adds nothing and changes nothing", async (kit) => {
    const keys = Array.from({ length: 50 }, (_, index) => `k${index}`);
    const run = await kit.runWith(keys);
    const events = await kit.events(run);
    assert.deepEqual(await kit.enqueue(run, keys), { added: 0, existing: 50, lanes: [], reopened: false });
    assert.deepEqual(await kit.counts(run), { queued: 50 });
    assert.deepEqual(await kit.events(run), events);
  });

  scenario("two connections that add overlapping keys make each key once", async (kit) => {
    const run = await kit.run();
    const other = await kit.open();
    const [left, right] = await Promise.all([
      kit.enqueue(run, ["a", "b", "c"]),
      kit.enqueue(run, ["b", "c", "d"], other),
    ]);
    assert.equal(left.added + right.added, 4);
    assert.equal(left.existing + right.existing, 2);
    assert.deepEqual(await kit.counts(run), { queued: 4 });
  });

  scenario("the same key in two runs is two tasks", async (kit) => {
    const first = await kit.runWith(["k"]);
    const second = await kit.runWith(["k"]);
    const one = await kit.store.taskByKey(first.id, "k");
    const two = await kit.store.taskByKey(second.id, "k");
    assert.ok(one !== null && two !== null);
    assert.notEqual(one.id, two.id);
  });

  scenario("a batch of several lanes names each lane once", async (kit) => {
    const run = await kit.run();
    const result = await kit.enqueue(run, [
      newTask("a", { resolver: "r1" }),
      newTask("b", { resolver: "r2" }),
      newTask("c", { lane: "site:b.example" }),
    ]);
    assert.deepEqual(result.lanes.toSorted(), [LANE, "site:b.example"]);
    const lanes = await kit.store.counts(run.id);
    assert.deepEqual(
      lanes.map(({ lane, counts }) => [lane, counts.queued]),
      [
        [LANE, 2],
        ["site:b.example", 1],
      ],
    );
  });

  scenario("nothing can be added to a run that does not exist", async (kit) => {
    await refused("not_found", kit.store.enqueue("3b241101-e2bb-4255-8caf-4136c566a962", [newTask("k")], kit.now));
    assert.deepEqual(await kit.store.lanesWithWork(), []);
  });

  scenario("something new reopens an ended run as a new generation; what is known does not", async (kit) => {
    const run = await kit.runWith(["a"]);
    const lane = await kit.take("A");
    await kit.work(lane, DONE);
    assert.equal(await kit.status(run), "completed");
    assert.equal((await kit.enqueue(run, ["a"])).reopened, false);
    assert.equal(await kit.status(run), "completed");

    assert.equal((await kit.enqueue(run, ["a", "b"])).reopened, true);
    const reopened = await kit.store.run(run.id);
    assert.deepEqual([reopened?.status, reopened?.generation, reopened?.finishedAt], ["running", 2, null]);
    await kit.expectClean();
    await kit.work(lane, DONE);
    assert.equal((await kit.store.run(run.id))?.generation, 2);
    assert.deepEqual(await kit.ends(run), ["Run completed: 1 of 1 done", "Run completed: 2 of 2 done"]);
  });

  scenario("a cancelled run stays closed: adding is refused and leaves nothing", async (kit) => {
    const run = await kit.run();
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    await refused("illegal_transition", kit.enqueue(run, ["a"]));
    assert.equal(await kit.store.taskByKey(run.id, "a"), null);
    assert.deepEqual(await kit.counts(run), {});
  });

  scenario("retry-failed gives fresh attempts, keeps the history and opens a new generation", async (kit) => {
    const run = await kit.runWith(["good", "bad"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.settle(
      lane,
      tasks.filter((task) => task.key === "good"),
      DONE,
    );
    await kit.settle(
      lane,
      tasks.filter((task) => task.key === "bad"),
      FAILED,
    );
    assert.equal(await kit.status(run), "partial");

    assert.deepEqual(await kit.store.retryFailed(run.id, { limit: 10 }, kit.now), {
      requeued: 1,
      lanes: [LANE],
      next: null,
    });
    const task = await kit.store.taskByKey(run.id, "bad");
    assert.deepEqual([task?.state, task?.tries, task?.waits, task?.endedAt], ["queued", 0, 0, null]);
    assert.equal(task?.attempts.length, 1);
    assert.equal((await kit.store.run(run.id))?.generation, 2);

    const again = await kit.claim(lane);
    assert.deepEqual([again.tasks.length, again.tasks[0]?.tries, again.tasks[0]?.attempts.length], [1, 0, 1]);
    await kit.settle(lane, again.tasks, DONE);
    assert.equal((await kit.store.taskByKey(run.id, "bad"))?.attempts.length, 2);
    assert.equal((await kit.store.taskByKey(run.id, "bad"))?.failure, null);
    assert.deepEqual(await kit.ends(run), [
      "Run completed in part: 1 of 2 done, 1 failed",
      "Run completed: 2 of 2 done",
    ]);
  });

  scenario("retry-failed keeps to its lane and its limit, over several resolvers", async (kit) => {
    const run = await kit.runWith([
      newTask("a1", { resolver: "r1" }),
      newTask("a2", { resolver: "r2" }),
      newTask("a3", { resolver: "r2" }),
      newTask("b1", { lane: "site:b.example" }),
    ]);
    for (const name of [LANE, "site:b.example"]) await kit.work(await kit.take("A", name), FAILED);
    assert.equal(await kit.status(run), "failed");

    const other = await kit.store.retryFailed(run.id, { site: "b.example", limit: 10 }, kit.now);
    assert.deepEqual(other, { requeued: 1, lanes: ["site:b.example"], next: null });
    assert.equal((await kit.store.retryFailed(run.id, { site: "a.example", limit: 2 }, kit.now)).requeued, 2);
    assert.equal((await kit.store.retryFailed(run.id, { site: "a.example", limit: 2 }, kit.now)).requeued, 1);
    assert.deepEqual(await kit.store.retryFailed(run.id, { limit: 2 }, kit.now), {
      requeued: 0,
      lanes: [],
      next: null,
    });
    assert.deepEqual(await kit.counts(run), { queued: 4 });
    assert.equal((await kit.store.run(run.id))?.generation, 2);
  });

  scenario("retry-failed with nothing failed leaves an ended run ended", async (kit) => {
    const run = await kit.runWith(["a"]);
    await kit.work(await kit.take("A"), DONE);
    const version = await kit.store.controlVersion();
    assert.deepEqual(await kit.store.retryFailed(run.id, { limit: 10 }, kit.now), {
      requeued: 0,
      lanes: [],
      next: null,
    });
    assert.equal(await kit.status(run), "completed");
    assert.equal(await kit.store.controlVersion(), version);
  });
}
