import assert from "node:assert/strict";
import { isOrbError } from "../../../src/base/errors.ts";
import { DONE, FAILED, keysOf, LANE, type Kit, newTask, refusedField, retryAt, type Scenario } from "./kit.ts";

const OTHER = "site:b.example";
const THIRD = "site:c.example";
const elsewhere = (key: string, more = {}) => newTask(key, { lane: OTHER, ...more });
/** The first site waits for the second one. */
const depend = (kit: Kit, ...on: string[]) => kit.store.setSite("a.example", { dependsOn: on });
const lanes = async (kit: Kit) => (await kit.store.lanesWithWork("A")).map(({ lane }) => lane).toSorted();
const ready = async (kit: Kit, lane = LANE) => {
  const hold = await kit.take("A", lane);
  const keys = keysOf(await kit.claim(hold));
  await kit.store.releaseLane(hold);
  return keys;
};

async function expectPath(work: Promise<unknown>, path: string): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(isOrbError(error, "input_invalid"));
    assert.ok(error.message.endsWith(`: ${path}`), error.message);
    assert.deepEqual(
      error.fields.map((field) => field.path),
      ["depends_on"],
    );
    return true;
  });
}

export function dependScenarios(scenario: Scenario): void {
  scenario("a site's work waits until that of the site which it needs is finished", async (kit) => {
    await depend(kit, "b.example");
    const run = await kit.runWith(["a", elsewhere("b1"), elsewhere("b2", { resolver: "r" })]);
    await kit.enter("A");
    assert.deepEqual(await lanes(kit), [OTHER]);
    assert.deepEqual(await ready(kit), []);
    const site = await kit.store.site("a.example");
    assert.deepEqual([site?.dependsOn, site?.waitsFor], [["b.example"], ["b.example"]]);
    assert.deepEqual(
      (await kit.store.runSites(run.id, { limit: 10 })).map((one) => [one.site.site, one.waitsFor]),
      [
        ["a.example", ["b.example"]],
        ["b.example", []],
      ],
    );
    // However long that takes, nothing is wrong.
    kit.pass(3_600_000);
    const other = await kit.takeOver("A", OTHER);
    await kit.expectClean();
    const { tasks } = await kit.claim(other);
    const of = (key: string) => tasks.filter((task) => task.key === key);
    assert.deepEqual((await kit.settle(other, of("b1"), DONE)).opened, [], "one is left, under another resolver");
    assert.deepEqual(await lanes(kit), []);
    await kit.settle(other, of("b2"), retryAt(kit.now + 1000));
    assert.deepEqual(await ready(kit), [], "one that is tried again is not finished");
    kit.pass(1000);
    assert.deepEqual((await kit.work(other, FAILED)).opened, [LANE]);
    assert.deepEqual(await lanes(kit), [LANE]);
    assert.deepEqual((await kit.store.site("a.example"))?.waitsFor, []);
    assert.deepEqual(await ready(kit), ["a"]);
  });

  scenario("what is found at the needed site meanwhile is waited for; what was in hand is done", async (kit) => {
    await depend(kit, "b.example");
    const run = await kit.runWith(["a1", "a2"]);
    const lane = await kit.take("A");
    const [first] = (await kit.claim(lane, 1)).tasks;
    await kit.enqueue(run, [elsewhere("b")]);
    assert.deepEqual(keysOf(await kit.claim(lane)), []);
    assert.deepEqual((await kit.settle(lane, [first!], DONE)).lost, []);
    assert.deepEqual((await kit.work(await kit.take("A", OTHER), DONE)).opened, [LANE]);
    assert.deepEqual(keysOf(await kit.claim(lane)), ["a2"]);
  });

  scenario("older runs are waited for, and whoever comes later is not", async (kit) => {
    await kit.runWith([elsewhere("old")]);
    const run = await kit.runWith(["a"]);
    await depend(kit, "b.example");
    await kit.runWith([elsewhere("young")]);
    assert.deepEqual(await ready(kit), []);
    const other = await kit.take("A", OTHER);
    const { tasks } = await kit.claim(other);
    const of = (key: string) => tasks.filter((task) => task.key === key);
    assert.deepEqual((await kit.settle(other, of("old"), DONE)).opened, [LANE]);
    assert.deepEqual((await kit.store.runSites(run.id, { limit: 1 }))[0]?.waitsFor, []);
    assert.deepEqual(await ready(kit), ["a"]);
    await kit.settle(other, of("young"), DONE);
  });

  scenario("new work of an older run at the needed site stops nobody who has begun", async (kit) => {
    await depend(kit, "b.example");
    const queue = await kit.run();
    await kit.runWith(["a1", "a2"]);
    const lane = await kit.take("A");
    await kit.settle(lane, (await kit.claim(lane, 1)).tasks, DONE);
    await kit.enqueue(queue, [elsewhere("b1")]);
    const rest = await kit.claim(lane);
    assert.deepEqual(keysOf(rest), ["a2"]);
    await kit.settle(lane, rest.tasks, DONE);

    // Whoever begins now waits for what is there now, and not for what is added when that has been finished.
    await kit.page("late");
    assert.deepEqual(keysOf(await kit.claim(lane)), []);
    const other = await kit.take("A", OTHER);
    const { tasks } = await kit.claim(other);
    await kit.enqueue(queue, [elsewhere("b2", { resolver: "r" })]);
    assert.deepEqual((await kit.settle(other, tasks, DONE)).opened, [], "the run has never been without work there");
    assert.deepEqual(keysOf(await kit.claim(lane)), []);
    assert.deepEqual((await kit.work(other, DONE)).opened, [LANE]);
    await kit.enqueue(queue, [elsewhere("b3")]);
    assert.deepEqual(keysOf(await kit.claim(lane)), ["late"]);
    await kit.expectClean();
  });

  scenario("a crawl waits for all who were at work at the needed site when it had its turn", async (kit) => {
    await depend(kit, "b.example");
    const crawl = { kind: "crawl" as const, maxAttempts: 1, snapshot: {} };
    await kit.store.startRun(crawl, [newTask("a")], kit.now);
    const page = (key: string) =>
      kit.store.startRun({ kind: "page", maxAttempts: 1, snapshot: {} }, [elsewhere(key)], kit.now);
    await page("before");
    await kit.store.admitCrawls(1, kit.now);
    await page("after");
    assert.deepEqual(await ready(kit), []);
    const other = await kit.take("A", OTHER);
    const { tasks } = await kit.claim(other);
    const of = (key: string) => tasks.filter((task) => task.key === key);
    assert.deepEqual((await kit.settle(other, of("after"), DONE)).opened, []);
    assert.deepEqual((await kit.settle(other, of("before"), DONE)).opened, [LANE]);
    assert.deepEqual(await ready(kit), ["a"]);
  });

  scenario(
    "a run that has not begun because it is held is not waited for, and begins when it is released",
    async (kit) => {
      await depend(kit, "b.example");
      const hold = { reason: "previous_run", since: kit.now, until: null, message: "Waiting" } as const;
      const held = (key: string, lane: string) =>
        kit.store.startRun({ kind: "page", maxAttempts: 1, snapshot: {}, hold }, [newTask(key, { lane })], kit.now);
      const { created: first } = await held("b", OTHER);
      const { created: second } = await held("a", LANE);
      await kit.page("page");
      assert.deepEqual(await ready(kit), ["page"]);
      const release = { level: "info", message: "Run goes on" } as const;
      await kit.store.releaseRuns([first.id, second.id], "previous_run", release, kit.now);
      await kit.expectClean();
      assert.equal((await kit.store.runSites(second.id, { limit: 1 }))[0]?.waitsFor[0], "b.example");
      assert.deepEqual((await kit.work(await kit.take("A", OTHER), DONE)).opened, [LANE]);
      assert.deepEqual((await ready(kit)).toSorted(), ["a", "page"]);
    },
  );

  scenario(
    "a run that is cancelled or has no time left is waited for no longer, one that is paused is",
    async (kit) => {
      await depend(kit, "b.example");
      const old = await kit.runWith([elsewhere("old")]);
      await kit.runWith(["a"]);
      await kit.store.changeRun(old.id, "paused", "Run paused", kit.now);
      assert.deepEqual(await ready(kit), []);
      await kit.store.changeRun(old.id, "cancelled", "Run cancelled", kit.now);
      await kit.enter("A");
      assert.deepEqual(await lanes(kit), [LANE]);
      assert.deepEqual(await ready(kit), ["a"]);
      await kit.store.sweepEnded(10, kit.now);
    },
  );

  scenario("a crawl that waits for its turn keeps nobody waiting who might have it", async (kit) => {
    await depend(kit, "b.example");
    const crawl = { kind: "crawl" as const, maxAttempts: 1, snapshot: {} };
    await kit.store.startRun(crawl, [elsewhere("old")], kit.now);
    await kit.store.startRun(crawl, [newTask("a")], kit.now);
    const page = await kit.page();
    assert.deepEqual(await ready(kit), ["page"]);
    assert.equal((await kit.store.admitCrawls(2, kit.now)).admitted.length, 2);
    assert.deepEqual(await ready(kit), [], "now they have it, and the first one comes first");
    assert.equal((await kit.work(await kit.take("A", OTHER), DONE)).ended.length, 1);
    assert.deepEqual((await ready(kit)).toSorted(), ["a", "page"]);
    assert.equal(await kit.status(page), "running");
  });

  scenario("one after another, over several sites", async (kit) => {
    await depend(kit, "b.example", "c.example");
    await kit.store.setSite("b.example", { dependsOn: ["c.example"] });
    const run = await kit.runWith(["a", elsewhere("b"), newTask("c", { lane: THIRD })]);
    const order: string[] = [];
    await kit.enter("A");
    for (let open = await lanes(kit); open.length > 0; open = await lanes(kit)) {
      for (const name of open) {
        const lane = await kit.take("A", name);
        await kit.work(lane, DONE);
        await kit.store.releaseLane(lane);
      }
      order.push(open.join(" "));
    }
    assert.deepEqual(order, [THIRD, OTHER, LANE]);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("what a site needs may change at any time, and holds at once", async (kit) => {
    await kit.runWith(["a", elsewhere("b")]);
    const version = await kit.store.controlVersion();
    await depend(kit, "nobody.example");
    assert.ok((await kit.store.controlVersion()) > version);
    assert.deepEqual(await ready(kit), ["a"], "a site that nobody knows has nothing to do");
    await depend(kit, "b.example", "nobody.example", "b.example");
    assert.deepEqual((await kit.store.site("a.example"))?.dependsOn, ["b.example", "nobody.example"]);
    assert.deepEqual(await ready(kit), []);
    await depend(kit);
    assert.deepEqual(await ready(kit), ["a"]);
  });

  scenario("sites of one group may wait for each other", async (kit) => {
    for (const site of ["a.example", "b.example"]) await kit.store.setSite(site, { group: "shop" });
    await depend(kit, "b.example");
    await kit.runWith(["a", elsewhere("b")]);
    const lane = await kit.take("A", "group:shop");
    const { tasks } = await kit.claim(lane);
    assert.deepEqual(keysOf({ tasks, more: false, nextReadyAt: null }), ["b"]);
    assert.deepEqual((await kit.settle(lane, tasks, DONE)).opened, ["group:shop"]);
    assert.deepEqual(keysOf(await kit.claim(lane)), ["a"]);
  });

  scenario("a circle is refused, with the way round it, and nothing is changed", async (kit) => {
    await depend(kit, "b.example");
    await kit.store.setSite("b.example", { dependsOn: ["c.example", "d.example"] });
    await expectPath(
      kit.store.setSite("c.example", { dependsOn: ["a.example"], maxConcurrency: 2 }),
      "c.example → a.example → b.example → c.example",
    );
    await expectPath(kit.store.setSite("e.example", { dependsOn: ["e.example"] }), "e.example → e.example");
    await refusedField("depends_on", kit.store.setSite("b.example", { dependsOn: ["a.example"] }));
    assert.equal(await kit.store.site("c.example"), null);
    assert.deepEqual((await kit.store.site("b.example"))?.dependsOn, ["c.example", "d.example"]);
  });
}
