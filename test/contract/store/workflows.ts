import assert from "node:assert/strict";
import { failure } from "../../../src/domain/run/failure.ts";
import type { RunRecord, Settled } from "../../../src/store/ports/port.ts";
import { laneOfStep } from "../../../src/domain/workflow/definition.ts";
import { DONE, FAILED, type Kit, type Scenario, SKIPPED, type Verdict } from "./kit.ts";
import {
  newWorkflow,
  settleStep,
  sketchWorkflow,
  stateOfSteps,
  takeStep,
  type StepSketch,
  workOn,
} from "./workflow-kit.ts";

/** b and c wait for a, d for both. */
const DIAMOND: StepSketch = { a: [], b: ["a"], c: ["a"], d: ["b", "c"] };

export function workflowScenarios(scenario: Scenario): void {
  scenario("a workflow appears with its steps, and does nothing until it is started", async (kit) => {
    const run = await newWorkflow(kit, DIAMOND, { start: false });
    assert.equal(run.status, "queued");
    assert.deepEqual(await stateOfSteps(kit, run), { a: "pending", b: "pending", c: "pending", d: "pending" });
    assert.deepEqual(await kit.store.lanesWithWork(), []);
    const record = await kit.store.workflow(run.id);
    assert.deepEqual([record?.totalSteps, record?.currentStep, record?.lastCheckpoint], [4, 0, null]);

    kit.pass(10);
    const started = await kit.store.startWorkflow(run.id, kit.now);
    assert.deepEqual([started.run.status, started.run.startedAt], ["running", kit.now]);
    assert.deepEqual(started.lanes, [laneOfStep(run.id, 0)]);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "queued", b: "pending", c: "pending", d: "pending" });
    const again = await kit.store.startWorkflow(run.id, kit.now);
    assert.deepEqual([again.run.status, again.lanes], ["running", []]);
    assert.deepEqual(await kit.words(run), ["Run created", "Run started"]);
  });

  scenario("a step that ends opens those that waited for it alone, in the same transaction", async (kit) => {
    const run = await newWorkflow(kit, DIAMOND);
    const opened = async (step: string, verdict: Verdict) => (await workOn(kit, run, step, verdict)).opened;
    assert.deepEqual(await opened("a", DONE), [laneOfStep(run.id, 1), laneOfStep(run.id, 2)]);
    assert.deepEqual(await opened("c", DONE), []);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "completed", b: "queued", c: "completed", d: "pending" });
    assert.equal((await kit.store.workflow(run.id))?.currentStep, 1);
    assert.deepEqual(await opened("b", DONE), [laneOfStep(run.id, 3)]);
    const last = await workOn(kit, run, "d", DONE);
    assert.deepEqual(last.ended, [{ runId: run.id, status: "completed" }]);
    const record = await kit.store.workflow(run.id);
    assert.deepEqual([record?.run.status, record?.run.progress, record?.currentStep], ["completed", 100, 4]);
    assert.equal(record?.errorMessage, null);
    assert.equal(record?.lastCheckpoint, kit.now);
  });

  scenario(
    "what waits for a failed step is skipped at once, other branches go on, and the run has failed",
    async (kit) => {
      const run = await newWorkflow(kit, { a: [], b: ["a"], c: ["b"], d: [], e: ["d"] });
      await workOn(kit, run, "a", FAILED);
      assert.deepEqual(await stateOfSteps(kit, run), {
        a: "failed",
        b: "skipped",
        c: "skipped",
        d: "queued",
        e: "pending",
      });
      const steps = await kit.store.steps(run.id);
      assert.deepEqual(steps[2]?.task.detail, { why: "step a failed" });
      assert.equal((await kit.store.workflow(run.id))?.errorMessage, "step a failed: gone");
      await workOn(kit, run, "d", DONE);
      const { ended } = await workOn(kit, run, "e", DONE);
      assert.deepEqual(ended, [{ runId: run.id, status: "failed" }]);
      const found = await kit.store.run(run.id);
      assert.deepEqual([found?.message, found?.progress], ["Run failed: step a failed: gone", 40]);
      assert.deepEqual(await kit.ends(run), ["Run failed: step a failed: gone"]);
    },
  );

  scenario("a step that waits for very many others opens with the last of them [slow]", async (kit) => {
    const first = Array.from({ length: 130 }, (_, n) => `s${n}`);
    const sketch = Object.fromEntries([...first.map((name) => [name, []] as const), ["last", first] as const]);
    const run = await newWorkflow(kit, sketch);
    for (const name of first.slice(0, -1)) await workOn(kit, run, name, DONE);
    assert.equal((await stateOfSteps(kit, run))["last"], "pending");
    await workOn(kit, run, first.at(-1)!, DONE);
    assert.equal((await stateOfSteps(kit, run))["last"], "queued");
  });

  scenario("a step that was not needed counts as ended well", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: ["a"] });
    await workOn(kit, run, "a", SKIPPED);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "skipped", b: "queued" });
    await workOn(kit, run, "b", SKIPPED);
    assert.equal(await kit.status(run), "completed");
    assert.deepEqual((await kit.words(run)).slice(2), [
      "Step a started",
      "Step a skipped: unchanged",
      "Step b started",
      "Step b skipped: unchanged",
      "Run completed: 0 of 2 steps done, 2 skipped",
    ]);
  });

  scenario("some steps are read without the others, in their order", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: [], c: ["a"], d: [] });
    await newWorkflow(kit, { e: [] });
    await workOn(kit, run, "b", DONE);
    const all = await kit.store.steps(run.id);
    assert.deepEqual(await kit.store.steps(run.id, [3, 1]), [all[1], all[3]]);
    assert.deepEqual([await kit.store.steps(run.id, []), await kit.store.steps(run.id, [9])], [[], []]);
  });

  scenario("a step tells when it began; taking it up again after a crash is no second beginning", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: ["a"] });
    const begun = (kit.pass(5), kit.now);
    const lane = laneOfStep(run.id, 0);
    await kit.claim(await kit.take("A", lane));
    kit.pass(50);
    const other = await kit.takeOver("B", lane);
    assert.equal(other.recovered, 1);
    const { tasks } = await kit.claim(other);
    kit.pass(50);
    await kit.settle(other, tasks, DONE);
    const [a, b] = await kit.store.steps(run.id);
    assert.deepEqual([a?.startedAt, a?.task.endedAt, a?.engineTaskId], [begun, begun + 100, lane]);
    assert.deepEqual([b?.startedAt, b?.engineTaskId, b?.dependencies], [null, null, [0]]);
    assert.deepEqual((await kit.words(run)).slice(2), ["Step a started", "Step a completed"]);
  });

  scenario("a step in hand, or an entry of its list, says how often it may be tried", async (kit) => {
    const [a, b] = sketchWorkflow({ a: [], b: [] }).steps;
    const run = await newWorkflow(
      kit,
      {},
      {
        steps: [
          { ...a!, maxRetries: 0 },
          { ...b!, maxRetries: 7 },
        ],
      },
    );
    assert.equal((await takeStep(kit, run, "a")).task.maxAttempts, 1);
    const held = await takeStep(kit, run, "b");
    assert.equal(held.task.maxAttempts, 8);
    await kit.store.addStepItems(held.hold, held.task, { listHash: "h", first: 0, values: [1] }, kit.now);
    const items = { concurrency: 1, stopAtFailure: false };
    await settleStep(kit, held, { kind: "wait", sleep: { memory: null, until: null, items } });
    assert.equal((await takeStep(kit, run, "b", 0)).task.maxAttempts, 8);
  });

  scenario("a step that is tried again says when, and begins with nothing in its memory", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    const lane = await kit.take("A", laneOfStep(run.id, 0));
    const { tasks } = await kit.claim(lane);
    const verdict: Verdict = { kind: "retry", failure: failure("internal", "oh"), readyAt: kit.now + 2000 };
    await kit.settle(lane, tasks, verdict);
    assert.deepEqual((await kit.claim(lane)).tasks, []);
    kit.pass(2000);
    const again = await kit.claim(lane);
    assert.deepEqual([again.tasks[0]?.tries, again.tasks[0]?.memory], [1, null]);
    await kit.settle(lane, again.tasks, DONE);
    assert.deepEqual((await kit.words(run)).slice(2, -1), [
      "Step a started",
      "Retry scheduled: step a, attempt 2 of 4 in 2 s, because oh",
      "Step a completed",
    ]);
  });

  scenario("while it is paused nothing of a workflow is handed out; what ends meanwhile counts", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: ["a"] });
    const lane = await kit.take("A", laneOfStep(run.id, 0));
    const { tasks } = await kit.claim(lane);
    await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
    await kit.settle(lane, tasks, DONE);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "completed", b: "queued" });
    assert.deepEqual(await kit.store.lanesWithWork("A"), []);
    await kit.store.changeRun(run.id, "running", "Run resumed", kit.now);
    assert.deepEqual(await kit.store.lanesWithWork(), [{ lane: laneOfStep(run.id, 1), readyAt: 0 }]);
    await workOn(kit, run, "b", DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("a workflow that is paused before its start begins when it is resumed", async (kit) => {
    const run = await newWorkflow(kit, { a: [] }, { start: false });
    await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
    await kit.store.changeRun(run.id, "running", "Run resumed", kit.now);
    await workOn(kit, run, "a", DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario(
    "of a cancelled workflow nothing is handed out, what comes late is dropped, the rest is swept",
    async (kit) => {
      const run = await newWorkflow(kit, DIAMOND);
      const lane = await kit.take("A", laneOfStep(run.id, 0));
      const { tasks } = await kit.claim(lane);
      await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
      const late: Settled = await kit.settle(lane, tasks, DONE);
      assert.deepEqual([late.opened, late.dropped], [[], [tasks[0]?.row]]);
      while ((await kit.store.sweepEnded(2, kit.now)) > 0);
      assert.deepEqual(new Set(Object.values(await stateOfSteps(kit, run))), new Set(["cancelled"]));
      assert.equal((await kit.store.workflow(run.id))?.currentStep, 4);
      await recoveryIsRefused(kit, run);
    },
  );
}

async function recoveryIsRefused(kit: Kit, run: RunRecord): Promise<void> {
  await assert.rejects(kit.store.recoverWorkflow(run.id, null, kit.now), { code: "illegal_transition" });
}
