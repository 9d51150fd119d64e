import assert from "node:assert/strict";
import { laneOfStep } from "../../../src/domain/workflow/definition.ts";
import type { RunRecord } from "../../../src/store/ports/port.ts";
import { DONE, FAILED, type Kit, LANE, newTask, type Scenario, SKIPPED, type Verdict, walk } from "./kit.ts";
import { newWorkflow, settleStep, stateOfSteps, takeStep, workOn } from "./workflow-kit.ts";

const RETRY: Verdict = { ...FAILED, kind: "retry", readyAt: 0 } as Verdict;

function sleepFor(concurrency: number, stopAtFailure = false, until: number | null = null): Verdict {
  return { kind: "wait", sleep: { memory: "expanded", until, items: { concurrency, stopAtFailure } } };
}

/** The step expands its list, and sleeps until all entries have ended. */
async function expand(
  kit: Kit,
  run: RunRecord,
  values: readonly string[],
  sleep: Verdict = sleepFor(2),
  listHash = values.join(),
) {
  const held = await takeStep(kit, run, "a");
  assert.equal(await kit.store.addStepItems(held.hold, held.task, { listHash, first: 0, values }, kit.now), true);
  return settleStep(kit, held, sleep);
}

async function itemStates(kit: Kit, run: RunRecord): Promise<string[]> {
  return (await kit.store.stepItems(run.id, 0, { limit: 1000 })).map(({ state }) => state);
}

async function itemCounts(kit: Kit, run: RunRecord) {
  return (await kit.store.steps(run.id))[0]?.items;
}

const slot = (run: RunRecord, number: number) => laneOfStep(run.id, 0, number);

export function workflowItemScenarios(scenario: Scenario): void {
  scenario("entries of a list take turns in their slots, and the step wakes when the last has ended", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: ["a"] });
    const { opened } = await expand(kit, run, ["x", "y", "z"]);
    assert.deepEqual(opened, [slot(run, 0), slot(run, 1)]);
    assert.deepEqual(await itemStates(kit, run), ["queued", "queued", "pending"]);
    const [step] = await kit.store.steps(run.id);
    assert.deepEqual(step?.waiting, { for: "items", open: 3 });
    assert.deepEqual(step?.items, { total: 3, open: 3, completed: 0, failed: 0, skipped: 0 });
    const first = await takeStep(kit, run, 0, 1);
    assert.deepEqual(first.task.payload, { step: 0, item: { index: 1, value: "y" } });
    assert.deepEqual([first.task.auxiliary, first.task.handler], [true, "@step"]);
    assert.deepEqual((await settleStep(kit, first, DONE)).opened, [slot(run, 1)]);
    assert.deepEqual(await itemStates(kit, run), ["queued", "completed", "queued"]);
    await workOn(kit, run, 0, FAILED, 1);
    const last = await workOn(kit, run, 0, SKIPPED, 0);
    assert.deepEqual(last.opened, [laneOfStep(run.id, 0)]);
    assert.deepEqual(await itemCounts(kit, run), { total: 3, open: 0, completed: 1, failed: 1, skipped: 1 });
    const awake = await takeStep(kit, run, "a");
    assert.equal(awake.task.memory, "expanded");
    await settleStep(kit, awake, DONE);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "completed", b: "queued" });
    // Steps are what a workflow counts; entries make no events of their own.
    assert.deepEqual(await kit.counts(run), { completed: 1, queued: 1 });
    assert.deepEqual((await kit.words(run)).slice(2), ["Step a started", "Step a completed"]);
  });

  scenario("an empty list is done at once", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    const { opened } = await expand(kit, run, []);
    assert.deepEqual(opened, [laneOfStep(run.id, 0)]);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "queued" });
    await workOn(kit, run, "a", DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("long lists are added a piece at a time, and read in order", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: [] });
    const held = await takeStep(kit, run, "a");
    const other = await takeStep(kit, run, "b");
    for (let first = 0; first < 50; first += 10) {
      for (const one of [held, other])
        await kit.store.addStepItems(
          one.hold,
          one.task,
          { listHash: "h", first, values: Array.from({ length: 10 }, (_, index) => first + index) },
          kit.now,
        );
    }
    await settleStep(kit, held, sleepFor(3));
    await settleStep(kit, other, sleepFor(1));
    const list = await walk((position) => kit.store.stepItems(run.id, 1, position), 7);
    assert.deepEqual(
      list.map(({ payload }) => (payload as { item: { value: number } }).item.value),
      Array.from({ length: 50 }, (_, index) => index),
    );
    assert.equal((await kit.store.stepItems(run.id, 0, { states: ["queued"], limit: 100 })).length, 3);
  });

  scenario(
    "after a failure no more are begun where the list is to stop, and the step says what is skipped",
    async (kit) => {
      const run = await newWorkflow(kit, { a: [] });
      await expand(kit, run, ["1", "2", "3", "4", "5"], sleepFor(2, true));
      await workOn(kit, run, 0, FAILED, 0);
      assert.deepEqual(await itemStates(kit, run), ["failed", "queued", "pending", "pending", "pending"]);
      const last = await workOn(kit, run, 0, DONE, 1);
      assert.deepEqual(last.opened, [laneOfStep(run.id, 0)]);
      const { hold, task } = await takeStep(kit, run, "a");
      assert.equal(await kit.store.skipStepItems(hold, task, 2, "an entry failed", kit.now), 2);
      assert.equal(await kit.store.skipStepItems(hold, task, 2, "an entry failed", kit.now), 1);
      assert.equal(await kit.store.skipStepItems(hold, task, 2, "an entry failed", kit.now), 0);
      await settleStep(kit, { hold, task }, FAILED);
      assert.deepEqual(await itemCounts(kit, run), { total: 5, open: 0, completed: 1, failed: 1, skipped: 3 });
      assert.equal(await kit.status(run), "failed");
    },
  );

  scenario("entries are read by their size, and the next piece begins behind them", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    const held = await takeStep(kit, run, "a");
    const values = ["x".repeat(100), "y".repeat(100), "z".repeat(100)];
    await kit.store.addStepItems(held.hold, held.task, { listHash: "h", first: 0, values }, kit.now);
    const piece = async (after?: string) =>
      kit.store.stepItems(run.id, 0, { limit: 10, mostBytes: 200, ...(after === undefined ? {} : { after }) });
    const first = await piece();
    const second = await piece(first.at(-1)?.id);
    assert.deepEqual([first.length, second.length, await piece(second.at(-1)?.id)], [2, 1, []]);
    assert.equal((await kit.store.stepItems(run.id, 0, { limit: 10, mostBytes: 1 })).length, 1);
  });

  scenario("an entry that is tried again or sleeps keeps its slot", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    await expand(kit, run, ["1", "2"], sleepFor(1));
    await workOn(kit, run, 0, RETRY, 0);
    assert.deepEqual(await itemStates(kit, run), ["retrying", "pending"]);
    const child = { run: { kind: "page", maxAttempts: 1, snapshot: {} }, tasks: [newTask("p")] } as const;
    await workOn(kit, run, 0, { kind: "wait", sleep: { memory: 1, until: null, child } }, 0);
    assert.deepEqual(await itemStates(kit, run), ["retrying", "pending"]);
    const settled = await kit.work(await kit.take("A"), DONE);
    assert.deepEqual(settled.opened, [slot(run, 0)]);
    await workOn(kit, run, 0, DONE, 0);
    await workOn(kit, run, 0, DONE, 0);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "queued" });
  });

  scenario(
    "a step that fails while entries are open ends them and their child runs; what they bring is dropped",
    async (kit) => {
      const run = await newWorkflow(kit, { a: [] });
      await expand(kit, run, ["1", "2", "3", "4"], sleepFor(3, false, kit.now + 100));
      const child = { run: { kind: "crawl", maxAttempts: 1, snapshot: {} }, tasks: [newTask("p")] } as const;
      await workOn(kit, run, 0, { kind: "wait", sleep: { memory: 1, until: null, child } }, 0);
      const running = await takeStep(kit, run, 0, 1);
      kit.pass(100);
      await workOn(kit, run, "a", FAILED);
      assert.deepEqual(await itemStates(kit, run), ["cancelled", "cancelled", "cancelled", "skipped"]);
      const [crawl] = await kit.store.runs({ kind: "crawl", limit: 1 });
      assert.equal(crawl?.status, "cancelled");
      const late = await settleStep(kit, running, DONE);
      assert.deepEqual(late.dropped, [running.task.row]);
      assert.equal(await kit.status(run), "failed");
      while ((await kit.store.sweepEnded(10, kit.now)) > 0);
    },
  );

  scenario("a step that begins anew keeps what its list has completed, if it is the same list", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    await expand(kit, run, ["1", "2", "3"], sleepFor(3));
    await workOn(kit, run, 0, DONE, 0);
    await workOn(kit, run, 0, FAILED, 1);
    await workOn(kit, run, 0, DONE, 2);
    await workOn(kit, run, "a", RETRY);
    await expand(kit, run, ["1", "2", "3"], sleepFor(3));
    assert.deepEqual(await itemStates(kit, run), ["completed", "queued", "completed"]);
    assert.deepEqual(await itemCounts(kit, run), { total: 3, open: 1, completed: 2, failed: 0, skipped: 0 });
    await workOn(kit, run, 0, FAILED, 0);
    await workOn(kit, run, "a", RETRY);
    // Another list begins from its first entry, and nothing of the one before is seen.
    await expand(kit, run, ["1", "x"], sleepFor(3));
    assert.deepEqual(await itemStates(kit, run), ["queued", "queued"]);
    assert.deepEqual(await itemCounts(kit, run), { total: 2, open: 2, completed: 0, failed: 0, skipped: 0 });
  });

  scenario("an owner that lost the step adds nothing to it", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    const { hold, task } = await takeStep(kit, run, "a");
    await kit.takeOver("B", laneOfStep(run.id, 0));
    const part = { listHash: "h", first: 0, values: [1] };
    assert.equal(await kit.store.addStepItems(hold, task, part, kit.now), null);
    assert.equal(await kit.store.skipStepItems(hold, task, 10, "why", kit.now), null);
    assert.equal(await kit.store.noteStepProgress(hold, task, { fraction: 0.5, message: null }, kit.now), null);
    assert.equal((await kit.store.steps(run.id))[0]?.items, null);
  });

  scenario("the entries of a cancelled workflow are swept a piece at a time", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: ["a"] });
    await expand(kit, run, ["1", "2", "3", "4", "5"], sleepFor(2));
    await workOn(kit, run, 0, DONE, 0);
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    const swept: number[] = [];
    for (;;) {
      const count = await kit.store.sweepEnded(3, kit.now);
      if (count === 0) break;
      swept.push(count);
    }
    assert.deepEqual(swept, [3, 3]);
    assert.deepEqual(await itemStates(kit, run), ["completed", ...Array<string>(4).fill("cancelled")]);
    assert.deepEqual(await itemCounts(kit, run), { total: 5, open: 0, completed: 1, failed: 0, skipped: 4 });
  });

  scenario("steps and entries are found by the name that the engine knows them by", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: [] });
    assert.equal(await kit.store.stepByEngineId(laneOfStep(run.id, 1)), null);
    await expand(kit, run, ["1", "2", "3"], sleepFor(1));
    await workOn(kit, run, 0, DONE, 0);
    const second = await takeStep(kit, run, 0, 0);
    const item = await kit.store.stepByEngineId(slot(run, 0));
    assert.deepEqual([item?.runId, item?.step.name, item?.item?.id], [run.id, "a", second.task.id]);
    await settleStep(kit, second, DONE);
    await workOn(kit, run, 0, DONE, 0);
    const last = await kit.store.stepByEngineId(slot(run, 0));
    assert.deepEqual(last?.item?.payload, { step: 0, item: { index: 2, value: "3" } });
    const step = await kit.store.stepByEngineId(laneOfStep(run.id, 0));
    assert.deepEqual([step?.step.name, step?.item], ["a", null]);
    for (const name of [LANE, "step.x.0", laneOfStep(run.id, 9), "step"])
      assert.equal(await kit.store.stepByEngineId(name), null);
  });
}
