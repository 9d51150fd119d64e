import assert from "node:assert/strict";
import { failure } from "../../../src/domain/run/failure.ts";
import type { RunRecord } from "../../../src/store/ports/port.ts";
import { DONE, HANDED_BACK, type Kit, LANE, newTask, NOBODY, refused, retryAt, type Scenario } from "./kit.ts";
import { newWorkflow, stateOfSteps } from "./workflow-kit.ts";

async function idOf(kit: Kit, run: RunRecord, key: string): Promise<string> {
  const task = await kit.store.taskByKey(run.id, key);
  assert.ok(task !== null, `${key} is there`);
  return task.id;
}

async function stop(kit: Kit, run: RunRecord, key: string): Promise<string> {
  return (await kit.store.stopTask(await idOf(kit, run, key), kit.now)).state;
}

async function failureOf(kit: Kit, run: RunRecord, key: string) {
  const task = await kit.store.taskByKey(run.id, key);
  return [task?.state, task?.failure?.code, task?.failure?.reason];
}

const STOPPED = ["failed", "cancelled", "task_stopped"];

export function stopScenarios(scenario: Scenario): void {
  scenario("a task that waits ends at once, and the others go on", async (kit) => {
    const run = await kit.runWith(["queued", "retried", "other"]);
    const hold = await kit.take("A");
    const { tasks } = await kit.claim(hold);
    await kit.settle(
      hold,
      tasks.filter(({ key }) => key !== "retried"),
      HANDED_BACK,
    );
    await kit.settle(
      hold,
      tasks.filter(({ key }) => key === "retried"),
      retryAt(kit.now + 60_000),
    );
    for (const key of ["queued", "retried"]) {
      assert.equal(await stop(kit, run, key), "failed");
      assert.deepEqual(await failureOf(kit, run, key), STOPPED);
    }
    await kit.work(hold, DONE);
    assert.equal(await kit.status(run), "partial");
    assert.deepEqual(
      (await kit.store.runErrors(run.id)).map(({ reason, count }) => [reason, count]),
      [["task_stopped", 2]],
    );
  });

  scenario("the last task of a run ends it, although nobody had begun it", async (kit) => {
    const page = await kit.page();
    assert.equal(await stop(kit, page, "page"), "failed");
    assert.equal(await kit.status(page), "failed");
    assert.equal((await kit.store.run(page.id))?.facts.failure_reason, "task_stopped");
    assert.match((await kit.ends(page)).join(), /^Run failed/);
  });

  scenario("a task at work is its owner's to end; whatever it comes back as, it has failed", async (kit) => {
    const run = await kit.runWith(["handed-back", "retried", "done"]);
    const hold = await kit.take("A");
    const { tasks } = await kit.claim(hold);
    const version = await kit.store.controlVersion();
    for (const { key } of tasks) assert.equal(await stop(kit, run, key), "running");
    assert.ok((await kit.store.controlVersion()) > version, "its owner is told to look");
    const rows = tasks.map(({ row }) => row);
    assert.deepEqual(await kit.store.stoppedTasks([...rows, 999_999]), new Set(rows));
    const verdicts = { "handed-back": HANDED_BACK, retried: retryAt(kit.now + 1000), done: DONE };
    for (const task of tasks) await kit.settle(hold, [task], verdicts[task.key as keyof typeof verdicts]);
    assert.deepEqual(await failureOf(kit, run, "handed-back"), STOPPED);
    assert.deepEqual(await failureOf(kit, run, "retried"), STOPPED);
    assert.deepEqual(await kit.states(run), { "handed-back": "failed", retried: "failed", done: "completed" });
    assert.equal(await kit.status(run), "partial");
    assert.deepEqual(await kit.store.stoppedTasks(rows), new Set());
  });

  scenario("what a dead owner had in hand is not begun again", async (kit) => {
    const run = await kit.runWith(["a", "b"]);
    const hold = await kit.take("A");
    await kit.claim(hold);
    assert.equal(await stop(kit, run, "a"), "running");
    const next = await kit.takeOver("B");
    await kit.store.endStopped(kit.now);
    assert.deepEqual(await failureOf(kit, run, "a"), STOPPED);
    assert.deepEqual(
      (await kit.claim(next)).tasks.map(({ key }) => key),
      ["b"],
    );
    await kit.store.releaseLane(next);
    // Its lane is nobody's now: there is no owner to wait for.
    assert.equal(await stop(kit, run, "b"), "failed");
    assert.equal(await kit.status(run), "failed");
  });

  scenario("what was stopped is tried again when somebody asks for it", async (kit) => {
    const run = await kit.runWith(["a"]);
    await stop(kit, run, "a");
    assert.equal(await stop(kit, run, "a"), "failed", "a second time changes nothing");
    assert.equal((await kit.store.retryFailed(run.id, { limit: 10 }, kit.now)).requeued, 1);
    await kit.work(await kit.take("A"), DONE);
    assert.deepEqual(await kit.states(run), { a: "completed" });
  });

  scenario("a run that waits for a person ends when what waits is stopped", async (kit) => {
    const run = await kit.page();
    const human = { kind: "human", failure: failure("login_page", "log in") } as const;
    await kit.work(await kit.take("A"), human);
    assert.equal(await kit.status(run), "waiting_for_human");
    assert.equal(await stop(kit, run, "page"), "failed");
    assert.equal(await kit.status(run), "failed");
  });

  scenario("a task that has ended, one of an ended run and one that has not begun are left alone", async (kit) => {
    const done = await kit.runWith(["a"]);
    await kit.work(await kit.take("A"), DONE);
    await refused("illegal_transition", stop(kit, done, "a"));
    const cancelled = await kit.runWith(["b"]);
    await kit.store.changeRun(cancelled.id, "cancelled", "Run cancelled", kit.now);
    await refused("illegal_transition", stop(kit, cancelled, "b"));
    await kit.store.sweepEnded(100, kit.now);
    const { created: crawl } = await kit.store.startRun(
      { kind: "crawl", maxAttempts: 3, snapshot: null, pagesLimit: 10, timeLimitMs: 60_000 },
      [newTask("c", { lane: LANE })],
      kit.now,
    );
    await refused("illegal_transition", stop(kit, crawl, "c"));
    await refused("not_found", kit.store.stopTask(NOBODY, kit.now));
  });

  scenario("a step that is stopped fails, and what waits for it is skipped", async (kit) => {
    const flow = await newWorkflow(kit, { a: [], b: ["a"], c: [] });
    const steps = await kit.store.steps(flow.id);
    const idOfStep = (name: string) => steps.find((step) => step.name === name)?.task.id ?? "";
    await refused("illegal_transition", kit.store.stopTask(idOfStep("b"), kit.now));
    await kit.store.stopTask(idOfStep("a"), kit.now);
    assert.deepEqual(await stateOfSteps(kit, flow), { a: "failed", b: "skipped", c: "queued" });
  });
}
