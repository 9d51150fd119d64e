/** What every engine must do, whatever it is made of. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { until } from "../chaos/orb.ts";
import { BRIEF, type EngineHarness, Scene } from "./engine-kit.ts";

const A = "site:a.example";
const B = "site:b.example";
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}-${n}`);

/** How many of the same stand side by side. */
function longestRow(list: readonly string[]): number {
  let [longest, row] = [0, 0];
  for (const [index, value] of list.entries()) {
    row = value === list[index - 1] ? row + 1 : 1;
    longest = Math.max(longest, row);
  }
  return longest;
}

export function engineContract(
  name: string,
  make: () => Promise<EngineHarness>,
  options: { skip?: string; many: boolean },
): void {
  const { many, ...gate } = options;
  const scenario = (title: string, body: (scene: Scene) => Promise<void>) =>
    test(title, gate, async () => {
      await using scene = await Scene.open(make);
      await body(scene);
      await scene.expectClean();
    });

  describe(`${name}: the contract of engines`, gate, () => {
    scenario("a lane that is offered many times is worked on once", async (scene) => {
      const process = await scene.boot();
      const run = await scene.submit({ [A]: ["1"] });
      for (let n = 0; n < 5; n += 1) {
        process.engine.offer([A, A]);
        await scene.harness.poke(scene.store, [A]);
      }
      await scene.completed(run, 1);
      // What comes later is done later: whatever was to come of the offers has come.
      await scene.submit({ [B]: ["2"] });
      await scene.completed(run, 2);
      assert.deepEqual([scene.times("1"), scene.times("2")], [1, 1]);
    });

    scenario("work that lies in the store at the start is found", async (scene) => {
      const run = await scene.submit({ [A]: ["1"], [B]: ["2"] }, true);
      await scene.boot();
      await scene.completed(run, 2);
    });

    scenario("many processes do everything once, and no lane has two owners at a time", async (scene) => {
      const processes = [await scene.boot(), await scene.boot(), await scene.boot()];
      const lanes = names("site:s", 12).map((lane) => `${lane}.example`);
      const tasks = Object.fromEntries(lanes.map((lane) => [lane, names(`slow-${lane}`, 20)]));
      const run = await scene.submit(tasks);
      await scene.completed(run, 240);
      assert.equal(scene.began.length, 240);
      const took = new Set(scene.began.map(({ pid }) => pid));
      assert.equal(took.size, many ? processes.length : 1);
    });

    scenario("sites under one limit take turns", async (scene) => {
      await scene.store.setBudgetCap("resolver:one", 1);
      for (let n = 0; n < 3; n += 1) await scene.boot();
      const lanes = names("site:s", 3).map((lane) => `${lane}.example`);
      const tasks = Object.fromEntries(lanes.map((lane) => [lane, names(`slow-${lane}`, 12)]));
      scene.hold("slow-");
      const run = await scene.submit(tasks, false, "one");
      await until(async () => (await scene.store.laneLeases(lanes)).length === 3, "all lanes have owners");
      scene.release("slow-");
      await until(async () => (await scene.store.overview(run.id, 0)).totals.completed === 36, "all are done");
      const turns = scene.began.map(({ lane }) => lane);
      const allWait = Math.max(...lanes.map((lane) => turns.indexOf(lane)));
      const oneIsDone = Math.min(...lanes.map((lane) => turns.lastIndexOf(lane)));
      const row = turns.slice(allWait, oneIsDone);
      assert.ok(row.length >= 20 && longestRow(row) <= 2, `no site has three turns in a row: ${turns.join(" ")}`);
    });

    scenario("what waits for a limit is not in progress [slow]", async (scene) => {
      await scene.store.setBudgetCap("resolver:one", 1);
      for (let n = 0; n < 3; n += 1) await scene.boot();
      const lanes = names("site:s", 3).map((lane) => `${lane}.example`);
      const run = await scene.submit(
        Object.fromEntries(lanes.map((lane) => [lane, names(`slow-${lane}`, 20)])),
        false,
        "one",
      );
      let most = 0;
      await until(async () => {
        const { totals } = await scene.store.overview(run.id, 0);
        most = Math.max(most, totals.running);
        return totals.completed === 60;
      }, "all are done");
      assert.equal(most, 1, "at any time");
    });

    scenario(
      "a process that is known to be dead is replaced at once, however long its lease would last",
      async (scene) => {
        const lease = { leaseTtlMs: 3_600_000, heartbeatMs: 300 };
        const first = await scene.boot({ lease });
        scene.hold("1");
        const run = await scene.submit({ [A]: ["1", "2"] });
        await scene.begun("1");
        const second = await scene.boot({ lease });
        scene.kill(first);
        assert.equal(await scene.begun("1", 2), second.pid);
        scene.release("1");
        await scene.completed(run, 2);
      },
    );

    scenario("what a dead process had is done by another", async (scene) => {
      const first = await scene.boot({ lease: BRIEF });
      scene.hold("1");
      const run = await scene.submit({ [A]: ["1", "2"] });
      await scene.begun("1");
      const second = await scene.boot({ lease: BRIEF });
      scene.kill(first);
      assert.equal(await scene.begun("1", 2), second.pid);
      scene.release("1");
      await scene.completed(run, 2);
    });

    scenario("a process that was frozen for longer than its lease has lost its lanes, and works on", async (scene) => {
      const first = await scene.boot({ lease: BRIEF });
      scene.hold("1");
      const run = await scene.submit({ [A]: ["1"] });
      await scene.begun("1");
      const second = await scene.boot({ lease: BRIEF });
      scene.freeze(first);
      assert.equal(await scene.begun("1", 2), second.pid);
      first.thaw();
      scene.release("1");
      await scene.completed(run, 1);
      await until(() => first.engine.role === (many ? "engine" : "standby"), "it has found its place again");
      await second.engine.stop();
      await scene.submit({ [A]: ["2"] });
      assert.equal(await scene.begun("2"), first.pid);
      await scene.completed(run, 2);
    });

    scenario("a task that is to be tried again is, when it is time, without anybody saying so", async (scene) => {
      await scene.boot();
      const run = await scene.submit({ [A]: ["flaky-1"], [B]: ["flaky-2"] });
      await scene.completed(run, 2);
      assert.deepEqual([scene.times("flaky-1"), scene.times("flaky-2")], [2, 2]);
    });

    for (const told of [true, false]) {
      scenario(`a pause by another process reaches the owner of a lane, ${told ? "told" : "untold"}`, async (scene) => {
        const tell = () => (told ? scene.harness.poke(scene.store, null) : undefined);
        await scene.boot();
        scene.hold("held");
        scene.hold("later");
        const run = await scene.submit({ [A]: [...names("held", 4), ...names("later", 8)] });
        for (const key of names("held", 4)) await scene.begun(key);
        const inHand = async () => (await scene.store.overview(run.id, 0)).totals.running;
        await until(async () => (await inHand()) > 4, "it has more in hand than it works on");
        await scene.store.setSite("a.example", { paused: true });
        await tell();
        await until(async () => (await inHand()) === 4, "it has given back what it has not begun");
        scene.release("held");
        await scene.submit({ [B]: ["2"] });
        await scene.completed(run, 5);
        // It may have given back because of something before, and not have heard of the pause until now: what it has begun
        // since goes on.
        await until(async () => (await inHand()) === scene.began.length - 5, "it has in hand only what it has begun");
        const begun = scene.began.length;
        scene.release("later");
        await scene.submit({ [B]: ["3"] });
        await scene.completed(run, begun + 1);
        assert.equal(scene.began.length, begun + 1, "all else waits");
        await scene.store.setSite("a.example", { paused: false });
        await tell();
        await scene.completed(run, 14);
      });
    }

    scenario("a drained process finishes what it has and takes nothing, until it is told to go on", async (scene) => {
      const first = await scene.boot();
      scene.hold("1");
      const run = await scene.submit({ [A]: ["1"] });
      await scene.begun("1");
      const second = await scene.boot();
      first.engine.drain();
      scene.release("1");
      await until(() => first.engine.role === "drained", "it has nothing left");
      await scene.submit({ [A]: ["2"], [B]: names("more", 20) });
      await scene.completed(run, 22);
      assert.deepEqual(new Set(scene.began.slice(1).map(({ pid }) => pid)), new Set([second.pid]));
      await second.engine.stop();
      await scene.submit({ [A]: ["3"] });
      first.engine.resume();
      await scene.completed(run, 23);
      assert.equal(await scene.begun("3"), first.pid);
    });

    scenario("an engine that has forgotten everything loses nothing and does nothing twice", async (scene) => {
      await scene.boot({ maxActiveLanes: 1 });
      await scene.boot({ maxActiveLanes: 1 });
      const lanes = names("site:s", 8).map((lane) => `${lane}.example`);
      const run = await scene.submit(Object.fromEntries(lanes.map((lane) => [lane, names(`slow-${lane}`, 6)])));
      await until(() => scene.began.length > 0, "work has begun");
      await scene.harness.wipe();
      await scene.completed(run, 48);
      assert.equal(scene.began.length, 48);
    });

    scenario("a ticket that is delivered twice gives a lane no second owner", async (scene) => {
      await scene.boot();
      await scene.boot();
      scene.hold("1");
      const run = await scene.submit({ [A]: ["1"] });
      await scene.begun("1");
      for (let n = 0; n < 4; n += 1) await scene.harness.double(A);
      await scene.submit({ [B]: ["2"] });
      await scene.begun("2");
      assert.equal(scene.times("1"), 1);
      scene.release("1");
      await scene.submit({ [A]: ["3"] });
      await scene.completed(run, 3);
      assert.equal(scene.times("1"), 1);
    });

    scenario("work that comes in a lane's last moment is not lost", async (scene) => {
      await scene.boot({ reconcileMs: 600_000 });
      await scene.boot({ reconcileMs: 600_000 });
      let run = await scene.submit({ [A]: ["0"] });
      for (let n = 1; n <= 60; n += 1) {
        // As soon as something was begun the next comes, while its lane is about to be given back.
        await scene.begun(String(n - 1));
        if (n % 3 === 0) await new Promise((resolve) => setTimeout(resolve, n % 12));
        run = await scene.submit({ [A]: [String(n)] });
      }
      await scene.completed(run, 61);
    });

    scenario("lanes take turns when there are more of them than places", async (scene) => {
      await scene.boot({ maxActiveLanes: 1 });
      const run = await scene.submit({ [A]: names("slow", 400) });
      await until(() => scene.began.length > 0, "the first lane is at work");
      await scene.submit({ [B]: ["2"] });
      await scene.begun("2");
      assert.ok((await scene.store.overview(run.id, 0)).totals.completed < 400, "the first lane has work left");
      await until(() => scene.began.at(-1)?.lane === A, "the first lane has its next turn");
    });

    scenario("lanes with more urgent work have their turns first, one after the other", async (scene) => {
      await scene.boot({ maxActiveLanes: 1 });
      scene.hold("first");
      const run = await scene.submit({ [A]: ["first"] });
      await scene.begun("first");
      const lanes = names("site:s", 4).map((lane) => `${lane}.example`);
      const keys = ["low@-500", "plain", "urgent@500", "raised"];
      await scene.submit(Object.fromEntries(lanes.map((lane, n) => [lane, [keys[n] as string]])));
      await scene.submit({ [lanes[3] as string]: ["raised@1000"] });
      scene.release("first");
      await scene.completed(run, 6);
      const order = ["first", "raised@1000", "raised", "urgent@500", "plain", "low@-500"];
      assert.deepEqual(
        scene.began.map(({ key }) => key),
        order,
      );
      // Its turn ends when its time is over, and the next one is its as well.
      await scene.submit({ [A]: names("slow", 240).map((key) => `${key}@1000`) });
      await until(() => scene.began.length > 6, "the urgent lane is at work");
      await scene.submit({ [B]: ["last"] });
      await scene.completed(run, 247);
      assert.equal(scene.began.at(-1)?.key, "last");
    });

    scenario("a stop finishes what it can within the grace period, and hands back the rest [slow]", async (scene) => {
      const first = await scene.boot({ graceMs: 4000 });
      scene.hold("quick");
      scene.hold("endless");
      const run = await scene.submit({ [A]: ["quick"], [B]: ["endless", "next"] });
      await scene.begun("quick");
      await scene.begun("endless");
      const stopping = first.engine.stop();
      scene.release("quick");
      await stopping;
      assert.equal(first.engine.role, "stopped");
      assert.equal((await scene.store.taskByKey(run.id, "quick"))?.state, "completed");
      assert.equal((await scene.store.taskByKey(run.id, "endless"))?.state, "queued");
      const second = await scene.boot();
      assert.equal(await scene.begun("endless", 2), second.pid);
      scene.release("endless");
      await scene.completed(run, 3);
      assert.equal(scene.times("quick"), 1);
    });

    if (many)
      scenario(
        "what is due by the clock is told to one process; when that dies or freezes, to another [slow]",
        async (scene) => {
          await scene.boot({ lease: BRIEF });
          await scene.boot({ lease: BRIEF });
          scene.hold("due");
          scene.dueAt = systemClock.now() + 100;
          await until(() => scene.kept.length > 0, "one of them is told");
          scene.kill(scene.byPid(scene.kept[0]));
          await until(() => scene.kept.length > 1, "the other one is told");
          const second = scene.byPid(scene.kept[1]);
          const third = await scene.boot({ lease: BRIEF });
          scene.freeze(second);
          await until(() => scene.kept.at(-1) === third.pid, "the third is told");
          scene.release("due");
          const told = scene.kept.length;
          await until(() => scene.kept.length > told + 3, "it comes again and again");
          await scene.harness.wipe();
          await until(() => scene.kept.length > told + 6, "also when the engine has forgotten it");
        },
      );

    if (many)
      scenario("a process without room is given no lane, and takes part again when it has room", async (scene) => {
        const [first, second] = [await scene.boot(), await scene.boot()];
        const lanes = (name: string) =>
          Object.fromEntries(names(`site:${name}`, 8).map((lane) => [`${lane}.example`, names(lane, 2)]));
        first.fill();
        const run = await scene.submit(lanes("a"));
        await scene.completed(run, 16);
        assert.equal(first.tickets, 0);
        second.fill();
        const taken = second.tickets;
        await scene.submit(lanes("b"));
        first.empty();
        await scene.completed(run, 32);
        assert.ok(first.tickets >= 8);
        assert.equal(second.tickets, taken);
      });

    scenario("one process leads, and another does when it is gone", async (scene) => {
      const first = await scene.boot({ lease: BRIEF });
      await until(() => first.leads, "the first leads");
      const second = await scene.boot({ lease: BRIEF });
      await scene.submit({ [A]: ["1"] });
      await scene.begun("1");
      assert.equal(second.leads, false);
      scene.kill(first);
      await until(() => second.leads, "the second leads");
      const third = await scene.boot({ lease: BRIEF });
      second.engine.drain();
      await until(() => third.leads, "the third leads");
      assert.equal(second.leads, false);
    });
  });
}
