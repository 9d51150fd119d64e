import assert from "node:assert/strict";
import { failure } from "../../../src/domain/run/failure.ts";
import type { ClaimedTask, LaneGrant, NewRun } from "../../../src/store/ports/port.ts";
import {
  DONE,
  FAILED,
  HANDED_BACK,
  keysOf,
  type Kit,
  LANE,
  movedTo,
  newTask,
  type Scenario,
  type Verdict,
} from "./kit.ts";
import { newWorkflow, stateOfSteps, takeStep } from "./workflow-kit.ts";

const OTHER = "site:b.example";

/** The outcome of one task, as an attempt that is not counted hands it in. */
function handIn(kit: Kit, hold: LaneGrant, task: ClaimedTask, verdict: Verdict) {
  return kit.store.settle([{ hold, tasks: [{ task, verdict, attempt: null }] }], kit.now);
}

/** Whoever has lost the answer to a commit does the same once more: by then others may have gone on. */
export function twiceScenarios(scenario: Scenario): void {
  scenario("a task that is handed back again after it was claimed again stays in hand", async (kit) => {
    const verdicts: Record<string, Verdict> = { now: HANDED_BACK, later: { kind: "handed_back", readyAt: kit.now } };
    const run = await kit.runWith(Object.keys(verdicts));
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const outcomes = tasks.map((task) => ({ task, verdict: verdicts[task.key]!, attempt: null }));
    await kit.store.settle([{ hold: lane, tasks: outcomes }], kit.now);
    const { tasks: again } = await kit.claim(lane);
    assert.equal(again.length, 2);
    const { dropped } = await kit.store.settle([{ hold: lane, tasks: outcomes }], kit.now);
    assert.equal(dropped?.length, 2);
    assert.deepEqual(await kit.states(run), { now: "running", later: "running" });
    assert.deepEqual(keysOf(await kit.claim(lane)), [], "nobody gets them a second time");
    await kit.settle(lane, again, DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("the end of a task that is handed in again after it was to be tried anew does not end it", async (kit) => {
    const run = await kit.runWith(["a", "b"]);
    const lane = await kit.take("A");
    const [a, b] = (await kit.claim(lane)).tasks as [ClaimedTask, ClaimedTask];
    await kit.settle(lane, [a], FAILED);
    await kit.store.retryFailed(run.id, { limit: 10 }, kit.now);
    const { tasks: again } = await kit.claim(lane);
    assert.equal(again.length, 1);
    assert.deepEqual((await kit.settle(lane, [a], FAILED)).dropped, [a.row]);
    assert.deepEqual(await kit.states(run), { a: "running", b: "running" });
    await kit.settle(lane, [...again, b], DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("a page that was sent on and came back is not sent on by the outcome before", async (kit) => {
    const run = await kit.runWith(["a"]);
    const here = await kit.take("A");
    const there = movedTo(OTHER);
    const [first] = (await kit.claim(here)).tasks as [ClaimedTask];
    await handIn(kit, here, first, there);
    const other = await kit.take("A", OTHER);
    const [second] = (await kit.claim(other)).tasks as [ClaimedTask];
    await handIn(kit, other, second, movedTo(LANE));
    const [third] = (await kit.claim(here)).tasks as [ClaimedTask];
    const again = await handIn(kit, here, first, there);
    assert.deepEqual([again.dropped, again.opened], [[first.row], []]);
    await kit.settle(here, [third], DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("a page that waits for a person asks once", async (kit) => {
    const run = await kit.page();
    const lane = await kit.take("A");
    const [task] = (await kit.claim(lane)).tasks as [ClaimedTask];
    const riddle: Verdict = { kind: "human", failure: failure("captcha_page", "a riddle") };
    await handIn(kit, lane, task, riddle);
    assert.deepEqual((await handIn(kit, lane, task, riddle)).dropped, [task.row], "while it waits");
    await kit.store.answerHuman(run.id, { sessionId: "s" }, kit.now);
    const { tasks: again } = await kit.claim(lane);
    assert.deepEqual((await handIn(kit, lane, task, riddle)).dropped, [task.row], "when it was answered");
    assert.equal(await kit.status(run), "running");
    await kit.settle(lane, again, DONE);
    assert.equal((await kit.words(run)).filter((word) => word.startsWith("Waiting for a person")).length, 1);
  });

  scenario("a step that went to sleep and was woken is not sent to sleep again", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    const { hold, task } = await takeStep(kit, run, "a");
    const sleep: Verdict = { kind: "wait", sleep: { memory: "half", until: kit.now, leftMs: 3000 } };
    await handIn(kit, hold, task, sleep);
    const [awake] = (await kit.claim(hold)).tasks as [ClaimedTask];
    assert.equal(awake.memory, "half");
    assert.deepEqual((await handIn(kit, hold, task, sleep)).dropped, [task.row]);
    assert.deepEqual(await stateOfSteps(kit, run), { a: "running" });
    await kit.settle(hold, [awake], DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("a step whose child has ended starts no second one", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    const { hold, task } = await takeStep(kit, run, "a");
    const page: NewRun = { kind: "page", maxAttempts: 3, snapshot: {}, url: "https://a.example/p" };
    const child = { run: page, tasks: [newTask("p")] };
    const sleep: Verdict = { kind: "wait", sleep: { memory: "m", until: null, child } };
    await handIn(kit, hold, task, sleep);
    const again = await handIn(kit, hold, task, sleep);
    assert.deepEqual([again.dropped, again.opened], [[task.row], []], "while it sleeps");
    await kit.work(await kit.take("A"), DONE);
    const [awake] = (await kit.claim(hold)).tasks as [ClaimedTask];
    const late = await handIn(kit, hold, task, sleep);
    assert.deepEqual([late.dropped, late.opened], [[task.row], []], "when it was woken");
    assert.equal((await kit.store.runs({ kind: "page", limit: 10 })).length, 1);
    await kit.settle(hold, [awake], DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("a worker that registers again goes on under its name", async (kit) => {
    const identity = { boot: "boot-1", pid: 7, pidStart: "7@ns" };
    const worker = { id: "w", machine: "spider", identity, version: "1.0.0", command: "serve" };
    const registers = () => kit.store.registerWorker({ ...worker, maxWorkers: 2, heartbeatMs: 2000 }, kit.now, "key");
    assert.deepEqual([await registers(), await registers()], [true, true]);
    assert.equal((await kit.store.workers({ limit: 10 })).length, 1);
  });

  scenario(
    "whoever comes too late to say that a webhook was rejected gives up nothing that another one has",
    async (kit) => {
      const webhook = { events: ["started", "failed"], sealed: new Uint8Array([1]) } as const;
      const crawl: NewRun = { kind: "crawl", maxAttempts: 3, snapshot: { options: {} }, webhook };
      const { created: run } = await kit.store.startRun(crawl, [newTask("a")], kit.now);
      await kit.store.admitCrawls(10, kit.now);
      const take = () => kit.store.takeDueWebhook({ most: 10, until: kit.now + 1000 }, kit.now);
      const frozen = (await take())!;
      kit.pass(1000);
      const other = (await take())!;
      assert.deepEqual(other.calls, frozen.calls);
      const failed = { error: "cut off", nextTryAt: null };
      await kit.store.webhookTried(frozen, { delivered: [], failed }, kit.now);
      await kit.store.webhookTried(other, { delivered: other.calls.map(({ id }) => id) }, kit.now);
      await kit.store.webhookTried(frozen, { delivered: [], failed }, kit.now);
      await kit.work(await kit.take("A"), FAILED);
      assert.deepEqual(
        (await take())?.calls.map(({ event }) => event),
        ["failed"],
      );
      assert.equal(await kit.status(run), "failed");
    },
  );

  scenario("entries that are added again are counted once", async (kit) => {
    const run = await newWorkflow(kit, { a: [] });
    const { hold, task } = await takeStep(kit, run, "a");
    const parts = [
      { listHash: "h", first: 0, values: [0, 1] },
      { listHash: "h", first: 2, values: [2] },
    ] as const;
    for (const part of [parts[0], parts[0], parts[1], parts[1]])
      assert.equal(await kit.store.addStepItems(hold, task, part, kit.now), true);
    const [step] = await kit.store.steps(run.id);
    assert.deepEqual(step?.items, { total: 3, open: 3, completed: 0, failed: 0, skipped: 0 });
    while ((await kit.store.skipStepItems(hold, task, 10, "enough", kit.now)) !== 0);
    await handIn(kit, hold, task, DONE);
    assert.equal(await kit.status(run), "completed");
  });
}
