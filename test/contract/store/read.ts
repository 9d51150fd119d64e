import assert from "node:assert/strict";
import type { EventWindow } from "../../../src/store/ports/port.ts";
import { DONE, FAILED, newTask, type Scenario, SKIPPED } from "./kit.ts";

const OTHER = "site:b.example";
const NOBODY = "3b241101-e2bb-4255-8caf-4136c566a962";

export function readScenarios(scenario: Scenario): void {
  scenario("events come oldest first, numbered without a gap, and page by `after`", async (kit) => {
    const run = await kit.run();
    await kit.runWith(["noise"]);
    for (const step of ["running", "paused", "running", "paused", "cancelled"] as const) {
      if (step === "running") await kit.enqueue(run, ["a"]);
      kit.pass(10);
      await kit.store.changeRun(run.id, step, `Run ${step}`, kit.now);
    }
    const all = await kit.events(run);
    assert.deepEqual(
      all.map((event) => event.seq),
      [1, 2, 3, 4, 5, 6],
    );
    assert.ok(all.every((event, index) => event.createdAt >= (all[index - 1]?.createdAt ?? 0)));
    assert.equal(new Set(all.map((event) => event.id)).size, all.length);
    const paged: typeof all = [];
    for (;;) {
      const page = await kit.store.events(run.id, {
        ...(paged.length === 0 ? {} : { after: paged.at(-1)!.id }),
        limit: 2,
      });
      if (page.length === 0) break;
      assert.ok(page.length <= 2);
      paged.push(...page);
    }
    assert.deepEqual(paged, all);
  });

  scenario("events have a type, by which they can be listed", async (kit) => {
    const run = await kit.run();
    await kit.enqueue(run, ["a"]);
    for (const to of ["running", "paused", "running", "paused", "cancelled"] as const)
      await kit.store.changeRun(run.id, to, "words", kit.now);
    const all = await kit.events(run);
    assert.deepEqual(
      all.map(({ type }) => type),
      ["run.created", "run.started", "run.paused", "run.resumed", "run.paused", "run.cancelled"],
    );
    const listed = async (options: Omit<EventWindow, "limit">, limit = 10) =>
      (await kit.store.events(run.id, { ...options, limit })).map(({ seq }) => seq);
    assert.deepEqual(await listed({ types: ["run.paused", "run.created"] }), [1, 3, 5]);
    assert.deepEqual(await listed({ types: ["run.paused", "run.created"], order: "newest" }, 2), [5, 3]);
    assert.deepEqual(await listed({ types: ["run.paused"], after: all[2]!.id }), [5]);
    assert.deepEqual(await listed({ types: ["run.paused"], after: all[2]!.id, order: "newest" }), []);
    assert.deepEqual(await listed({ types: [] }), []);
  });

  scenario("events keep their numbers in order when two connections write", async (kit) => {
    const run = await kit.runWith(["a"]);
    const other = await kit.open();
    await kit.store.changeRun(run.id, "running", "Run started", kit.now);
    for (let round = 0; round < 5; round += 1) {
      await kit.store.changeRun(run.id, "paused", `pause ${round}`, kit.now);
      await other.changeRun(run.id, "running", `resume ${round}`, kit.now);
    }
    const all = await other.events(run.id, { limit: 100 });
    assert.deepEqual(
      all.map((event) => event.seq),
      all.map((_, index) => index + 1),
    );
  });

  scenario("tasks page by id and filter by state and lane", async (kit) => {
    const keys = Array.from({ length: 25 }, (_, index) => `k${index}`);
    const run = await kit.runWith(keys.map((key, index) => newTask(key, index % 2 === 0 ? {} : { lane: OTHER })));
    await kit.runWith(["noise"]);
    const walked: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await kit.store.tasks(run.id, { limit: 10, ...(after === undefined ? {} : { after }) });
      if (page.length === 0) break;
      assert.ok(page.length <= 10);
      walked.push(...page.map((task) => task.key));
      after = page.at(-1)?.id;
    }
    assert.deepEqual(walked, keys);

    const lane = await kit.take("A", OTHER);
    const { tasks } = await kit.claim(lane, 6);
    await kit.settle(lane, tasks.slice(0, 2), DONE);
    await kit.settle(lane, tasks.slice(2, 4), FAILED);
    const keysIn = async (filter: Partial<Parameters<typeof kit.store.tasks>[1]>) =>
      (await kit.store.tasks(run.id, { limit: 100, ...filter })).map((task) => task.key);
    assert.equal((await keysIn({ site: OTHER.replace("site:", "") })).length, 12);
    assert.equal((await keysIn({ site: "none.example" })).length, 0);
    assert.deepEqual(await keysIn({ states: ["completed"] }), ["k1", "k3"]);
    assert.deepEqual(await keysIn({ states: ["failed", "running"] }), ["k5", "k7", "k9", "k11"]);
    assert.deepEqual(await keysIn({ states: ["failed"], site: "a.example" }), []);
    assert.deepEqual(await keysIn({ states: [] }), []);
    const [first] = await kit.store.tasks(run.id, { states: ["failed"], limit: 1 });
    assert.deepEqual(await keysIn({ states: ["failed"], after: first?.id ?? "" }), ["k7"]);
  });

  scenario("an id that is no task's reads as nothing", async (kit) => {
    const run = await kit.runWith(["a"]);
    const [event] = await kit.events(run);
    for (const id of [NOBODY, "not an id", "", event?.id ?? ""]) {
      assert.equal(await kit.store.task(id), null);
      assert.deepEqual(await kit.store.artifactsOf(id), []);
      assert.deepEqual(await kit.store.resultsOf(id), []);
    }
    assert.equal(await kit.store.taskByKey(run.id, "b"), null);
    assert.equal(await kit.store.taskByKey(NOBODY, "a"), null);
  });

  scenario("open tasks are those that still have something to do", async (kit) => {
    const run = await kit.runWith(["a", "b", "c", "d"]);
    const ids = new Map((await kit.store.tasks(run.id, { limit: 10 })).map((task) => [task.key, task.id]));
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane, 3);
    await kit.settle(lane, tasks.slice(0, 1), DONE);
    await kit.settle(lane, tasks.slice(1, 2), SKIPPED);
    const open = await kit.store.openTasks([...ids.values(), NOBODY, "not an id"]);
    assert.deepEqual(open, new Set([ids.get("c"), ids.get("d")]));
    assert.deepEqual(await kit.store.openTasks([]), new Set());
  });

  scenario("artifacts since a time come oldest first, in pages", async (kit) => {
    await kit.runWith(["a", "b", "c"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const file = { size: 1, contentType: null, url: "https://a.example/" };
    const start = kit.now;
    for (const [index, task] of tasks.entries()) {
      kit.pass(10);
      const artifacts = [
        { ...file, hash: `${index}0`.repeat(32) },
        { ...file, hash: `${index}1`.repeat(32) },
      ];
      await kit.settle(lane, [task], { kind: "completed", artifacts, results: [], detail: null });
    }
    const all = await kit.store.artifactsSince(0, 0, 100);
    assert.deepEqual(
      all.map((one) => one.hash.slice(0, 2)),
      ["00", "01", "10", "11", "20", "21"],
    );
    const recent = await kit.store.artifactsSince(start + 20, 0, 3);
    assert.deepEqual(
      recent.map((one) => one.hash.slice(0, 2)),
      ["10", "11", "20"],
    );
    const rest = await kit.store.artifactsSince(start + 20, recent.at(-1)?.row ?? 0, 3);
    assert.deepEqual(
      rest.map((one) => one.hash.slice(0, 2)),
      ["21"],
    );
    assert.equal(new Set(all.map((one) => one.id)).size, 6);
  });

  scenario("a probe writes and leaves no trace", async (kit) => {
    const run = await kit.runWith(["a"]);
    const before = await kit.store.run(run.id);
    await kit.store.probe();
    await kit.store.probe();
    assert.deepEqual(await kit.store.run(run.id), before);
  });

  scenario("every connection to a database names the same instance, and closes twice without harm", async (kit) => {
    const other = await kit.open();
    assert.equal(other.instance, kit.store.instance);
    await other.close();
    await other.close();
    await using third = await kit.open();
    assert.equal(third.instance, kit.store.instance);
  });
}
