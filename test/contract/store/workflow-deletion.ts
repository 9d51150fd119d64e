import assert from "node:assert/strict";
import { laneOfStep } from "../../../src/domain/workflow/definition.ts";
import type { RunRecord, Store } from "../../../src/store/ports/port.ts";
import { DONE, FAILED, type Kit, LANE, newTask, NOBODY, refused, type Scenario, type Verdict } from "./kit.ts";
import { newWorkflow, settleStep, sketchWorkflow, takeStep, workOn } from "./workflow-kit.ts";

const file = (letter: string) => ({ hash: letter.repeat(64), size: 3, contentType: null, url: "https://a.example/" });
const withFile = (letter: string) => ({ ...DONE, artifacts: [file(letter)], results: [{ n: 1 }] }) as typeof DONE;

function forChild(kind: "crawl" | "page", budget = "resolver:mine"): Verdict {
  const run = { kind, maxAttempts: 3, snapshot: { options: {} }, budget: { key: budget, cap: 3 } };
  return { kind: "wait", sleep: { memory: null, until: null, child: { run, tasks: [newTask("p")] } } };
}

/** a has waited for a crawl, list had three entries, b comes after both, and fails if it is told to. */
async function endedWorkflow(kit: Kit, last: Verdict = DONE): Promise<{ run: RunRecord; child: string }> {
  const run = await newWorkflow(kit, { a: [], list: [], b: ["a", "list"] });
  await workOn(kit, run, "a", forChild("crawl"));
  const child = (await kit.store.steps(run.id))[0]?.childRuns[0] ?? "";
  await kit.store.admitCrawls(10, kit.now);
  const lane = await kit.take("A");
  await kit.work(lane, withFile("c"));
  await kit.store.releaseLane(lane);
  await workOn(kit, run, "a", withFile("a"));
  const held = await takeStep(kit, run, "list");
  await kit.store.addStepItems(held.hold, held.task, { listHash: "h", first: 0, values: [1, 2, 3] }, kit.now);
  const items = { concurrency: 2, stopAtFailure: false };
  await settleStep(kit, held, { kind: "wait", sleep: { memory: null, until: null, items } });
  for (const slot of [0, 1, 0]) await workOn(kit, run, "list", withFile("e"), slot);
  await workOn(kit, run, "list", DONE);
  await workOn(kit, run, "b", last);
  return { run, child };
}

/** As an engine does; the books are right at each point, however often somebody else goes on with it. */
async function removeAll(kit: Kit, limit: number): Promise<number> {
  const second = await kit.open();
  let removed = 0;
  for (let turn = 0; ; turn += 1) {
    const part = await (turn % 2 === 0 ? kit.store : second).removeExpired(limit);
    if (part === 0) return removed;
    assert.ok(part <= limit + 1, `${part} rows at once`);
    removed += part;
    await kit.expectClean();
  }
}

async function nobodySees(store: Store, run: string, child: string, lane: string): Promise<void> {
  assert.equal(await store.workflow(run), null);
  assert.deepEqual(await store.workflows({ limit: 10 }), []);
  assert.deepEqual(await store.workflows({ limit: 10, q: run }), []);
  assert.deepEqual(await store.runs({ limit: 10 }), []);
  assert.equal((await store.runStates([run, child])).size, 0);
  assert.equal(await store.stepByEngineId(lane), null);
  assert.deepEqual(await store.stepDurations({ name: "w" }, 5), new Map());
  for (const id of [run, child]) {
    assert.equal(await store.run(id), null);
    await refused("not_found", store.events(id, { limit: 10 }));
    await refused("not_found", store.results(id, { limit: 10 }));
    await refused("not_found", store.tasks(id, { limit: 10 }));
  }
  await refused("not_found", store.steps(run));
  await refused("not_found", store.stepItems(run, 1, { limit: 10 }));
}

export function workflowDeletionScenarios(scenario: Scenario): void {
  for (const [how, last] of [
    ["completed", DONE],
    ["failed", FAILED],
  ] as const)
    scenario(
      `a workflow that ${how} is deleted with its steps, entries, runs and lanes, a piece at a time`,
      async (kit) => {
        const { run, child } = await endedWorkflow(kit, last);
        assert.equal(await kit.status(run), how);
        const [step] = await kit.store.steps(run.id);
        const [artifact] = await kit.store.artifactsOf(step?.task.id ?? "");
        assert.equal(await kit.store.budgetCap("resolver:mine"), 3);
        await kit.store.deleteWorkflow(run.id, kit.now);
        await nobodySees(kit.store, run.id, child, laneOfStep(run.id, 0));
        await nobodySees(await kit.open(), run.id, child, laneOfStep(run.id, 0));
        assert.equal(await kit.store.task(step?.task.id ?? ""), null);
        assert.equal(await kit.store.artifact(artifact?.id ?? ""), null);
        assert.equal(await kit.store.budgetCap("resolver:mine"), null);
        await refused("not_found", kit.store.deleteWorkflow(run.id, kit.now));
        await refused("not_found", kit.store.recoverWorkflow(run.id, null, kit.now));
        await refused("not_found", kit.store.changeMetadata(run.id, { a: 1 }, kit.now));
        await refused("not_found", kit.store.retryFailed(child, { limit: 10 }, kit.now));
        await kit.expectClean();
        // Steps, entries, their results and files, streams and edges, the child, and the events of both.
        assert.ok((await removeAll(kit, 1)) > 6 + 3 + 5 + 5 + 4 + 2, "row by row");
        for (const index of [0, 1, 2]) assert.equal(await kit.store.takeLane(laneOfStep(run.id, index), "A", 1), null);
        assert.equal(await kit.store.takeLane(laneOfStep(run.id, 1, 0), "A", 1), null);
        assert.ok((await kit.store.takeLane(LANE, "A", 1)) !== null, "the lane of a site stays");
        const { orphaned } = await kit.store.orphanedFiles({ limit: 10 });
        assert.deepEqual(
          orphaned,
          ["a", "c", "e"].map((letter) => letter.repeat(64)),
        );
      },
    );

  scenario("one workflow of two is deleted: the other keeps its steps, its runs and the files of both", async (kit) => {
    const { run } = await endedWorkflow(kit);
    const kept = await endedWorkflow(kit);
    await kit.store.deleteWorkflow(run.id, kit.now);
    await removeAll(kit, 3);
    assert.deepEqual(
      (await kit.store.workflows({ limit: 10 })).map((one) => one.run.id),
      [kept.run.id],
    );
    assert.equal((await kit.store.steps(kept.run.id)).length, 3);
    assert.equal((await kit.store.stepItems(kept.run.id, 1, { limit: 10 })).length, 3);
    assert.equal((await kit.store.run(kept.child))?.status, "completed");
    assert.ok((await kit.store.stepByEngineId(laneOfStep(kept.run.id, 1, 0))) !== null);
    assert.deepEqual((await kit.store.orphanedFiles({ limit: 10 })).orphaned, []);
  });

  scenario("what is no ended workflow is not deleted", async (kit) => {
    const waiting = await newWorkflow(kit, { a: [] }, { start: false });
    const running = await newWorkflow(kit, { a: [] });
    const page = await kit.page();
    for (const run of [waiting, running])
      await refused("illegal_transition", kit.store.deleteWorkflow(run.id, kit.now));
    await refused("not_found", kit.store.deleteWorkflow(page.id, kit.now));
    await refused("not_found", kit.store.deleteWorkflow(NOBODY, kit.now));
    assert.equal(await kit.store.removeExpired(10), 0);
  });

  scenario("what somebody has in hand of a deleted workflow stays until it is put down", async (kit) => {
    const run = await newWorkflow(kit, { a: [], b: [], c: ["a"] });
    await workOn(kit, run, "a", forChild("page"));
    const child = (await kit.store.steps(run.id))[0]?.childRuns[0] ?? "";
    const step = await takeStep(kit, run, "b");
    const site = await kit.take("A");
    const { tasks } = await kit.claim(site);
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    await kit.store.deleteWorkflow(run.id, kit.now);
    await nobodySees(kit.store, run.id, child, laneOfStep(run.id, 1));
    await kit.store.sweepEnded(100, kit.now);
    assert.equal(await kit.store.removeExpired(100), 0, "both runs have something in hand");
    const found = { found: [], auxiliaryLimit: 0 };
    assert.equal(await kit.store.growRun(site, tasks[0]!, found, kit.now), null);
    assert.equal(await kit.store.noteStepProgress(step.hold, step.task, { fraction: 1, message: null }, kit.now), null);
    await kit.settle(site, tasks, withFile("d"));
    assert.ok((await kit.store.removeExpired(100)) > 0, "the page may go");
    await kit.store.settle([{ hold: step.hold, tasks: [{ task: step.task, verdict: DONE, attempt: null }] }], kit.now);
    assert.equal(await kit.store.removeExpired(100), 0, "the lane of the step is still owned");
    await kit.expectClean();
    await kit.store.releaseLane(step.hold);
    await removeAll(kit, 2);
    assert.equal(await kit.store.takeLane(laneOfStep(run.id, 1), "A", 1), null);
    // A lane that comes later is not taken for the one that went.
    const later = await newWorkflow(kit, { a: [] });
    const { hold } = await takeStep(kit, later, "a");
    assert.notEqual(hold.laneId, step.hold.laneId);
  });

  scenario("a call that made a workflow makes another once that one is deleted", async (kit) => {
    const once = { key: "key", fingerprint: "print" };
    const make = async () => {
      const workflow = sketchWorkflow({ a: [] });
      const about = { kind: "workflow", name: "w", maxAttempts: null, snapshot: null, workflow } as const;
      return (await kit.store.startRun(about, [], kit.now, once)).created;
    };
    const first = await make();
    await workOn(kit, first, "a", DONE);
    await kit.store.deleteWorkflow(first.id, kit.now);
    assert.notEqual((await make()).id, first.id);
  });
}
