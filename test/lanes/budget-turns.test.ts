import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { silentLog } from "../../src/base/log.ts";
import { Signal } from "../../src/base/signal.ts";
import { resolverKey } from "../../src/domain/lane/lane.ts";
import { Budgets } from "../../src/lanes/limits/budgets.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { candidate, TTL } from "../contract/store/kit.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

const KEY = resolverKey("one");

interface Process {
  budgets: Budgets;
  lane: Signal;
  take(): boolean;
  wait(): void;
  release(): void;
}

/** It asks periodically and gets a permit soon. */
async function getsIt(clock: FakeClock, { take }: Process): Promise<void> {
  for (let passed = 0; !take(); passed += 5) {
    assert.ok(passed < 200, "it waits no longer than it takes to ask again");
    await clock.advance(5);
  }
}

/** Two processes with one lane each and a limit of one, on a database that they share; `ours` has the unit. */
async function make(t: TestContext) {
  const clock = new FakeClock();
  const store = openSqliteStore({ path: ":memory:", clock, connection: preparedInMemory() });
  t.after(() => store.close());
  await store.takeEngine(candidate("me"), TTL);
  for (const owner of ["me", "they"]) await store.joinOwners(owner, TTL);
  /** Contention checks are answered only when this is resolved. */
  const looks: { held: Promise<void> | null } = { held: null };
  const shared = new Proxy(store, {
    get: (target, name) => {
      if (name === "capabilities") return { singleEngine: false, notifies: false };
      if (name !== "permitContenders") return Reflect.get(target, name) as unknown;
      return async (key: string) => {
        const answer = await target.permitContenders(key);
        await looks.held;
        return answer;
      };
    },
  }) as Store;
  const [ours, theirs] = ["me", "they"].map((owner) => {
    const budgets = new Budgets({ store: shared, clock, log: silentLog, caps: { one: 1 } });
    budgets.setOwner(owner);
    const lane = new Signal();
    return {
      budgets,
      lane,
      take: () => budgets.take("one", lane),
      wait: () => budgets.wait("one", lane),
      release: () => budgets.release("one", lane),
    };
  }) as [Process, Process];
  while (!ours.take()) await clock.advance(1);
  for (let asked = 0; asked < 5; asked += 1) {
    assert.equal(theirs.take(), false);
    await clock.advance(1);
  }
  assert.equal(await store.permitContenders(KEY), 2);
  return { clock, store, looks, ours, theirs };
}

test("a process has two turns in a row and no third, however late it learns that another one waits", async (t) => {
  const { clock, store, looks, ours, theirs } = await make(t);
  const answer = Promise.withResolvers<void>();
  looks.held = answer.promise;
  ours.wait();
  ours.release();
  assert.equal(ours.take(), true, "the second one begins while it is asked whether others wait");
  ours.wait();
  ours.release();
  assert.equal(ours.take(), false);
  answer.resolve();
  await clock.advance(1);
  assert.equal(ours.take(), false, "the unit is the other one's");
  await getsIt(clock, theirs);
  assert.equal(await store.permitContenders(KEY), 2);
});

test("a process that passes a unit on is in line for the next one before its lanes have asked again", async (t) => {
  const { clock, store, ours, theirs } = await make(t);
  ours.wait();
  ours.release();
  await clock.advance(1);
  assert.equal(ours.take(), true);
  ours.wait();
  ours.release();
  await clock.advance(1);
  assert.equal(await store.permitContenders(KEY), 2);
  await getsIt(clock, theirs);
  // One turn after the other, and the first process has not asked in between.
  theirs.wait();
  theirs.release();
  await clock.advance(1);
  assert.equal(theirs.take(), true);
  theirs.wait();
  theirs.release();
  await clock.advance(1);
  assert.equal(theirs.take(), false);
});

test("a process whose lanes end passes a unit on at once, and keeps no place in line", async (t) => {
  const { clock, store, ours, theirs } = await make(t);
  ours.release();
  await clock.advance(1);
  await getsIt(clock, theirs);
  assert.equal(await store.permitContenders(KEY), 1);
});

test("a process keeps its place in line while its lanes take their time to ask again", async (t) => {
  const { clock, store, theirs } = await make(t);
  const ask = () => {
    theirs.wait();
    void theirs.lane.wait(clock, null).then(() => clock.after(40, ask));
  };
  ask();
  for (let passed = 0; passed < 5000; passed += 5) {
    await clock.advance(5);
    assert.equal(await store.permitContenders(KEY), 2, `after ${passed} ms`);
  }
});

test("a process whose lanes were woken and do not come gives up its place in line", async (t) => {
  const { clock, store, ours } = await make(t);
  for (const turn of [1, 2]) {
    ours.wait();
    ours.release();
    await clock.advance(1);
    assert.equal(ours.take(), turn === 1);
  }
  ours.budgets.leaveLine(ours.lane);
  await clock.advance(3000);
  assert.equal(await store.acquirePermits(KEY, "me", 0, 1), 0);
  assert.ok((await store.permitContenders(KEY)) <= 1);
});

for (const taken of [true, false])
  test(`lanes leave one that moves to another process its turn until ${taken ? "that process asks" : "it is clear that none does"}`, async (t) => {
    const { clock, store, ours, theirs } = await make(t);
    theirs.budgets.leaveLine(theirs.lane);
    await clock.advance(1);
    assert.equal(await store.permitContenders(KEY), 1, "a wish ends with the lane that had it");
    const moves = new Signal();
    ours.wait();
    ours.budgets.wait("one", moves);
    ours.budgets.leaveLine(moves, true);
    ours.release();
    await clock.advance(1);
    assert.equal(ours.take(), true, "the second one in a row");
    ours.wait();
    ours.release();
    await clock.advance(300);
    assert.equal(ours.take(), false);
    if (taken) theirs.wait();
    else await clock.advance(700);
    await getsIt(clock, taken ? theirs : ours);
  });
