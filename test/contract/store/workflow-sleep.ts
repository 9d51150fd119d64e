import assert from "node:assert/strict";
import { laneOfStep } from "../../../src/domain/workflow/definition.ts";
import type { NewRun } from "../../../src/store/ports/port.ts";
import {
  DONE,
  evidence,
  FAILED,
  type Kit,
  LANE,
  newTask,
  refused,
  type Scenario,
  type Verdict,
  temporary,
} from "./kit.ts";
import { newWorkflow, settleStep, stateOfSteps, takeStep, workOn } from "./workflow-kit.ts";

const CRAWL: NewRun = { kind: "crawl", maxAttempts: 3, snapshot: {} };
const PAGE: NewRun = { kind: "page", maxAttempts: 3, snapshot: {}, url: "https://a.example/p" };

function until(time: number | null, memory: string | null = null): Verdict {
  return { kind: "wait", sleep: { memory, until: time } };
}

function forChild(run: NewRun = PAGE, time: number | null = null): Verdict {
  return { kind: "wait", sleep: { memory: "m", until: time, child: { run, tasks: [newTask("p")] } } };
}

/** The child that a step waits for. */
async function childOf(kit: Kit, runId: string, step = 0): Promise<string> {
  const waiting = (await kit.store.steps(runId))[step]?.waiting;
  assert.ok(waiting?.for === "run", `step ${step} should wait for a run, it waits for ${waiting?.for}`);
  return waiting.runId;
}

export function workflowSleepScenarios(scenario: Scenario): void {
  scenario("a step sleeps until a time, without an attempt, and wakes with what it remembers", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    const at = kit.now + 5000;
    await workOn(kit, run, "a", until(at, "half"));
    const [asleep] = await kit.store.steps(run.id);
    assert.deepEqual([asleep?.task.state, asleep?.waiting], ["retrying", { for: "time", until: at }]);
    assert.deepEqual([asleep?.task.tries, asleep?.task.attempts], [0, []]);
    assert.deepEqual(await kit.store.lanesWithWork(), [{ lane: laneOfStep(run.id, 0), readyAt: at }]);
    kit.pass(5000);
    const awake = await takeStep(kit, run, "a");
    assert.deepEqual([awake.task.memory, awake.task.tries], ["half", 0]);
    await settleStep(kit, awake, DONE);
    assert.equal(await kit.status(run), "completed");
    assert.deepEqual((await kit.words(run)).slice(2, -1), ["Step a started", "Step a completed"]);
  });

  scenario("handing a woken step back keeps what it remembers", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    await workOn(kit, run, "a", until(kit.now, "half"));
    await workOn(kit, run, "a", { kind: "handed_back" });
    assert.equal((await takeStep(kit, run, "a")).task.memory, "half");
  });

  scenario("a child run that has ended is not opened again behind its workflow's back", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    await workOn(kit, run, "a", {
      kind: "wait",
      sleep: { memory: null, until: null, child: { run: CRAWL, tasks: [newTask("p"), newTask("q")] } },
    });
    const child = await childOf(kit, run.id);
    await kit.store.admitCrawls(10, kit.now);
    await kit.enter("A");
    const hold = await kit.take("A");
    const { tasks } = await kit.claim(hold);
    await kit.settle(hold, tasks.slice(0, 1), FAILED);
    const again = () => kit.store.retryFailed(child, { limit: 10 }, kit.now);
    assert.equal((await again()).requeued, 1, "while its step waits for it, what failed may be tried again");
    const rest = [...tasks.slice(1), ...(await kit.claim(hold)).tasks];
    await kit.settle(hold, rest, FAILED);
    await refused("illegal_transition", again());
    await workOn(kit, run, "a", FAILED);
    await refused("illegal_transition", again());
    assert.deepEqual((await kit.store.audit()).findings, []);
  });

  scenario("the child run appears with the sleep, its end wakes the step, and there is exactly one", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: ["a"] });
    const held = await takeStep(kit, run, "a");
    const { opened } = await settleStep(kit, held, forChild());
    assert.deepEqual(opened, [LANE]);
    const again = await kit.store.settle([{ hold: held.hold, tasks: [] }], kit.now);
    assert.deepEqual(again.lost, [held.hold.laneId]);
    const child = await childOf(kit, run.id);
    const [step] = await kit.store.steps(run.id);
    assert.deepEqual([step?.task.state, step?.childRuns], ["retrying", [child]]);
    assert.deepEqual(await kit.store.childRuns(step?.task.id ?? ""), [child]);
    assert.deepEqual((await kit.store.run(child))?.parent, { runId: run.id, taskId: step?.task.id });
    assert.equal((await kit.store.run(run.id))?.parent, null);
    // Only the lane of the child has something to do.
    assert.deepEqual(
      (await kit.store.lanesWithWork()).map(({ lane }) => lane),
      [LANE],
    );
    const lane = await kit.take("A");
    const settled = await kit.work(lane, DONE);
    assert.deepEqual(settled.ended, [{ runId: child, status: "completed" }]);
    assert.deepEqual(settled.opened, [laneOfStep(run.id, 0)]);
    const awake = await takeStep(kit, run, "a");
    assert.equal(awake.task.memory, "m");
    await settleStep(kit, awake, DONE);
    await workOn(kit, run, "b", DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("a step whose owner was replaced starts no child", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    const held = await takeStep(kit, run, "a");
    const other = await kit.takeOver("B", laneOfStep(run.id, 0));
    const settled = await settleStep(kit, held, forChild());
    assert.deepEqual(settled.lost, [held.hold.laneId]);
    assert.deepEqual(await kit.store.runs({ kind: "page", limit: 10 }), []);
    await kit.work(other, DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("a child that fails or is cancelled wakes its step, too", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: [] });
    await workOn(kit, run, "a", forChild());
    await workOn(kit, run, "b", forChild(CRAWL));
    await kit.work(await kit.take("A"), FAILED);
    assert.equal((await stateOfSteps(kit, run))["a"], "queued");
    await kit.store.changeRun(await childOf(kit, run.id, 1), "cancelled", "Run cancelled", kit.now);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "queued", b: "queued" });
    while ((await kit.store.sweepEnded(10, kit.now)) > 0);
  });

  scenario("the end of a child that nobody waits for any more wakes nobody", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    await workOn(kit, run, "a", forChild(PAGE, kit.now + 100));
    const first = await childOf(kit, run.id);
    kit.pass(100);
    // Its time is over: it leaves the first child to itself, and waits for another.
    const awake = await takeStep(kit, run, "a");
    await settleStep(kit, awake, forChild({ ...PAGE, url: "https://a.example/q" }));
    const [step] = await kit.store.steps(run.id);
    assert.equal(step?.childRuns.length, 2);
    await kit.store.changeRun(first, "cancelled", "Run cancelled", kit.now);
    assert.equal((await stateOfSteps(kit, run))["a"], "retrying");
    await kit.store.changeRun(await childOf(kit, run.id), "cancelled", "Run cancelled", kit.now);
    assert.equal((await stateOfSteps(kit, run))["a"], "queued");
    while ((await kit.store.sweepEnded(10, kit.now)) > 0);
  });

  scenario("a step ends the child runs that it does not wait for any more", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    await workOn(kit, run, "a", forChild(CRAWL, kit.now + 100));
    const child = await childOf(kit, run.id);
    kit.pass(100);
    const { hold, task } = await takeStep(kit, run, "a");
    await kit.report(hold, [task], FAILED, { cancelRuns: [child] });
    assert.equal((await kit.store.run(child))?.status, "cancelled");
    assert.equal(await kit.status(run), "failed");
    while ((await kit.store.sweepEnded(10, kit.now)) > 0);
  });

  scenario("cancelling a workflow cancels its child runs with the same stroke", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: [] });
    await workOn(kit, run, "a", forChild(CRAWL));
    await workOn(kit, run, "b", forChild());
    const children = [await childOf(kit, run.id), await childOf(kit, run.id, 1)];
    const version = await kit.store.controlVersion();
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    assert.ok((await kit.store.controlVersion()) > version);
    for (const child of children) assert.equal((await kit.store.run(child))?.status, "cancelled");
    while ((await kit.store.sweepEnded(10, kit.now)) > 0);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "cancelled", b: "cancelled" });
    assert.deepEqual(await kit.store.lanesWithWork(), []);
  });

  scenario("the crawl of a workflow waits its turn, and does not expire by itself", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    await workOn(kit, run, "a", forChild(CRAWL));
    const child = await childOf(kit, run.id);
    assert.deepEqual(await kit.store.crawlCounts(), { running: 0, queued: 1 });
    assert.deepEqual(await kit.store.lanesWithWork(), []);
    assert.deepEqual((await kit.store.admitCrawls(1, kit.now)).admitted, [child]);
    const lane = await kit.take("A");
    await kit.work(lane, { ...DONE, artifacts: [evidence("a")] } as Verdict);
    kit.pass(1e9);
    assert.equal(await kit.store.expireRuns(temporary(kit.now), 10, kit.now), 0);
    await workOn(kit, run, "a", DONE);
    assert.equal((await kit.store.run(child))?.status, "completed");
  });

  scenario("while a workflow is paused, the end of a child wakes its step for later", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    await workOn(kit, run, "a", forChild());
    await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
    await kit.work(await kit.take("A"), DONE);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "queued" });
    assert.deepEqual(await kit.store.lanesWithWork(), []);
    await kit.store.changeRun(run.id, "running", "Run resumed", kit.now);
    await workOn(kit, run, "a", DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("the time of a sleeping step passes in steps, and only while its workflow runs", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: [] });
    await workOn(kit, run, "a", { kind: "wait", sleep: { memory: "m", until: null, leftMs: 3000 } });
    await workOn(kit, run, "b", until(null));
    const id = (await kit.store.steps(run.id))[0]!.task.id;
    const left = () => kit.store.stepTimeLeft(id, kit.now);
    const step = (ms: number, wall = ms) => {
      kit.clock.wall += wall;
      return kit.store.passStepTime(ms, kit.now);
    };
    assert.deepEqual(await step(500), []);
    assert.equal(await left(), 2500);
    // The clock is set forward, then back.
    assert.deepEqual(await step(500, 3_600_000), []);
    assert.equal(await left(), 2000);
    await step(500, -3_600_000);
    await step(500);
    assert.equal(await left(), 1500);
    // Nobody worked: whoever begins to counts from then on.
    await step(0, 3_600_000);
    assert.equal(await left(), 1500);
    await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
    assert.deepEqual(await step(3000), []);
    assert.equal(await left(), 1500);
    await kit.store.changeRun(run.id, "running", "Run resumed", kit.now);
    assert.deepEqual(await step(1000), []);
    assert.deepEqual(await step(500), [laneOfStep(run.id, 0)]);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "queued", b: "retrying" });
    // In hand it is its owner who looks at the time.
    assert.deepEqual(await step(5000), []);
    const awake = await takeStep(kit, run, "a");
    assert.deepEqual([awake.task.memory, await left()], ["m", 0]);
    await settleStep(kit, awake, DONE);
    await step(500);
    assert.equal(await left(), null);
  });

  scenario("failed steps are not tried again one by one", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    await workOn(kit, run, "a", FAILED);
    await refused("illegal_transition", kit.store.retryFailed(run.id, { limit: 10 }, kit.now));
    await refused("illegal_transition", kit.store.changeRun(run.id, "running", "Run resumed", kit.now));
    assert.equal(await kit.status(run), "failed");
  });
}
