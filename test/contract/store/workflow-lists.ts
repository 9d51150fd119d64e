import assert from "node:assert/strict";
import { DONE, FAILED, type Kit, newTask, NOBODY, refused, refusedField, type Scenario, type Verdict } from "./kit.ts";
import { laneOfStep } from "../../../src/domain/workflow/definition.ts";
import type { NewWorkflow } from "../../../src/store/records/workflow-records.ts";
import { newWorkflow, takeStep, workOn } from "./workflow-kit.ts";

function handsOn(letter: string): Verdict {
  const items = { hash: letter.repeat(64), size: 1, count: 1 };
  const artifact = { hash: items.hash, size: 1, contentType: null, url: "items", role: "items" } as const;
  return { kind: "completed", artifacts: [artifact], results: [], detail: { output: {}, items } };
}

async function names(kit: Kit, filter: Parameters<Kit["store"]["workflows"]>[0]): Promise<(string | null)[]> {
  return (await kit.store.workflows(filter)).map(({ run }) => run.name);
}

export function workflowListScenarios(scenario: Scenario): void {
  scenario("workflows are listed newest first, by state, template, job and name", async (kit) => {
    const template = { name: "t", version: 2 };
    const first = await newWorkflow(kit, { a: [] }, {}, { name: "first" });
    await newWorkflow(kit, { a: [] }, { start: false, template }, { name: "second" });
    const third = await newWorkflow(kit, { a: [] }, { maxRecoveryAttempts: 0 }, { name: "third", jobId: NOBODY });
    await kit.page();
    await workOn(kit, first, "a", FAILED);
    await workOn(kit, third, "a", FAILED);
    assert.deepEqual(await names(kit, { limit: 10 }), ["third", "second", "first"]);
    assert.deepEqual(await names(kit, { limit: 2 }), ["third", "second"]);
    assert.deepEqual(await names(kit, { limit: 2, after: third.id }), ["second", "first"]);
    assert.deepEqual(await names(kit, { status: ["failed", "queued"], limit: 2 }), ["third", "second"]);
    assert.deepEqual(await names(kit, { status: "recoverable", limit: 10 }), ["first"]);
    assert.deepEqual(await names(kit, { template: "t", limit: 10 }), ["second"]);
    assert.deepEqual(await names(kit, { jobId: NOBODY, limit: 10 }), ["third"]);
    assert.deepEqual(await names(kit, { q: "IR", limit: 10 }), ["third", "first"]);
    assert.deepEqual(await names(kit, { q: first.id, limit: 10 }), ["first"]);
    await refusedField("after", kit.store.workflows({ after: NOBODY, limit: 1 }));
    const [one] = await kit.store.workflows({ template: "t", limit: 1 });
    assert.deepEqual([one?.template, one?.rerunOf, one?.run.status], [template, null, "queued"]);
  });

  scenario("how long a workflow was paused is counted, so that it is none of its work", async (kit) => {
    const run = await newWorkflow(kit, { a: [] }, {}, { name: "flow" });
    const facts = async () => (await kit.store.run(run.id))!.facts;
    assert.equal((await facts()).stopped_ms, undefined);
    for (const [stopped, ms] of [
      ["paused", 5000],
      ["waiting_for_human", 700],
    ] as const) {
      await kit.store.changeRun(run.id, stopped, "stopped", kit.now);
      assert.equal((await facts()).stopped_at, kit.now);
      await kit.store.changeRun(run.id, "running", "Run resumed", kit.now + ms);
    }
    const { stopped_at: since, stopped_ms: all } = await facts();
    assert.deepEqual([since, all], [null, 5700]);
  });

  scenario("runs are listed with and without those that steps have started, and those of one workflow", async (kit) => {
    const run = await newWorkflow(kit, { a: [] }, {}, { name: "flow" });
    const child = {
      run: { kind: "page", name: "child", maxAttempts: 1, snapshot: {} },
      tasks: [newTask("p")],
    } as const;
    await workOn(kit, run, "a", { kind: "wait", sleep: { memory: null, until: null, child } });
    const page = await kit.page("page", { name: "page" });
    const listed = async (filter: object) => (await kit.store.runs({ limit: 10, ...filter })).map(({ name }) => name);
    const [lane] = await kit.store.openLanes({ after: "site:~", limit: 10 });
    assert.deepEqual([lane?.lane, lane?.sleeps], [laneOfStep(run.id, 0), { for: "run", until: null, failure: null }]);
    assert.deepEqual(lane?.counts, { queued: 0, running: 0, retrying: 0 }, "it waits, and has not failed");
    assert.deepEqual(await listed({}), ["page", "child", "flow"]);
    assert.deepEqual(await listed({ parent: "none" }), ["page", "flow"]);
    assert.deepEqual(await listed({ parent: "none", status: ["queued"] }), ["page"]);
    assert.deepEqual(await listed({ parent: "none", limit: 1, after: page.id }), ["flow"]);
    assert.deepEqual(await listed({ parent: run.id }), ["child"]);
    assert.deepEqual(await listed({ parent: NOBODY }), []);
    assert.equal(await kit.store.countRunsLike({ parent: "none", limit: 10 }), 2);
    assert.equal(await kit.store.countRunsLike({ parent: run.id, limit: 10 }), 1);
    const active = (await kit.store.countActiveRuns()).map(({ kind, count }) => `${count} ${kind}`);
    assert.deepEqual(active.toSorted(), ["1 page", "1 workflow"], "as many as are listed");
  });

  scenario("metadata is changed key by key, and null removes one", async (kit) => {
    const run = await newWorkflow(kit, { a: [] }, { metadata: { owner: "me", keep: [1] } });
    kit.pass(5);
    const changed = await kit.store.changeMetadata(run.id, { owner: null, more: { x: 1 } }, kit.now);
    assert.deepEqual(changed.metadata, { keep: [1], more: { x: 1 } });
    assert.equal(changed.updatedAt, kit.now);
    const page = await kit.page();
    await refused("not_found", kit.store.changeMetadata(page.id, {}, kit.now));
    await refused("not_found", kit.store.changeMetadata(NOBODY, {}, kit.now));
    assert.equal(await kit.store.workflow(page.id), null);
    await refused("illegal_transition", kit.store.startWorkflow(page.id, kit.now));
  });

  scenario("progress is weighted by how long steps are thought to take, and never falls", async (kit) => {
    const step = { kind: "wait", dependencies: [], maxRetries: 0 };
    const run = await newWorkflow(
      kit,
      {},
      {
        steps: [
          { ...step, name: "a", estimatedMs: 10 },
          { ...step, name: "b", estimatedMs: 30 },
          { ...step, name: "c", estimatedMs: null },
        ],
      },
    );
    const progress = async () => (await kit.store.run(run.id))?.progress;
    const { hold, task } = await takeStep(kit, run, "b");
    const note = (fraction: number, message: string | null) =>
      kit.store.noteStepProgress(hold, task, { fraction, message }, kit.now);
    assert.equal(await note(0.5, "half"), true);
    const b = (await kit.store.steps(run.id))[1];
    assert.deepEqual([b?.progress, b?.progressMessage], [0.5, "half"]);
    assert.equal(await progress(), 25);
    await note(0.1, null);
    assert.equal(await progress(), 25);
    await workOn(kit, run, "a", DONE);
    assert.equal(await progress(), 25);
    await note(1, null);
    assert.equal(await progress(), 66);
    await kit.settle(hold, [task], { ...FAILED, kind: "retry", readyAt: kit.now } as Verdict);
    assert.equal(await progress(), 66);
    await workOn(kit, run, "c", DONE);
    await kit.work(hold, DONE);
    assert.equal(await progress(), 100);
  });

  scenario("how long steps took is told of runs of the same template, job or name", async (kit) => {
    const took = async (
      ms: number,
      more: Parameters<typeof newWorkflow>[2],
      run: Parameters<typeof newWorkflow>[3],
    ) => {
      const created = await newWorkflow(kit, { a: [], b: ["a"] }, more, run);
      const { hold, task } = await takeStep(kit, created, "a");
      kit.pass(ms);
      await kit.settle(hold, [task], DONE);
      await workOn(kit, created, "b", FAILED);
    };
    const template = { name: "t", version: 1 };
    await took(10, { template }, { name: "x" });
    await took(20, { template }, { name: "y" });
    await took(30, {}, { name: "x", jobId: NOBODY });
    await newWorkflow(kit, { a: [] }, { template }, { name: "x" });
    const durations = async (of: { template?: string; jobId?: string; name: string }, limit = 10) =>
      Object.fromEntries(await kit.store.stepDurations(of, limit));
    assert.deepEqual(await durations({ template: "t", name: "x" }), { a: [20, 10] });
    assert.deepEqual(await durations({ template: "t", name: "x" }, 1), { a: [20] });
    assert.deepEqual(await durations({ name: "x" }), { a: [30, 10] });
    assert.deepEqual(await durations({ jobId: NOBODY, name: "x" }), { a: [30] });
    assert.deepEqual(await durations({ name: "nobody" }), {});
  });

  scenario("a step finds what it handed on in the last completed run that did the same", async (kit) => {
    const run = (more: Partial<NewWorkflow> = {}) => newWorkflow(kit, { a: [] }, more);
    const [first, second, failed, other] = [
      await run(),
      await run(),
      await run(),
      await run({ similarityKey: "other" }),
    ];
    const last = async (id: string, step = "a") => (await kit.store.lastItems(id, step))?.hash?.at(0) ?? null;
    assert.equal(await last(first.id), null);
    await workOn(kit, first, "a", handsOn("a"));
    await workOn(kit, failed, "a", FAILED);
    await workOn(kit, other, "a", handsOn("d"));
    assert.deepEqual(
      [await last(first.id), await last(second.id), await last(failed.id), await last(other.id)],
      [null, "a", "a", null],
    );
    await workOn(kit, second, "a", handsOn("b"));
    assert.equal(await last(failed.id), "b");
    assert.equal(await last(failed.id, "none"), null);
    assert.deepEqual(await kit.store.lastItems(failed.id, "a"), { hash: "b".repeat(64), size: 1, count: 1 });
    const again = await run({ similarityKey: "changed", rerunOf: failed.id });
    assert.equal(await last(again.id), null, "the run that it repeats did not complete");
    const repeated = await run({ similarityKey: "changed", rerunOf: other.id });
    assert.equal(await last(repeated.id), "d");
    assert.equal(await last((await run({ similarityKey: "once more", rerunOf: repeated.id })).id), "d");
  });

  scenario("a step of a job finds what the last run of that job handed on, and of no other", async (kit) => {
    const run = (jobId?: string, similarityKey = "alike") =>
      newWorkflow(kit, { a: [] }, { similarityKey }, jobId === undefined ? {} : { jobId });
    const [ofJob, alone] = [await run(NOBODY, "before"), await run()];
    await workOn(kit, ofJob, "a", handsOn("a"));
    await workOn(kit, alone, "a", handsOn("b"));
    const last = async ({ id }: { id: string }) => (await kit.store.lastItems(id, "a"))?.hash?.at(0) ?? null;
    assert.equal(await last(await run(NOBODY, "with other params")), "a");
    assert.equal(await last(await run(undefined, "before")), null);
  });

  scenario("what a workflow was started with is read by who asks for it, and by nobody else", async (kit) => {
    const snapshot = { definition: { steps: [] }, params: { urls: ["https://a.example/"] } };
    const created = await newWorkflow(kit, { a: [], b: [] }, {}, { snapshot });
    assert.deepEqual(created.snapshot, snapshot, "to who has made it");
    const [listed] = await kit.store.workflows({ limit: 1 });
    const [ofAll] = await kit.store.runs({ limit: 1 });
    const one = await kit.store.workflow(created.id);
    assert.deepEqual([listed?.run.snapshot, one?.run.snapshot, ofAll?.snapshot], [null, null, null]);
    assert.deepEqual(await kit.store.workflowSnapshot(created.id), snapshot);
    assert.equal(await kit.store.workflowSnapshot((await kit.runWith(["x"])).id), null, "it is no workflow");
    const detail = { output: { found: 3 }, items: null };
    await workOn(kit, created, "a", { kind: "completed", artifacts: [], results: [], detail });
    const [whole] = await kit.store.steps(created.id);
    const [brief, open] = await kit.store.stepsInBrief(created.id);
    assert.deepEqual(whole?.task.detail, detail);
    assert.deepEqual(brief, { ...whole, task: { ...whole!.task, detail: null } });
    assert.equal(open?.task.state, "queued");
  });

  scenario("each change of a template is a new version", async (kit) => {
    const { store } = kit;
    const one = await store.putTemplate("t", { steps: 1 }, 1, kit.now);
    assert.deepEqual(one, { name: "t", version: 1, definition: { steps: 1 }, createdAt: kit.now });
    await store.putTemplate("t", { steps: 2 }, 1, kit.now);
    assert.equal((await store.putTemplate("t", { steps: 2 }, 1, kit.now + 1)).version, 2, "nothing has changed");
    await store.putTemplate("built-in", [], 4, kit.now);
    assert.deepEqual((await store.template("t"))?.definition, { steps: 2 });
    assert.deepEqual((await store.template("t", 1))?.definition, { steps: 1 });
    assert.equal(await store.template("t", 3), null);
    assert.equal(await store.template("none"), null);
    const list = (await store.templates()).map(({ name, version }) => `${name} ${version}`);
    assert.deepEqual(list, ["built-in 4", "t 2"]);
    assert.deepEqual(
      (await store.templateVersions("t")).map(({ version }) => version),
      [2, 1],
    );
  });

  scenario("a template is deleted with all its versions, and others stay", async (kit) => {
    const { store } = kit;
    for (const steps of [1, 2]) await store.putTemplate("t", { steps }, 1, kit.now);
    await store.putTemplate("other", {}, 1, kit.now);
    assert.equal(await store.deleteTemplate("t"), 2);
    assert.equal(await store.deleteTemplate("t"), 0);
    assert.deepEqual([await store.template("t"), (await store.templates()).length], [null, 1]);
    assert.equal((await store.putTemplate("t", { steps: 3 }, 1, kit.now)).version, 1);
  });
}
