import assert from "node:assert/strict";
import { laneOfStep } from "../../../src/domain/workflow/definition.ts";
import type { RunRecord } from "../../../src/store/ports/port.ts";
import { attempt, DONE, FAILED, type Kit, refused, refusedField, type Scenario, SKIPPED, type Verdict } from "./kit.ts";
import { newWorkflow, settleStep, stateOfSteps, takeStep, workOn } from "./workflow-kit.ts";

const FILE = { hash: "a".repeat(64), size: 3, contentType: "text/plain", url: "https://a.example/a" };
const WITH_FILE: Verdict = { kind: "completed", artifacts: [FILE], results: [{ n: 1 }], detail: null };

async function recover(kit: Kit, run: RunRecord, from: number | null = null): Promise<string[]> {
  const recovering = await kit.store.recoverWorkflow(run.id, from, kit.now);
  assert.equal(recovering.status, "recovering");
  const { lanes, more } = await kit.store.takeUpRecoveries(1000, kit.now);
  assert.equal(more, false);
  return lanes;
}

/** The step goes through a list of two, always the same. */
async function expand(kit: Kit, run: RunRecord, step: string): Promise<void> {
  const held = await takeStep(kit, run, step);
  await kit.store.addStepItems(held.hold, held.task, { listHash: "h", first: 0, values: ["x", "y"] }, kit.now);
  const items = { concurrency: 2, stopAtFailure: false };
  await settleStep(kit, held, { kind: "wait", sleep: { memory: null, until: null, items } });
}

export function workflowRecoveryScenarios(scenario: Scenario): void {
  scenario("a recovered workflow does again what did not end well, and nothing else", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: ["a"], c: ["b"], d: [], e: [] });
    await workOn(kit, run, "a", WITH_FILE);
    await workOn(kit, run, "d", SKIPPED);
    await workOn(kit, run, "b", FAILED);
    await workOn(kit, run, "e", FAILED);
    assert.equal(await kit.status(run), "failed");
    const ended = await kit.store.run(run.id);
    kit.pass(10);
    assert.deepEqual(await recover(kit, run), [laneOfStep(run.id, 1), laneOfStep(run.id, 4)]);
    assert.deepEqual(await stateOfSteps(kit, run), {
      a: "completed",
      b: "queued",
      c: "pending",
      d: "skipped",
      e: "queued",
    });
    const again = await kit.store.workflow(run.id);
    assert.deepEqual([again?.run.status, again?.run.generation], ["running", (ended?.generation ?? 0) + 1]);
    assert.deepEqual([again?.recoveryAttempts, again?.errorMessage, again?.currentStep], [1, null, 1]);
    assert.equal(again?.run.progress, 40);
    assert.deepEqual(await kit.store.runErrors(run.id), []);
    const [a, b] = await kit.store.steps(run.id);
    assert.equal((await kit.store.artifactsOf(a?.task.id ?? "")).length, 1);
    assert.deepEqual([b?.startedAt, b?.task.tries, b?.task.attempts], [null, 0, [attempt(1)]]);
    for (const step of ["b", "c", "e"]) await workOn(kit, run, step, DONE);
    assert.equal(await kit.status(run), "completed");
    assert.equal((await kit.ends(run)).length, 2);
  });

  scenario("from a named step on, it and all that follow from it are done again", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: ["a"], c: ["a"], d: ["b"] });
    await workOn(kit, run, "a", DONE);
    await workOn(kit, run, "b", WITH_FILE);
    await workOn(kit, run, "c", DONE);
    await workOn(kit, run, "d", FAILED);
    const [, before] = await kit.store.steps(run.id);
    assert.equal((await kit.store.resultsOf(before?.task.id ?? "")).length, 1);
    assert.deepEqual(await recover(kit, run, 1), [laneOfStep(run.id, 1)]);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "completed", b: "queued", c: "completed", d: "pending" });
    // What it had left is gone until it completes again.
    assert.deepEqual(await kit.store.resultsOf(before?.task.id ?? ""), []);
    assert.deepEqual(await kit.store.artifactsOf(before?.task.id ?? ""), []);
    await workOn(kit, run, "b", WITH_FILE);
    await workOn(kit, run, "d", DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("a recovered workflow is at the step it begins with, also before a worker takes it up", async (kit) => {
    const stepOf = async (run: RunRecord) => (await kit.store.workflow(run.id))?.currentStep;
    for (const [from, at] of [
      [null, 2],
      [1, 1],
    ] as const) {
      const run = await newWorkflow(kit, { a: [], b: ["a"], c: ["b"] });
      await workOn(kit, run, "a", DONE);
      await workOn(kit, run, "b", DONE);
      await workOn(kit, run, "c", FAILED);
      await kit.store.recoverWorkflow(run.id, from, kit.now);
      assert.equal(await stepOf(run), at);
      await kit.store.takeUpRecoveries(1000, kit.now);
      assert.equal(await stepOf(run), at);
    }
  });

  scenario("what else failed stays failed, and what waits for it is skipped once more", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: [], c: ["a", "b"], d: ["a"] });
    await workOn(kit, run, "a", FAILED);
    await workOn(kit, run, "b", FAILED);
    await recover(kit, run, 0);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "queued", b: "failed", c: "skipped", d: "pending" });
    await workOn(kit, run, "a", DONE);
    await workOn(kit, run, "d", DONE);
    assert.equal(await kit.status(run), "failed");
    assert.equal((await kit.store.workflow(run.id))?.errorMessage, "step b failed: gone");
    await recover(kit, run);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "completed", b: "queued", c: "pending", d: "completed" });
  });

  scenario("a step whose dependency did not end well cannot be begun with", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: ["a"] });
    await workOn(kit, run, "a", FAILED);
    await refusedField("from_step", kit.store.recoverWorkflow(run.id, 1, kit.now));
    await refusedField("from_step", kit.store.recoverWorkflow(run.id, 7, kit.now));
    assert.equal((await kit.store.workflow(run.id))?.recoveryAttempts, 0);
  });

  scenario("there are as many recoveries as the workflow allows", async (kit) => {
    const run = await newWorkflow(kit, { a: [] }, { maxRecoveryAttempts: 2 });
    await refused("illegal_transition", kit.store.recoverWorkflow(run.id, null, kit.now));
    await workOn(kit, run, "a", FAILED);
    for (const _ of [1, 2]) {
      await recover(kit, run);
      await workOn(kit, run, "a", FAILED);
    }
    await refused("recovery_exhausted", kit.store.recoverWorkflow(run.id, null, kit.now));
    assert.equal(await kit.status(run), "failed");
    assert.equal((await kit.store.steps(run.id))[0]?.task.attempts.length, 3);
  });

  scenario("recoveries that wait are taken up one after the other; one that is cancelled is not", async (kit) => {
    const runs: RunRecord[] = [];
    for (const _ of [1, 2, 3]) {
      const run = await newWorkflow(kit, { a: [], b: ["a"] });
      await workOn(kit, run, "a", FAILED);
      await kit.store.recoverWorkflow(run.id, null, kit.now);
      runs.push(run);
    }
    const [first, second, third] = runs as [RunRecord, RunRecord, RunRecord];
    await refused("illegal_transition", kit.store.changeRun(third.id, "running", "Run resumed", kit.now));
    await kit.store.changeRun(second.id, "cancelled", "Run cancelled", kit.now);
    const one = await kit.store.takeUpRecoveries(1, kit.now);
    assert.deepEqual(one, { lanes: [laneOfStep(first.id, 0)], more: true });
    assert.deepEqual(await kit.store.takeUpRecoveries(100, kit.now), { lanes: [laneOfStep(third.id, 0)], more: false });
    assert.deepEqual(await kit.store.takeUpRecoveries(100, kit.now), { lanes: [], more: false });
    assert.equal(await kit.status(second), "cancelled");
  });

  scenario(
    "entries are done again when their step was completed, or follows from one that is done again",
    async (kit) => {
      const run = await newWorkflow(kit, { a: [], b: ["a"], c: ["b"] });
      const entries = async () => (await kit.store.stepItems(run.id, 1, { limit: 10 })).map(({ state }) => state);
      const again = async (end: Verdict) => {
        await expand(kit, run, "b");
        assert.deepEqual(await entries(), ["queued", "queued"]);
        for (const slot of [0, 1]) await workOn(kit, run, "b", DONE, slot);
        await workOn(kit, run, "b", end);
      };
      await workOn(kit, run, "a", DONE);
      await again(DONE);
      await workOn(kit, run, "c", FAILED);
      // Whoever names a step that completed means all of it.
      await recover(kit, run, 1);
      await again(FAILED);
      // The params of the entries may name what the first step gives, which may be something else now.
      await recover(kit, run, 0);
      await workOn(kit, run, "a", DONE);
      await again(DONE);
      await workOn(kit, run, "c", DONE);
      assert.equal(await kit.status(run), "completed");
    },
  );

  scenario("a recovered step goes on with the entries of its list that completed", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    await expand(kit, run, "a");
    await workOn(kit, run, 0, WITH_FILE, 0);
    await workOn(kit, run, 0, FAILED, 1);
    await workOn(kit, run, "a", FAILED);
    await recover(kit, run);
    assert.equal((await kit.store.steps(run.id))[0]?.items, null);
    await expand(kit, run, "a");
    const items = await kit.store.stepItems(run.id, 0, { limit: 10 });
    assert.deepEqual(
      items.map(({ state }) => state),
      ["completed", "queued"],
    );
    assert.equal((await kit.store.artifactsOf(items[0]?.id ?? "")).length, 1);
    await workOn(kit, run, 0, DONE, 0);
    await workOn(kit, run, "a", DONE);
    assert.equal(await kit.status(run), "completed");
  });
}
