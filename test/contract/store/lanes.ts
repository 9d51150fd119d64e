import assert from "node:assert/strict";
import { attempt, DONE, HANDED_BACK, LANE, newTask, retryAt, type Scenario, TTL } from "./kit.ts";

const OTHER = "site:b.example";

export function laneScenarios(scenario: Scenario): void {
  scenario("a lane that nobody has filled cannot be taken", async (kit) => {
    await kit.enter("A");
    assert.equal(await kit.store.takeLane(LANE, "A", TTL), null);
  });

  scenario("it is said whose a lane is and for how long; of whom nothing is known, that", async (kit) => {
    await kit.runWith(["a"]);
    assert.deepEqual(await kit.store.laneLeases([LANE]), []);
    const lane = await kit.take("A");
    const [lease, ...more] = await kit.store.laneLeases([LANE, "site:none.example"]);
    assert.deepEqual([lease?.lane, more], [LANE, []]);
    assert.ok(lease!.remainingMs > 0 && lease!.remainingMs <= TTL);
    const [owner] = await kit.store.owners();
    assert.deepEqual([owner?.owner, owner?.identity ?? null], ["A", lease?.identity]);
    await kit.store.releaseLane(lane, 0);
    assert.deepEqual(await kit.store.laneLeases([LANE]), []);
    if (kit.store.capabilities.singleEngine) return;
    const identity = { boot: "b", pid: 7, pidStart: "1@x" };
    await kit.store.joinOwners("B", TTL, identity);
    assert.deepEqual((await kit.store.owners()).at(-1), { owner: "B", identity });
    kit.clock.mono += TTL + 1;
    assert.deepEqual(await kit.store.owners(), [], "their leases have ended");
  });

  scenario("a lane has one owner, also when two ask at once", async (kit) => {
    await kit.runWith(["a"]);
    await kit.enter("A");
    const other = await kit.open();
    const both = await Promise.all([kit.store.takeLane(LANE, "A", TTL), other.takeLane(LANE, "A", TTL)]);
    assert.equal(both.filter((grant) => grant !== null).length, 1);
    assert.equal(await kit.store.takeLane(LANE, "A", TTL), null);
    assert.equal(await kit.store.takeLane(LANE, "B", TTL), null);
  });

  scenario("each new owner has a higher epoch, also after a release", async (kit) => {
    await kit.runWith(["a"]);
    let last = 0;
    for (const owner of ["A", "A", "B", "A"]) {
      const grant = await kit.take(owner);
      assert.equal(grant.owner, owner);
      assert.ok(grant.epoch > last);
      last = grant.epoch;
      await kit.store.releaseLane(grant);
    }
  });

  scenario("a release by who no longer owns the lane changes nothing", async (kit) => {
    await kit.runWith(["a"]);
    const old = await kit.take("A");
    const present = await kit.takeOver("B");
    await kit.store.releaseLane(old);
    assert.equal(await kit.store.takeLane(LANE, "B", TTL), null);
    await kit.work(present, DONE);
  });

  scenario(
    "an owner leaves a lane of which it does not know whether it got it; those of others stay theirs",
    async (kit) => {
      await kit.runWith(["a"]);
      const grant = await kit.take("A");
      await kit.store.leaveLane(LANE, "B");
      await kit.store.leaveLane("site:unheard-of.example", "A");
      assert.equal(await kit.store.takeLane(LANE, "B", TTL), null);
      await kit.store.leaveLane(LANE, "A");
      assert.ok((await kit.take("B")).epoch > grant.epoch);
    },
  );

  scenario("lanes with work are those that nobody owns, with the time of their next task", async (kit) => {
    assert.deepEqual(await kit.store.lanesWithWork(), []);
    await kit.runWith(["a", newTask("b", { lane: OTHER })]);
    const both = await kit.store.lanesWithWork();
    assert.deepEqual(
      both.toSorted((x, y) => x.lane.localeCompare(y.lane)),
      [
        { lane: LANE, readyAt: 0 },
        { lane: OTHER, readyAt: 0 },
      ],
    );
    assert.deepEqual(await kit.store.laneWork(LANE), { lane: LANE, readyAt: 0 });
    const lane = await kit.take("A");
    assert.deepEqual(await kit.store.lanesWithWork(), [{ lane: OTHER, readyAt: 0 }]);
    assert.equal(await kit.store.laneWork(LANE), null);
    assert.equal(await kit.store.laneWork("site:unheard-of.example"), null);
    const later = kit.now + 5000;
    await kit.work(lane, retryAt(later));
    await kit.store.releaseLane(lane);
    const other = await kit.take("A", OTHER);
    assert.deepEqual(await kit.store.lanesWithWork(), [{ lane: LANE, readyAt: later }]);
    assert.deepEqual(await kit.store.laneWork(LANE), { lane: LANE, readyAt: later });
    await kit.work(other, DONE);
    await kit.store.releaseLane(other);
    assert.equal(await kit.store.laneWork(OTHER), null);
    assert.deepEqual(await kit.store.lanesWithWork(), [{ lane: LANE, readyAt: later }]);
  });

  scenario("a lane is as urgent as the most urgent item that it has ready; other work counts as 0", async (kit) => {
    const [low, none] = ["site:low.example", "site:unheard-of.example"];
    const urgency = () => kit.store.lanePriorities([LANE, OTHER, low, none]);
    assert.deepEqual(await urgency(), [0, 0, 0, 0]);
    const queue = await kit.runWith([
      newTask("a", { priority: 7 }),
      newTask("b", { priority: 3, resolver: "r" }),
      newTask("c", { lane: OTHER, priority: -4 }),
      newTask("d", { lane: low, priority: -2 }),
      newTask("e", { lane: low, priority: -9 }),
    ]);
    assert.deepEqual(await urgency(), [7, -4, -2, 0]);
    await kit.store.startRun(
      { kind: "page", maxAttempts: 3, snapshot: {} },
      [newTask("page", { lane: OTHER, priority: 9 })],
      kit.now,
    );
    assert.deepEqual(await urgency(), [7, 0, -2, 0]);
    const lane = await kit.take("A");
    const claimed = await kit.store.claim(lane, { limit: 1 }, kit.now);
    assert.deepEqual([claimed?.tasks[0]?.key, await urgency()], ["a", [3, 0, -2, 0]]);
    await kit.store.setSite("low.example", { paused: true });
    assert.deepEqual(await urgency(), [3, 0, 0, 0]);
    await kit.store.changeRun(queue.id, "paused", "Run paused", kit.now);
    assert.deepEqual(await urgency(), [0, 0, 0, 0]);
  });

  scenario("a paused run's lanes are not work; resumed, they are", async (kit) => {
    const run = await kit.runWith(["a"]);
    await kit.store.changeRun(run.id, "running", "Run started", kit.now);
    await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
    assert.deepEqual(await kit.store.lanesWithWork(), []);
    kit.pass(3_600_000);
    await kit.store.changeRun(run.id, "running", "Run resumed", kit.now);
    await kit.enter("A");
    await kit.expectClean();
    assert.deepEqual(await kit.store.lanesWithWork(), [{ lane: LANE, readyAt: 0 }]);
  });

  scenario("an hour's pause is not counted against the lane by a living engine", async (kit) => {
    const run = await kit.runWith(["a"]);
    await kit.enter("A");
    await kit.store.changeRun(run.id, "running", "Run started", kit.now);
    await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
    await kit.store.setSite("a.example", { paused: true });
    kit.pass(3_600_000);
    await kit.store.heartbeat("A", TTL);
    await kit.store.changeRun(run.id, "running", "Run resumed", kit.now);
    await kit.expectClean();
    kit.pass(3_600_000);
    await kit.store.heartbeat("A", TTL);
    await kit.store.setSite("a.example", { paused: false });
  });

  scenario("an owner that did not renew in time is replaced, and its tasks go back to the queue", async (kit) => {
    const run = await kit.runWith(["a", "b"]);
    const old = await kit.take("A");
    await kit.claim(old, 1);
    kit.clock.mono += TTL + 1;
    assert.equal((await kit.store.lanesWithWork()).length, 1);
    const grant = await kit.take("B");
    assert.equal(grant.recovered, 1);
    assert.deepEqual(await kit.counts(run), { queued: 2 });
    const { tasks } = await kit.claim(grant);
    assert.deepEqual(
      tasks.map((task) => [task.key, task.tries, task.attempts]),
      [
        ["a", 0, []],
        ["b", 0, []],
      ],
    );
  });

  scenario("a heartbeat keeps the lanes and names them", async (kit) => {
    await kit.runWith(["a", newTask("b", { lane: OTHER })]);
    const one = await kit.take("A");
    const two = await kit.take("A", OTHER);
    kit.clock.mono += TTL - 1;
    assert.deepEqual(await kit.store.heartbeat("A", TTL), new Set([one.laneId, two.laneId]));
    kit.clock.mono += TTL - 1;
    assert.deepEqual(await kit.store.lanesWithWork(), []);
    assert.equal(await kit.store.takeLane(LANE, "A", TTL), null);
    await kit.store.releaseLane(two);
    assert.deepEqual(await kit.store.heartbeat("A", TTL), new Set([one.laneId]));
  });

  scenario("a stale owner touches no row: not by claim, settle, politeness or event", async (kit) => {
    const run = await kit.runWith(["a", "b"]);
    const sleeper = await kit.open();
    const old = await kit.take("A", LANE, sleeper);
    const { tasks: stale } = await kit.claim(old, 1, sleeper);
    const fresh = await kit.takeOver("B");
    const before = await kit.events(run);

    assert.equal(await sleeper.claim(old, { limit: 10 }, kit.now), null);
    const result = await sleeper.settle(
      [
        {
          hold: old,
          tasks: stale.map((task) => ({
            task,
            verdict: DONE,
            attempt: attempt(1),
            laneEvents: [{ type: "circuit.opened", level: "warn", message: "Breaker opened", meta: null }],
          })),
          site: {
            site: "a.example",
            politeness: {
              holdUntil: 9,
              holdStep: 9,
              breaker: { failures: 9, pages: [], openUntil: 9, failedProbes: 9 },
            },
          },
        },
      ],
      kit.now,
    );
    assert.deepEqual(result, { lost: [old.laneId], opened: [], ended: [] });
    assert.deepEqual(await kit.counts(run), { queued: 2 });
    assert.equal((await kit.store.site("a.example"))?.holdUntil, 0);
    assert.deepEqual(await kit.events(run), before);

    // Also not once the new owner has the very same task in hand.
    const { tasks } = await kit.claim(fresh);
    await kit.settle(old, stale, DONE, sleeper);
    assert.deepEqual(await kit.counts(run), { running: 2 });
    await kit.settle(fresh, tasks, DONE);
    await kit.settle(old, stale, DONE, sleeper);
    assert.deepEqual(await kit.counts(run), { completed: 2 });
    assert.equal((await kit.ends(run)).length, 1);
  });

  scenario("an owner that lost a lane and took it again does not write with its old proof", async (kit) => {
    const run = await kit.runWith(["a"]);
    const old = await kit.take("A");
    const { tasks } = await kit.claim(old);
    await kit.store.releaseLane(old);
    const again = await kit.take("A");
    assert.deepEqual([again.recovered, again.epoch > old.epoch], [1, true]);
    assert.deepEqual((await kit.settle(old, tasks, DONE)).lost, [old.laneId]);
    assert.deepEqual(await kit.states(run), { a: "queued" });
  });

  scenario("one lost lane in a settle does not hinder the others", async (kit) => {
    const run = await kit.runWith(["a", newTask("b", { lane: OTHER })]);
    const lost = await kit.take("A");
    const held = await kit.take("A", OTHER);
    const [a, b] = [(await kit.claim(lost)).tasks, (await kit.claim(held)).tasks];
    await kit.store.releaseLane(lost);
    const settled = await kit.store.settle(
      [
        { hold: lost, tasks: a.map((task) => ({ task, verdict: DONE, attempt: attempt(1) })) },
        { hold: held, tasks: b.map((task) => ({ task, verdict: DONE, attempt: attempt(1) })) },
      ],
      kit.now,
    );
    assert.deepEqual(settled.lost, [lost.laneId]);
    assert.deepEqual(await kit.states(run), { a: "running", b: "completed" });
    assert.equal((await kit.take("A")).recovered, 1);
  });

  scenario("a lane released with nothing left is taken again when work comes", async (kit) => {
    const run = await kit.runWith(["a"]);
    const lane = await kit.take("A");
    await kit.work(lane, HANDED_BACK);
    await kit.work(lane, DONE);
    await kit.store.releaseLane(lane);
    assert.deepEqual(await kit.store.lanesWithWork(), []);
    kit.pass(3_600_000);
    await kit.enter("A");
    await kit.store.heartbeat("A", TTL);
    await kit.enqueue(run, ["b"]);
    await kit.expectClean();
    await kit.work(await kit.take("A"), DONE);
  });

  scenario("a lane given back by an owner that knows when its site may be asked is left until then", async (kit) => {
    const run = await kit.runWith(["a", "b"]);
    const lane = await kit.take("A");
    assert.equal(lane.restMs, undefined);
    await kit.work(lane, HANDED_BACK);
    await kit.store.releaseLane(lane, 5000);
    const shared = !kit.store.capabilities.singleEngine;
    const readyAt = shared ? kit.now + 5000 : 0;
    assert.deepEqual(await kit.store.laneWork(LANE), { lane: LANE, readyAt });
    assert.deepEqual(await kit.store.lanesWithWork(), [{ lane: LANE, readyAt }]);
    kit.pass(2000);
    const next = await kit.take("A");
    assert.equal(next.restMs, shared ? 3000 : undefined);
    // It has said nothing, as those who die.
    await kit.store.releaseLane(next);
    const third = await kit.take("A");
    assert.equal(third.restMs, undefined);
    await kit.store.releaseLane(third, 60_000);
    await kit.store.setSite("a.example", { minDelayMs: 10 });
    assert.deepEqual(await kit.store.laneWork(LANE), { lane: LANE, readyAt: 0 }, "by its new limits it may be asked");
    assert.equal((await kit.take("A")).restMs, undefined);
    assert.deepEqual(await kit.states(run), { a: "queued", b: "queued" });
  });
}
