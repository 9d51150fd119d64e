import assert from "node:assert/strict";
import type { TaskArtifact } from "../../../src/domain/run/outcome.ts";
import type { TaskOrder } from "../../../src/domain/lane/task-order.ts";
import {
  attempt,
  DONE,
  evidence,
  FAILED,
  type Kit,
  newTask,
  refused,
  type Scenario,
  type Verdict,
  walk,
} from "./kit.ts";

const HOUR = 3_600_000;

export function runListScenarios(scenario: Scenario): void {
  const names = async (kit: Kit, filter: object) =>
    (await kit.store.runs({ limit: 100, ...filter })).map(({ name }) => name);

  scenario("ids are found by their beginning, of one kind alone where that is asked for", async (kit) => {
    const runs = [];
    for (const name of ["a", "b", "c"]) runs.push(await kit.page(name, { name }));
    const ids = runs.map(({ id }) => id).sort();
    const [first = ""] = ids;
    assert.deepEqual(await kit.store.idsFrom("run", first.slice(0, 8), 3), [first]);
    assert.deepEqual(await kit.store.idsFrom("run", first, 3), [first]);
    assert.deepEqual(await kit.store.idsFrom("run", "", 10), ids);
    assert.deepEqual(await kit.store.idsFrom("run", "", 2), ids.slice(0, 2));
    assert.deepEqual(await kit.store.idsFrom("crawl", first.slice(0, 8), 3), []);
  });

  scenario("runs are found by when they were created, by ids and by the beginning of one", async (kit) => {
    const began = kit.now;
    const runs = [];
    for (const name of ["a", "b", "c", "d", "e"]) {
      runs.push(await kit.page(name, { name }));
      kit.pass(HOUR);
    }
    assert.deepEqual(await names(kit, { since: began + HOUR, until: began + 3 * HOUR }), ["c", "b"]);
    assert.deepEqual(await names(kit, { since: began + HOUR - 1 }), ["e", "d", "c", "b"]);
    assert.deepEqual(await names(kit, { until: began }), []);
    assert.deepEqual(await names(kit, { since: kit.now }), []);
    assert.deepEqual(await names(kit, { ids: [runs[1]!.id, runs[3]!.id, "none"] }), ["d", "b"]);
    assert.deepEqual(await names(kit, { q: runs[2]!.id.slice(0, 13) }), ["c"]);
    assert.deepEqual(await names(kit, { q: "00000000-none" }), []);
    assert.equal(await kit.store.countRunsLike({ since: began + HOUR, limit: 100 }), 4);
    assert.equal(await kit.store.countRunsLike({ since: began + HOUR, limit: 3 }), 3, "counting stops at the limit");
  });

  scenario("tasks come newest first, page by page, and are searched by their address", async (kit) => {
    const run = await kit.runWith(["x1", "y2", "x3", "y4", "x5"].map((key) => newTask(key)));
    await kit.runWith(["x6"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const ofRun = tasks.filter(({ runId }) => runId === run.id);
    await kit.settle(
      lane,
      ofRun.filter(({ key }) => /[145]/.test(key)),
      FAILED,
    );
    const keys = async (filter: object) =>
      (await kit.store.tasks(run.id, { limit: 100, ...filter })).map(({ key }) => key);
    assert.deepEqual(await keys({ order: "newest" }), ["x5", "y4", "x3", "y2", "x1"]);
    const [, second] = await kit.store.tasks(run.id, { order: "newest", limit: 2 });
    assert.deepEqual(await keys({ order: "newest", after: second!.id, limit: 2 }), ["x3", "y2"]);
    assert.deepEqual(await keys({ q: "/X" }), ["x1", "x3", "x5"]);
    assert.deepEqual(await keys({ q: "/x", states: ["failed"] }), ["x1", "x5"]);
    assert.deepEqual(await keys({ q: "/x", states: ["failed"], order: "newest", limit: 1 }), ["x5"]);
    assert.deepEqual(await keys({ q: "%" }), []);
    await kit.settle(
      lane,
      tasks.filter((task) => !ofRun.includes(task) || !/[145]/.test(task.key)),
      DONE,
    );
  });

  scenario("tasks come slowest or largest first, page by page, those that nothing is known of last", async (kit) => {
    const run = await kit.runWith(["a", "b", "c", "d", "e"].map((key) => newTask(key)));
    await kit.runWith(["other"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const took: Record<string, number> = { a: 40, b: 7, c: 1200, d: 40, other: 9999 };
    const weighs: Record<string, number> = { a: 10, b: 900, c: 20 };
    const file = (size: number): TaskArtifact => ({ ...evidence("f"), size, role: "file" });
    const settled = tasks
      .filter(({ key }) => key !== "e")
      .map((task) => ({
        task,
        attempt: attempt(1, { duration_ms: took[task.key] ?? 0 }),
        verdict: {
          ...DONE,
          // What was kept is weighed; of the rest it is known what came in. Pictures of it do not count.
          ...(task.key === "d" ? { artifacts: [file(300), file(200), evidence("s")] } : {}),
          detail: task.key in weighs ? { bytes: weighs[task.key] } : null,
        } as Verdict,
      }));
    await kit.store.settle([{ hold: lane, tasks: settled }], kit.now);
    const keys = async (filter: object) =>
      (await kit.store.tasks(run.id, { limit: 100, ...filter })).map(({ key }) => key);
    const paged = async (order: TaskOrder) =>
      (await walk((position) => kit.store.tasks(run.id, { order, ...position }), 2)).map(({ key }) => key);
    assert.deepEqual(await keys({ order: "slowest" }), ["c", "a", "d", "b", "e"]);
    assert.deepEqual(await paged("slowest"), ["c", "a", "d", "b", "e"]);
    assert.deepEqual(await keys({ order: "largest" }), ["b", "d", "c", "a", "e"]);
    assert.deepEqual(await paged("largest"), ["b", "d", "c", "a", "e"]);
    assert.deepEqual(await keys({ order: "slowest", states: ["completed"], limit: 2 }), ["c", "a"]);
    assert.deepEqual(await keys({ order: "largest", q: "example/A" }), ["a"]);
    const [first] = await kit.store.tasks(run.id, { order: "slowest", limit: 1 });
    assert.deepEqual(await keys({ order: "slowest", q: "example/", after: first!.id, limit: 2 }), ["a", "d"]);
    await refused("input_invalid", kit.store.tasks(run.id, { order: "slowest", after: "nothing", limit: 1 }));
  });
}
