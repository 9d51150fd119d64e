import assert from "node:assert/strict";
import { DONE, HANDED_BACK, keysOf, LANE, newTask, retryAt, type Scenario } from "./kit.ts";

function many(prefix: string, count: number) {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(3, "0")}`);
}

export function claimScenarios(scenario: Scenario): void {
  scenario(
    "of a resolver no more is claimed than there is room for, and it is said that there is more",
    async (kit) => {
      const tasks = ["a", "b", "c"].map((key) => newTask(key, { resolver: "slow" }));
      await kit.runWith([...tasks, newTask("d")]);
      const lane = await kit.take("A");
      const options = { limit: 10, resolverRoom: { slow: 1 } };
      const claim = (await kit.store.claim(lane, options, kit.now))!;
      assert.deepEqual([keysOf(claim).toSorted(), claim.limited, claim.more], [["a", "d"], ["slow"], false]);
      const none = (await kit.store.claim(lane, { limit: 10, resolverRoom: { slow: 0 } }, kit.now))!;
      assert.deepEqual([none.tasks, none.limited], [[], ["slow"]]);
      const rest = (await kit.store.claim(lane, { limit: 10, resolverRoom: { slow: 5 } }, kit.now))!;
      assert.deepEqual([keysOf(rest), rest.limited], [["b", "c"], undefined]);
    },
  );

  scenario(
    "of items of the queue under a resolver of which nothing is known none is claimed, and of all limits together so many as can begin",
    async (kit) => {
      const run = await kit.store.openRun({ kind: "queue", maxAttempts: null, snapshot: null }, kit.now);
      const tasks = ["a", "b", "c"].map((key) => newTask(key, { resolver: key }));
      await kit.store.enqueue(run.id, [...tasks, newTask("d")], kit.now);
      const lane = await kit.take("A");
      const unknown = (await kit.store.claim(lane, { limit: 10, resolverRoom: {} }, kit.now))!;
      assert.deepEqual([keysOf(unknown), unknown.limited?.toSorted()], [["d"], ["a", "b", "c"]]);
      const options = { limit: 10, resolverRoom: { a: 5, b: 5, c: null }, limitedRoom: 1 };
      const known = (await kit.store.claim(lane, options, kit.now))!;
      assert.deepEqual([known.tasks.length, keysOf(known).includes("c"), known.limited?.length], [2, true, 1]);
    },
  );

  scenario("an owner gets tasks by priority, then by age, and each once", async (kit) => {
    await kit.runWith([newTask("old"), newTask("urgent", { priority: 10 }), newTask("late", { priority: -1 })]);
    kit.pass(10);
    const run = await kit.runWith([]);
    const lane = await kit.take("A");
    assert.deepEqual(keysOf(await kit.claim(lane, 2)), ["urgent", "old"]);
    assert.deepEqual(keysOf(await kit.claim(lane, 2)), ["late"]);
    assert.deepEqual(keysOf(await kit.claim(lane, 2)), []);
    assert.equal(await kit.status(run), "queued");
  });

  scenario("priority and age hold over several resolvers of a run", async (kit) => {
    await kit.runWith([
      newTask("1", { resolver: "r1" }),
      newTask("2", { resolver: "r2", priority: 5 }),
      newTask("3"),
      newTask("4", { resolver: "r1", priority: 5 }),
    ]);
    const lane = await kit.take("A");
    assert.deepEqual(keysOf(await kit.claim(lane, 3)), ["2", "4", "1"]);
    assert.deepEqual(keysOf(await kit.claim(lane, 3)), ["3"]);
  });

  scenario("a claimed task carries all that its handler needs", async (kit) => {
    const run = await kit.runWith(
      [newTask("k", { resolver: "crossref", priority: 3, handler: "file", payload: { a: 1 } })],
      {
        kind: "page",
        maxAttempts: 7,
      },
    );
    const lane = await kit.take("A");
    const { tasks, more, nextReadyAt } = await kit.claim(lane);
    const record = await kit.store.taskByKey(run.id, "k");
    assert.deepEqual([more, nextReadyAt], [false, null]);
    const [task] = tasks;
    assert.deepEqual(
      { ...task, row: 0, streamId: 0, run: 0 },
      {
        row: 0,
        streamId: 0,
        run: 0,
        id: record?.id,
        runId: run.id,
        runKind: "page",
        generation: 1,
        maxAttempts: 7,
        hasDeadline: false,
        memory: null,
        key: "k",
        site: "a.example",
        resolver: "crossref",
        url: "https://a.example/k",
        nextUrl: null,
        priority: 3,
        handler: "file",
        payload: { a: 1 },
        auxiliary: false,
        tries: 0,
        waits: 0,
        claim: 1,
        attempts: [],
        redirects: [],
      },
    );
    assert.equal(record?.state, "running");
  });

  scenario("the first claim starts the run, once", async (kit) => {
    const run = await kit.runWith(["a", "b"]);
    kit.pass(1000);
    const lane = await kit.take("A");
    await kit.claim(lane, 1);
    const started = await kit.store.run(run.id);
    assert.deepEqual([started?.status, started?.startedAt], ["running", kit.now]);
    await kit.claim(lane, 1);
    const events = await kit.events(run);
    assert.deepEqual(
      events.map((event) => event.message),
      ["Run created", "Run started"],
    );
  });

  scenario("what does not fit the window stays, and the claim says so", async (kit) => {
    await kit.runWith(["a", "b", "c"]);
    const lane = await kit.take("A");
    assert.equal((await kit.claim(lane, 2)).more, true);
    assert.equal((await kit.claim(lane, 1)).more, false);
    assert.equal((await kit.claim(lane, 1)).more, false);
  });

  scenario("a huge run does not push a small one aside", async (kit) => {
    await kit.runWith(many("big", 100));
    await kit.runWith(many("small", 3));
    const lane = await kit.take("A");
    const keys = keysOf(await kit.claim(lane, 10));
    assert.equal(keys.filter((key) => key.startsWith("small")).length, 3);
    assert.equal(keys.filter((key) => key.startsWith("big")).length, 7);
    // They also start in turn.
    assert.deepEqual(
      keys.slice(0, 6).map((key) => key.slice(0, 3)),
      ["big", "sma", "big", "sma", "big", "sma"],
    );
  });

  for (const limit of [1, 2, 3, 4, 5, 7]) {
    scenario(`runs that share a lane come in turn when ${limit} are claimed at a time`, async (kit) => {
      const names = ["p", "q", "r"];
      for (const name of names) await kit.runWith(many(name, 60));
      const lane = await kit.take("A");
      const got = new Map(names.map((name) => [name, 0]));
      for (let total = 0; total < 84;) {
        const keys = keysOf(await kit.claim(lane, limit));
        total += keys.length;
        for (const key of keys) got.set(key.slice(0, 1), (got.get(key.slice(0, 1)) ?? 0) + 1);
        const counts = [...got.values()];
        assert.ok(Math.max(...counts) - Math.min(...counts) <= 2, `after ${total}: ${counts.join(", ")}`);
      }
    });
  }

  scenario("tasks of a resolver whose budget is used up stay behind", async (kit) => {
    await kit.runWith([
      ...many("x", 5).map((key) => newTask(key, { resolver: "crossref", priority: 9 })),
      newTask("free"),
      newTask("other", { resolver: "unpaywall" }),
    ]);
    const lane = await kit.take("A");
    const claim = await kit.store.claim(lane, { limit: 3, withoutResolvers: ["crossref"] }, kit.now);
    assert.deepEqual(keysOf(claim).toSorted(), ["free", "other"]);
    assert.equal(claim?.more, false);
    assert.equal((await kit.claim(lane, 10)).tasks.length, 5);
  });

  scenario("a paused or waiting run is not claimed, its neighbour is; resumed, it is again", async (kit) => {
    const run = await kit.runWith(["a1", "a2"]);
    await kit.runWith(["b1", "b2"]);
    const lane = await kit.take("A");
    await kit.claim(lane, 2);
    for (const state of ["paused", "waiting_for_human"] as const) {
      await kit.store.changeRun(run.id, state, `Run ${state}`, kit.now);
      const claim = await kit.claim(lane);
      assert.ok(claim.tasks.every((task) => task.key.startsWith("b")));
      assert.equal(claim.more, false);
      await kit.store.changeRun(run.id, "running", "Run resumed", kit.now);
    }
    assert.deepEqual(keysOf(await kit.claim(lane)), ["a2"]);
  });

  scenario("a cancelled run is not claimed", async (kit) => {
    const run = await kit.runWith(["a"]);
    const lane = await kit.take("A");
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    assert.deepEqual(keysOf(await kit.claim(lane)), []);
  });

  scenario("retries sleep until their time, the claim tells when, and then they come", async (kit) => {
    const run = await kit.runWith(["a", "b"]);
    const lane = await kit.take("A");
    const start = kit.now;
    const { tasks } = await kit.claim(lane);
    await kit.settle(lane, tasks.slice(0, 1), retryAt(start + 2000));
    await kit.settle(lane, tasks.slice(1), retryAt(start + 1000));
    assert.deepEqual(await kit.counts(run), { retrying: 2 });
    assert.deepEqual(await kit.claim(lane), { tasks: [], nextReadyAt: start + 1000, more: false });
    kit.clock.wall = start + 999;
    assert.deepEqual(keysOf(await kit.claim(lane)), []);
    kit.clock.wall = start + 1000;
    const due = await kit.claim(lane);
    assert.deepEqual([keysOf(due), due.nextReadyAt, due.tasks[0]?.tries], [["b"], start + 2000, 1]);
    kit.clock.wall = start + 9000;
    const last = await kit.claim(lane);
    assert.deepEqual([keysOf(last), last.nextReadyAt], [["a"], null]);
  });

  scenario("a flood of due retries comes in portions, none is forgotten [slow]", async (kit) => {
    const run = await kit.runWith(many("t", 1200));
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane, 1200);
    await kit.settle(lane, tasks, retryAt(kit.now));
    const seen = new Set<string>();
    for (let round = 0; round < 10 && seen.size < 1200; round += 1) {
      const claim = await kit.claim(lane, 1000);
      for (const task of claim.tasks) seen.add(task.key);
      if (seen.size < 1200)
        assert.ok(claim.more || (claim.nextReadyAt ?? Infinity) <= kit.now, "the rest is announced");
      await kit.settle(lane, claim.tasks, DONE);
    }
    assert.equal(seen.size, 1200);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("a paused run's retries do not wake the lane", async (kit) => {
    const run = await kit.runWith(["a"]);
    const lane = await kit.take("A");
    await kit.work(lane, retryAt(kit.now + 10));
    await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
    kit.pass(20);
    assert.deepEqual(await kit.claim(lane), { tasks: [], nextReadyAt: null, more: false });
  });

  scenario("what was handed back comes again before younger tasks of its rank", async (kit) => {
    await kit.runWith(["a", "b"]);
    const lane = await kit.take("A", LANE);
    const { tasks } = await kit.claim(lane, 1);
    await kit.settle(lane, tasks, HANDED_BACK);
    assert.deepEqual(keysOf(await kit.claim(lane)), ["a", "b"]);
  });

  scenario("what was handed back for a while comes again after it, and no try was spent", async (kit) => {
    await kit.runWith(["a"]);
    const lane = await kit.take("A", LANE);
    const { tasks } = await kit.claim(lane);
    await kit.settle(lane, tasks, { kind: "handed_back", readyAt: kit.now + 1_000 });
    assert.deepEqual(await kit.claim(lane), { tasks: [], nextReadyAt: kit.now + 1_000, more: false });
    kit.pass(1_000);
    const again = await kit.claim(lane);
    assert.deepEqual(
      again.tasks.map(({ key, tries }) => ({ key, tries })),
      [{ key: "a", tries: 0 }],
    );
  });

  scenario(
    "of many runs that wait for one site a claim serves some, and the next claims the others [slow]",
    async (kit) => {
      const runs = [];
      for (let index = 0; index < 70; index += 1) runs.push(await kit.runWith([`task-${index}`]));
      const lane = await kit.take("A");
      const seen: string[] = [];
      for (;;) {
        const { tasks, more } = await kit.claim(lane, 100);
        seen.push(...tasks.map(({ runId }) => runId));
        const states = await kit.store.runStates(runs.map(({ id }) => id));
        assert.equal([...states.values()].filter((state) => state === "running").length, seen.length);
        if (!more) break;
        assert.ok(tasks.length > 0 && tasks.length < 70);
      }
      assert.deepEqual(
        seen,
        runs.map(({ id }) => id),
      );
    },
  );
}
