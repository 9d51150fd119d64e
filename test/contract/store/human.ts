import assert from "node:assert/strict";
import { failure } from "../../../src/domain/run/failure.ts";
import type { LaneGrant, RunRecord } from "../../../src/store/ports/port.ts";
import {
  DONE,
  evidence,
  HANDED_BACK,
  type Kit,
  LANE,
  newTask,
  NOBODY,
  refused,
  retryAt,
  type Scenario,
  type Verdict,
} from "./kit.ts";

const SESSION = "7d6fbb0c-6c5e-4a0f-a0a3-0f4f1f0d1e22";
const WALL = failure("captcha_page", "the page asks for a captcha", { httpStatus: 403 });
const HUMAN: Verdict = { kind: "human", failure: WALL };

/** A page run that waits for a person, and the lane its task lies in. */
async function waiting(kit: Kit): Promise<{ run: RunRecord; lane: LaneGrant }> {
  const run = await kit.page();
  const lane = await kit.take("A");
  await kit.work(lane, HUMAN);
  assert.equal(await kit.status(run), "waiting_for_human");
  return { run, lane };
}

async function expectIdle(kit: Kit, lane: LaneGrant): Promise<void> {
  const claim = await kit.claim(lane);
  assert.deepEqual(claim, { tasks: [], more: false, nextReadyAt: null });
  assert.deepEqual(await kit.store.lanesWithWork("A"), []);
}

export function humanScenarios(scenario: Scenario): void {
  scenario("a page that only a person can open makes its run wait, and no attempt is spent", async (kit) => {
    const run = await kit.page();
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const version = await kit.store.controlVersion();
    const settled = await kit.report(lane, tasks, HUMAN, {
      evidence: [evidence("a")],
      memory: { way: "browser" },
      run: {
        events: [{ type: "strategy.resolved", level: "info", message: "Strategy resolved", meta: {} }],
        facts: { attempt: 1 },
      },
    });
    assert.deepEqual(settled, { lost: [], opened: [], ended: [] });
    assert.equal(await kit.status(run), "waiting_for_human");
    assert.ok((await kit.store.controlVersion()) > version, "owners hear of it");
    const task = await kit.store.taskByKey(run.id, "page");
    assert.deepEqual([task?.state, task?.tries, task?.attempts.length], ["queued", 0, 1]);
    assert.deepEqual(task?.failure, WALL);
    assert.equal((await kit.store.artifactsOf(task?.id ?? "")).length, 1);
    assert.deepEqual(await kit.words(run), [
      "Run created",
      "Run started",
      "Strategy resolved",
      "Waiting for a person: the page asks for a captcha",
    ]);
    assert.deepEqual((await kit.events(run)).at(-1)?.meta, {
      task_id: task?.id,
      failure_code: "blocked",
      failure_reason: "captcha_page",
    });
    assert.equal((await kit.store.run(run.id))?.finishedAt, null);
    await kit.expectClean();
    await expectIdle(kit, lane);
  });

  scenario("a run that waits is not offered to the next owner, and waits for days without a fault", async (kit) => {
    const { run } = await waiting(kit);
    const next = await kit.takeOver("B");
    await expectIdle(kit, next);
    await kit.store.releaseLane(next);
    for (let day = 0; day < 3; day += 1) {
      kit.pass(24 * 3_600_000);
      await kit.enter("B");
      await kit.expectClean();
    }
    assert.deepEqual(await kit.store.lanesWithWork(), []);
    assert.equal(await kit.status(run), "waiting_for_human");
  });

  scenario("with a session from a person the run goes on, and its next attempt knows it", async (kit) => {
    const { run, lane } = await waiting(kit);
    const version = await kit.store.controlVersion();
    const answered = await kit.store.answerHuman(run.id, { sessionId: SESSION }, kit.now);
    assert.deepEqual([answered.status, answered.facts.session_id], ["running", SESSION]);
    assert.ok((await kit.store.controlVersion()) > version);
    const told = (await kit.events(run)).at(-1);
    assert.deepEqual(told?.meta, { session_id: SESSION });
    const { tasks } = await kit.claim(lane);
    assert.deepEqual([tasks.length, tasks[0]?.tries], [1, 0]);
    await kit.settle(lane, tasks, DONE);
    assert.equal(await kit.status(run), "completed");
    assert.equal((await kit.store.run(run.id))?.facts.session_id, SESSION);
    assert.equal((await kit.ends(run)).length, 1);
  });

  scenario("an answer wakes a lane that nobody owns", async (kit) => {
    const { run, lane } = await waiting(kit);
    await kit.store.releaseLane(lane);
    for (let minute = 0; minute < 10; minute += 1) {
      kit.pass(30_000);
      await kit.enter("A");
    }
    await kit.store.answerHuman(run.id, { sessionId: SESSION }, kit.now);
    assert.deepEqual(await kit.store.lanesWithWork(), [{ lane: LANE, readyAt: 0 }]);
    await kit.expectClean();
    await kit.work(await kit.take("A"), DONE);
  });

  scenario("a session that does not help makes the run wait once more", async (kit) => {
    const { run, lane } = await waiting(kit);
    await kit.store.answerHuman(run.id, { sessionId: SESSION }, kit.now);
    await kit.work(lane, HUMAN);
    assert.equal(await kit.status(run), "waiting_for_human");
    await kit.store.answerHuman(run.id, { sessionId: NOBODY }, kit.now);
    assert.equal((await kit.store.run(run.id))?.facts.session_id, NOBODY);
    await kit.work(lane, DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("a page that a person skips is a failed run that says so, with one end", async (kit) => {
    const { run, lane } = await waiting(kit);
    kit.pass(50);
    const skipped = await kit.store.answerHuman(run.id, { skip: "a person skipped it" }, kit.now);
    assert.deepEqual([skipped.status, skipped.finishedAt], ["failed", kit.now]);
    assert.equal(skipped.message, "Run failed: a person skipped it");
    const facts = { failure_code: "blocked", failure_reason: "human_skipped", error_message: "a person skipped it" };
    assert.deepEqual(skipped.facts, facts);
    const last = (await kit.events(run)).at(-1);
    assert.deepEqual([last?.level, last?.message, last?.meta], ["error", skipped.message, facts]);
    assert.equal((await kit.ends(run)).length, 1);
    assert.deepEqual(await kit.counts(run), { skipped: 1 });
    const task = await kit.store.taskByKey(run.id, "page");
    assert.deepEqual([task?.state, task?.failure?.reason, task?.endedAt], ["skipped", "human_skipped", kit.now]);
    await expectIdle(kit, lane);
    assert.equal(await kit.store.sweepEnded(10, kit.now), 0);
  });

  scenario("a second answer is refused and changes nothing, from every connection", async (kit) => {
    for (const answer of [{ sessionId: SESSION }, { skip: "left" }]) {
      const { run, lane } = await waiting(kit);
      const other = await kit.open();
      const answers = await Promise.allSettled([
        kit.store.answerHuman(run.id, answer, kit.now),
        other.answerHuman(run.id, answer, kit.now),
      ]);
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
      const before = [await kit.store.run(run.id), await kit.events(run)];
      await refused("illegal_transition", other.answerHuman(run.id, { skip: "again" }, kit.now));
      await refused("illegal_transition", other.answerHuman(run.id, { sessionId: NOBODY }, kit.now));
      assert.deepEqual([await kit.store.run(run.id), await kit.events(run)], before);
      await kit.work(lane, DONE);
      await kit.store.releaseLane(lane);
    }
  });

  scenario("an answer to a run that does not wait, or is not there, is refused", async (kit) => {
    const run = await kit.page();
    await refused("illegal_transition", kit.store.answerHuman(run.id, { sessionId: SESSION }, kit.now));
    for (const id of [NOBODY, "not an id"]) {
      await refused("not_found", kit.store.answerHuman(id, { skip: "x" }, kit.now));
    }
    assert.deepEqual((await kit.store.run(run.id))?.facts, {});
  });

  scenario("a run that was paused meanwhile comes to its wait when it goes on", async (kit) => {
    const run = await kit.page();
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
    await kit.settle(lane, tasks, HUMAN);
    assert.equal(await kit.status(run), "paused");
    assert.equal((await kit.words(run)).at(-1), "Waiting for a person: the page asks for a captcha");
    await refused("illegal_transition", kit.store.answerHuman(run.id, { skip: "left" }, kit.now));
    await expectIdle(kit, lane);
    await kit.expectClean();
    await kit.store.changeRun(run.id, "running", "Run resumed", kit.now);
    await kit.work(lane, HUMAN);
    assert.equal(await kit.status(run), "waiting_for_human");
    await kit.store.answerHuman(run.id, { skip: "left" }, kit.now);
    assert.equal(await kit.status(run), "failed");
  });

  scenario("a run that waits may be resumed without an answer, and tries once more", async (kit) => {
    const { run, lane } = await waiting(kit);
    await kit.store.changeRun(run.id, "running", "Run resumed", kit.now);
    await kit.work(lane, DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("a run that was cancelled meanwhile does not come back by an answer", async (kit) => {
    const { run, lane } = await waiting(kit);
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    await refused("illegal_transition", kit.store.answerHuman(run.id, { sessionId: SESSION }, kit.now));
    await refused("illegal_transition", kit.store.answerHuman(run.id, { skip: "left" }, kit.now));
    await kit.expectClean();
    assert.equal(await kit.store.sweepEnded(10, kit.now), 1);
    assert.deepEqual(await kit.counts(run), { cancelled: 1 });
    assert.equal((await kit.ends(run)).length, 1);
    await expectIdle(kit, lane);
  });

  scenario("a wish for a person that comes after the cancel is dropped", async (kit) => {
    const run = await kit.page();
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    await kit.settle(lane, tasks, HUMAN);
    assert.equal(await kit.status(run), "cancelled");
    assert.deepEqual(await kit.words(run), ["Run created", "Run started", "Run cancelled"]);
    assert.deepEqual(await kit.counts(run), { cancelled: 1 });
  });

  scenario("in a run of many tasks only what waits is skipped, and the rest goes on", async (kit) => {
    const run = await kit.runWith(["wall", "flying", newTask("later", { lane: "site:b.example" })]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.settle(lane, tasks.slice(0, 1), HUMAN);
    assert.equal(await kit.status(run), "waiting_for_human");
    await kit.settle(lane, tasks.slice(1), retryAt(kit.now));
    const answered = await kit.store.answerHuman(run.id, { skip: "left" }, kit.now);
    assert.equal(answered.status, "running");
    assert.deepEqual(await kit.states(run), { wall: "skipped", flying: "retrying", later: "queued" });
    await kit.work(lane, DONE);
    await kit.work(await kit.take("A", "site:b.example"), DONE);
    assert.equal(await kit.status(run), "completed");
    assert.equal((await kit.ends(run)).length, 1);
  });

  scenario("a run of many tasks ends at once when what was skipped was its last", async (kit) => {
    const run = await kit.runWith(["done", "wall"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.settle(lane, tasks.slice(0, 1), DONE);
    await kit.settle(lane, tasks.slice(1), HUMAN);
    const answered = await kit.store.answerHuman(run.id, { skip: "left" }, kit.now);
    assert.deepEqual([answered.status, answered.finishedAt], ["completed", kit.now]);
    assert.equal((await kit.ends(run)).length, 1);
  });

  scenario("a task that got its answer does not wait any more: a later skip is not for it", async (kit) => {
    const run = await kit.runWith(["first", "second"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.report(lane, tasks.slice(0, 1), HUMAN, { memory: { way: "browser" } });
    await kit.store.answerHuman(run.id, { sessionId: SESSION }, kit.now);
    await kit.settle(lane, tasks.slice(1), HUMAN);
    await kit.store.answerHuman(run.id, { skip: "left" }, kit.now);
    assert.deepEqual(await kit.states(run), { first: "queued", second: "skipped" });
    const again = await kit.claim(lane);
    assert.deepEqual(again.tasks[0]?.memory, { way: "browser" });
    await kit.settle(lane, again.tasks, HANDED_BACK);
    await kit.work(lane, DONE);
  });

  scenario("two tasks that wait for a person wait for one answer", async (kit) => {
    const run = await kit.runWith(["one", "two"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    for (const task of tasks) await kit.settle(lane, [task], HUMAN);
    assert.equal((await kit.words(run)).filter((words) => words.startsWith("Waiting")).length, 2);
    await kit.store.answerHuman(run.id, { skip: "left" }, kit.now);
    assert.deepEqual(await kit.counts(run), { skipped: 2 });
    assert.equal(await kit.status(run), "completed");
  });
}
