import assert from "node:assert/strict";
import type { Store } from "../../../src/store/ports/port.ts";
import { DONE, type Kit, NOBODY, refused, refusedField, type Scenario, walk } from "./kit.ts";

/** A run's part of the feed, as its log has it. */
function logOf(run: { id: string }, all: Awaited<ReturnType<Store["feed"]>>["events"]) {
  return all.filter((event) => event.runId === run.id).map(({ runId: _run, ...event }) => event);
}

/** Everything after the position, in pages of the given size. */
async function follow(kit: Kit, from: string, limit: number, between: () => Promise<unknown> = async () => {}) {
  const all: Awaited<ReturnType<Store["feed"]>>["events"] = [];
  for (let after = from; ;) {
    const { events, last } = await kit.store.feed({ after, limit });
    assert.ok(events.length <= limit);
    if (events.length === 0) return { all, last };
    assert.equal(last, events.at(-1)?.id);
    all.push(...events);
    assert.equal(new Set(all.map(({ id }) => id)).size, all.length, "nothing comes twice");
    after = last;
    await between();
  }
}

export function feedScenarios(scenario: Scenario): void {
  scenario("a run's log goes on behind an event, while others are written", async (kit) => {
    const run = await kit.runWith(["a"]);
    await kit.store.changeRun(run.id, "running", "Run started", kit.now);
    let rounds = 0;
    const seen = await walk(
      (position) => kit.store.events(run.id, position),
      1,
      async () => {
        if ((rounds += 1) > 4) return;
        await kit.run();
        const to = rounds % 2 === 1 ? "paused" : "running";
        await kit.store.changeRun(run.id, to, `change ${rounds}`, kit.now);
      },
    );
    assert.deepEqual(seen, await kit.events(run));
    assert.deepEqual(
      seen.map(({ message }) => message),
      ["Run created", "Run started", "change 1", "change 2", "change 3", "change 4"],
    );
    assert.deepEqual(await kit.store.events(run.id, { after: seen.at(-1)?.id ?? "", limit: 10 }), []);
    const [last, ...before] = seen.toReversed();
    assert.deepEqual(await kit.store.events(run.id, { order: "newest", limit: 1 }), [last]);
    assert.deepEqual(await kit.store.events(run.id, { order: "newest", after: last?.id ?? "", limit: 10 }), before);
  });

  scenario("a position that is no event of this run is refused, and named", async (kit) => {
    const run = await kit.runWith(["a"]);
    const [stranger] = await kit.events(await kit.run());
    const task = await kit.store.taskByKey(run.id, "a");
    for (const after of [NOBODY, "not an id", "", task?.id ?? "", stranger?.id ?? ""]) {
      await refusedField("after", kit.store.events(run.id, { after, limit: 10 }));
    }
    await refused("not_found", kit.store.events(NOBODY, { limit: 10 }));
  });

  scenario("without a position the feed tells only its end, from which one goes on", async (kit) => {
    const empty = await kit.store.feed({ limit: 10 });
    assert.deepEqual(empty.events, []);
    const run = await kit.run();
    const first = await kit.store.feed({ after: empty.last, limit: 10 });
    assert.deepEqual(
      first.events.map(({ runId, message }) => [runId, message]),
      [[run.id, "Run created"]],
    );
    const end = await kit.store.feed({ limit: 10 });
    assert.deepEqual(end, { events: [], last: first.last });
    assert.deepEqual(await kit.store.feed({ after: end.last, limit: 10 }), end);
  });

  scenario(
    "the feed has the events of all runs in the order they were written, as their logs have them",
    async (kit) => {
      const other = await kit.open();
      const { last: start } = await kit.store.feed({ limit: 1 });
      const one = await kit.runWith(["a"]);
      const two = await kit.page();
      const lane = await kit.take("A");
      const { tasks } = await kit.claim(lane);
      await other.changeRun(one.id, "paused", "Run paused", kit.now);
      await other.changeRun(one.id, "running", "Run resumed", kit.now);
      await kit.settle(lane, tasks, DONE);
      const { all } = await follow(kit, start, 100);
      assert.deepEqual(logOf(one, all), await kit.events(one));
      assert.deepEqual(logOf(two, all), await kit.events(two));
      assert.equal(all.length, (await kit.events(one)).length + (await kit.events(two)).length);
      assert.deepEqual((await follow(kit, start, 2)).all, all);
    },
  );

  scenario("a reader of the feed misses nothing that two connections write meanwhile", async (kit) => {
    const other = await kit.open();
    const { last: start } = await kit.store.feed({ limit: 1 });
    const created = [await kit.run(), await kit.run()];
    let rounds = 0;
    const { all, last } = await follow(kit, start, 1, async () => {
      if ((rounds += 1) > 5) return;
      created.push(await kit.run());
      created.push(await other.openRun({ kind: "queue", maxAttempts: 1, snapshot: null }, kit.now));
    });
    assert.deepEqual(
      all.map(({ runId }) => runId),
      created.map(({ id }) => id),
    );
    assert.deepEqual(await other.feed({ after: last, limit: 10 }), { events: [], last });
  });

  scenario("a reader of the ends of runs gets them alone, each once, and passes over the others", async (kit) => {
    const { last: start } = await kit.store.feed({ limit: 1 });
    const [one, two, three] = [await kit.run(), await kit.runWith(["a"]), await kit.run()];
    await kit.store.changeRun(one.id, "cancelled", "Run cancelled", kit.now);
    await kit.store.changeRun(two.id, "running", "Run started", kit.now);
    await kit.store.changeRun(three.id, "cancelled", "Run cancelled", kit.now);
    const page = await kit.store.feed({ after: start, limit: 1, ends: true });
    assert.deepEqual(
      page.events.map(({ runId, type }) => [runId, type]),
      [[one.id, "run.cancelled"]],
    );
    assert.equal(page.last, page.events.at(-1)?.id);
    await kit.store.changeRun(two.id, "cancelled", "Run cancelled", kit.now);
    await kit.run();
    const rest = await kit.store.feed({ after: page.last, limit: 10, ends: true });
    assert.deepEqual(
      rest.events.map(({ runId }) => runId),
      [three.id, two.id],
    );
    assert.equal(rest.last, (await kit.store.feed({ limit: 0 })).last);
    assert.deepEqual(await kit.store.feed({ after: rest.last, limit: 10, ends: true }), {
      events: [],
      last: rest.last,
    });
  });

  scenario("a position that is no event's is refused, and named", async (kit) => {
    const run = await kit.runWith(["a"]);
    const task = await kit.store.taskByKey(run.id, "a");
    for (const after of [NOBODY, "not an id", "", task?.id ?? "", run.id]) {
      await refusedField("after", kit.store.feed({ after, limit: 10 }));
    }
  });
}
