import assert from "node:assert/strict";
import { failure } from "../../../src/domain/run/failure.ts";
import type { RunHold } from "../../../src/domain/run/run-hold.ts";
import { DONE, type Kit, keysOf, LANE, newTask, type Scenario } from "./kit.ts";

const hold = (kit: Kit, more: Partial<RunHold> = {}): RunHold => ({
  reason: "proxies",
  since: kit.now,
  until: kit.now + 60_000,
  message: "Waiting for proxies: none is usable",
  ...more,
});
const THERE_ARE_ENOUGH = { level: "info", message: "Run goes on: there are enough proxies" } as const;
const NO_PROXIES = failure("no_proxies", "no proxy is usable");

export function holdScenarios(scenario: Scenario): void {
  scenario("a run that is held from its beginning is offered to nobody until it is released", async (kit) => {
    const run = await kit.page("a", { hold: hold(kit) });
    assert.deepEqual((await kit.store.run(run.id))?.hold, hold(kit));
    assert.deepEqual(await kit.words(run), ["Run created", "Waiting for proxies: none is usable"]);
    const other = await kit.page("b");
    const grant = await kit.take("w");
    assert.deepEqual(keysOf(await kit.claim(grant)), ["b"]);
    assert.deepEqual(
      (await kit.store.heldRuns("proxies", 10)).map(({ id }) => id),
      [run.id],
    );
    assert.deepEqual(await kit.store.heldRuns("previous_run", 10), []);

    assert.deepEqual(await kit.store.releaseRuns([run.id, other.id], "previous_run", THERE_ARE_ENOUGH, kit.now), {
      released: [],
      lanes: [],
    });
    const controls = await kit.store.controlVersion();
    assert.deepEqual(await kit.store.releaseRuns([run.id, other.id], "proxies", THERE_ARE_ENOUGH, kit.now), {
      released: [run.id],
      lanes: [LANE],
    });
    assert.ok((await kit.store.controlVersion()) > controls);
    assert.equal((await kit.store.run(run.id))?.hold, null);
    assert.deepEqual((await kit.words(run)).at(-1), THERE_ARE_ENOUGH.message);
    assert.deepEqual(keysOf(await kit.claim(grant)), ["a"]);
  });

  scenario("a run that is held in the middle finishes what is under way, and begins nothing", async (kit) => {
    const run = await kit.runWith(["a", "b", "c"]);
    const grant = await kit.take("w");
    const { tasks } = await kit.claim(grant, 1);
    const controls = await kit.store.controlVersion();
    assert.equal(await kit.store.holdRun(run.id, hold(kit), kit.now), true);
    assert.equal(await kit.store.holdRun(run.id, hold(kit), kit.now), false, "it is held already");
    assert.ok((await kit.store.controlVersion()) > controls, "owners must notice");
    assert.deepEqual(keysOf(await kit.claim(grant)), []);
    assert.equal((await kit.store.claim(grant, { limit: 1 }, kit.now))?.more, false);
    await kit.settle(grant, tasks, DONE);
    await kit.store.releaseLane(grant);
    assert.deepEqual(await kit.store.lanesWithWork(), []);
    kit.pass(3_600_000);
    await kit.expectClean();
    await kit.store.releaseRuns([run.id], "proxies", THERE_ARE_ENOUGH, kit.now);
    assert.deepEqual(
      (await kit.store.lanesWithWork()).map(({ lane }) => lane),
      [LANE],
    );
    await kit.expectClean();
  });

  scenario("a crawl that is held has no turn, and takes nobody else's", async (kit) => {
    const crawl = async (key: string, more: { hold?: RunHold } = {}) =>
      (
        await kit.store.startRun(
          { kind: "crawl", maxAttempts: 3, snapshot: { options: {} }, pagesLimit: 3, ...more },
          [newTask(key)],
          kit.now,
        )
      ).created;
    const held = await crawl("a", { hold: hold(kit) });
    const other = await crawl("b");
    assert.deepEqual((await kit.store.admitCrawls(1, kit.now)).admitted, [other.id]);
    assert.deepEqual((await kit.store.admitCrawls(5, kit.now)).admitted, []);
    await kit.store.releaseRuns([held.id], "proxies", THERE_ARE_ENOUGH, kit.now);
    assert.deepEqual((await kit.store.admitCrawls(5, kit.now)).admitted, [held.id]);
  });

  scenario("a crawl that is held in its middle gives its place back, and its time stands still", async (kit) => {
    const crawl = async (key: string) =>
      (
        await kit.store.startRun(
          { kind: "crawl", maxAttempts: 3, snapshot: { options: {} }, timeLimitMs: 10_000 },
          [newTask(key), newTask(`${key}2`)],
          kit.now,
        )
      ).created;
    const [held, other] = [await crawl("a"), await crawl("b")];
    assert.deepEqual((await kit.store.admitCrawls(1, kit.now)).admitted, [held.id]);
    const grant = await kit.take("w");
    await kit.settle(grant, (await kit.claim(grant, 1)).tasks, DONE);
    kit.pass(4000);
    await kit.store.holdRun(held.id, hold(kit), kit.now);
    assert.deepEqual(await kit.store.crawlCounts(), { running: 0, queued: 2 });
    assert.deepEqual((await kit.store.admitCrawls(1, kit.now)).admitted, [other.id]);
    kit.pass(9000);
    assert.deepEqual(await kit.store.passTime(9000, kit.now, 10), []);
    const { ranMs, runningSince } = (await kit.store.run(held.id))!;
    assert.deepEqual([ranMs, runningSince], [4000, null]);

    await kit.store.releaseRuns([held.id], "proxies", THERE_ARE_ENOUGH, kit.now);
    const waits = (await kit.store.run(held.id))!;
    assert.deepEqual([waits.status, waits.hold?.reason, waits.runningSince], ["running", "turn", null]);
    assert.deepEqual((await kit.store.admitCrawls(1, kit.now)).admitted, [], "another one has its place");
    assert.deepEqual(keysOf(await kit.claim(grant)), ["b", "b2"]);
    await kit.store.changeRun(held.id, "paused", "Run paused", kit.now);
    assert.deepEqual((await kit.store.admitCrawls(2, kit.now)).admitted, []);
    await kit.store.changeRun(held.id, "queued", "Run resumed", kit.now);
    assert.deepEqual((await kit.store.admitCrawls(2, kit.now)).admitted, [held.id]);
    const last = (await kit.store.run(held.id))!;
    assert.deepEqual([last.status, last.hold, last.ranMs], ["running", null, 4000]);
    kit.pass(6000);
    assert.ok((await kit.store.passTime(6000, kit.now, 10)).includes(held.id), "its time has gone on");
    await kit.expectClean();
  });

  scenario("a run of another kind that was held goes on at once, and so does its time", async (kit) => {
    const timed = { kind: "queue" as const, maxAttempts: 3, snapshot: null, timeLimitMs: 10_000 };
    const { created: run } = await kit.store.startRun(timed, [newTask("a"), newTask("b")], kit.now);
    const grant = await kit.take("w");
    await kit.settle(grant, (await kit.claim(grant, 1)).tasks, DONE);
    kit.pass(4000);
    await kit.store.holdRun(run.id, hold(kit), kit.now);
    await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
    await kit.store.changeRun(run.id, "running", "Run resumed", kit.now);
    kit.pass(20_000);
    assert.deepEqual(await kit.store.passTime(20_000, kit.now, 10), []);
    await kit.store.releaseRuns([run.id], "proxies", THERE_ARE_ENOUGH, kit.now);
    const { status, ranMs, runningSince } = (await kit.store.run(run.id))!;
    assert.deepEqual([status, ranMs, runningSince], ["running", 4000, kit.now]);
    assert.deepEqual(keysOf(await kit.claim(grant)), ["b"]);
  });

  scenario("a held run does not begin by the stop of one of its tasks, and ends with the last of them", async (kit) => {
    const { created: run } = await kit.store.startRun(
      { kind: "queue", maxAttempts: 3, snapshot: null, hold: hold(kit) },
      [newTask("a"), newTask("b")],
      kit.now,
    );
    const stop = async (key: string) => kit.store.stopTask((await kit.store.taskByKey(run.id, key))?.id ?? "", kit.now);
    await stop("a");
    const { status, startedAt, hold: still } = (await kit.store.run(run.id))!;
    assert.deepEqual([status, startedAt, still?.reason], ["queued", null, "proxies"]);
    await stop("b");
    assert.equal(await kit.status(run), "failed");
    await kit.expectClean();
  });

  scenario(
    "a held run can be paused, and is still held when it goes on; cancelled, it waits for nothing",
    async (kit) => {
      const run = await kit.page("a", { hold: hold(kit) });
      await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
      await kit.store.changeRun(run.id, "running", "Run resumed", kit.now);
      assert.deepEqual(keysOf(await kit.claim(await kit.take("w"))), []);
      await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
      assert.equal((await kit.store.run(run.id))?.hold, null);
      assert.equal(await kit.store.holdRun(run.id, hold(kit), kit.now), false, "it has ended");
      assert.equal(await kit.store.failHeldRun(run.id, "proxies", NO_PROXIES, kit.now), false);
      while ((await kit.store.sweepEnded(10, kit.now)) > 0);
    },
  );

  scenario("a held run that got nothing fails once, says why, and goes on with what was left", async (kit) => {
    const run = await kit.page("a", { hold: hold(kit) });
    assert.equal(await kit.store.failHeldRun(run.id, "previous_run", NO_PROXIES, kit.now), false);
    assert.equal(await kit.store.failHeldRun(run.id, "proxies", NO_PROXIES, kit.now), true);
    const failed = await kit.store.run(run.id);
    assert.deepEqual(
      [failed?.status, failed?.message, failed?.facts.failure_code, failed?.facts.failure_reason, failed?.hold],
      ["failed", "Run failed: no proxy is usable", "network", "no_proxies", null],
    );
    await kit.expectClean();
    while ((await kit.store.sweepEnded(10, kit.now)) > 0);
    assert.deepEqual(await kit.states(run), { a: "cancelled" });

    const { requeued, lanes } = await kit.store.goOn(run.id, { limit: 10 }, kit.now);
    assert.deepEqual([requeued, lanes], [1, [LANE]]);
    const grant = await kit.take("w");
    await kit.work(grant, DONE);
    const { status, facts } = (await kit.store.run(run.id))!;
    assert.deepEqual(
      [status, facts.failure_code ?? null, facts.failure_reason ?? null, facts.error_message ?? null],
      ["completed", null, null, null],
    );
    assert.equal((await kit.store.goOn(run.id, { limit: 10 }, kit.now)).requeued, 0, "nothing is left");
  });

  scenario("what a run has waited in vain counts until something of it has ended", async (kit) => {
    const run = await kit.runWith(["a", "b"]);
    const held = async () => (await kit.store.heldRuns("proxies", 10))[0];
    const untilFrom = async () => ((await held())?.hold.until ?? 0) - kit.now;
    await kit.store.holdRun(run.id, hold(kit), kit.now, 5_000);
    assert.deepEqual([await untilFrom(), (await held())?.waits], [60_000, 1]);
    kit.pass(20_000);
    await kit.store.releaseRuns([run.id], "proxies", THERE_ARE_ENOUGH, kit.now);
    kit.pass(100_000);
    await kit.store.holdRun(run.id, hold(kit), kit.now);
    assert.deepEqual(
      [await untilFrom(), (await held())?.waits],
      [35_000, 2],
      "not the time in which it had its chance",
    );
    kit.pass(50_000);
    await kit.store.releaseRuns([run.id], "proxies", THERE_ARE_ENOUGH, kit.now);
    await kit.store.holdRun(run.id, hold(kit), kit.now);
    assert.deepEqual([await untilFrom(), (await held())?.waits], [0, 3]);
    await kit.store.releaseRuns([run.id], "proxies", THERE_ARE_ENOUGH, kit.now);
    const grant = await kit.take("w");
    await kit.settle(grant, (await kit.claim(grant, 1)).tasks, DONE);
    await kit.store.holdRun(run.id, hold(kit), kit.now);
    assert.deepEqual([await untilFrom(), (await held())?.waits], [60_000, 1], "a page came");
  });

  scenario("the time of a held run stands still while it is paused, and it hides nobody meanwhile", async (kit) => {
    const [paused, other] = [await kit.page("a", { hold: hold(kit) }), await kit.page("b", { hold: hold(kit) })];
    const until = kit.now + 60_000;
    const ids = async (limit: number, after?: string) =>
      (await kit.store.heldRuns("proxies", limit, after)).map(({ id }) => id);
    assert.deepEqual(await ids(1), [paused.id]);
    assert.deepEqual(await ids(1, paused.id), [other.id]);
    kit.pass(10_000);
    await kit.store.changeRun(paused.id, "paused", "Run paused", kit.now);
    assert.deepEqual(await ids(1), [other.id]);
    assert.equal((await kit.store.run(paused.id))?.hold?.until, null);
    kit.pass(500_000);
    await kit.store.changeRun(paused.id, "running", "Run resumed", kit.now);
    assert.deepEqual((await kit.store.run(paused.id))?.hold, {
      ...hold(kit),
      since: kit.now - 10_000,
      until: until + 500_000,
    });
    assert.deepEqual(await ids(1), [paused.id]);
  });

  scenario("a crawl that gets no proxy for the rest ends with the pages it has, and can go on", async (kit) => {
    const crawl = async (partial_results_ok: boolean) => {
      const snapshot = { options: { partial_results_ok } };
      const { created } = await kit.store.startRun(
        { kind: "crawl", maxAttempts: 3, snapshot, pagesLimit: 9 },
        [newTask("a"), newTask("b")],
        kit.now,
      );
      await kit.store.admitCrawls(5, kit.now);
      const grant = await kit.take("w");
      await kit.settle(grant, (await kit.claim(grant, 1)).tasks, DONE);
      await kit.store.releaseLane(grant);
      await kit.store.holdRun(created.id, hold(kit), kit.now);
      assert.equal(await kit.store.failHeldRun(created.id, "proxies", NO_PROXIES, kit.now), true);
      while ((await kit.store.sweepEnded(10, kit.now)) > 0);
      return created;
    };
    const all = (await kit.store.run((await crawl(false)).id))!;
    assert.deepEqual(
      [all.status, all.facts.failure_reason, all.facts.end_reason],
      ["failed", "no_proxies", "no_proxies"],
    );
    const part = await crawl(true);
    const ended = (await kit.store.run(part.id))!;
    assert.deepEqual(
      [ended.status, ended.facts.failure_reason, ended.facts.end_reason],
      ["partial", undefined, "no_proxies"],
    );
    assert.match(
      ended.message ?? "",
      /^Run completed in part: 1 page fetched; some pages were not fetched because no proxy was usable/,
    );
    await kit.expectClean();
    assert.equal((await kit.store.goOn(part.id, { limit: 10 }, kit.now)).requeued, 1);
    await kit.store.admitCrawls(5, kit.now);
    await kit.work(await kit.take("w"), DONE);
    assert.equal(await kit.status(part), "completed");
  });
}
