import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { silentLog } from "../../src/base/log.ts";
import { Signal } from "../../src/base/signal.ts";
import { resolverKey } from "../../src/domain/lane/lane.ts";
import { Budgets } from "../../src/lanes/limits/budgets.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { candidate, TTL } from "../contract/store/kit.ts";
import { isDone } from "../engine/kit.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

async function make(t: TestContext, caps: Record<string, number>) {
  const clock = new FakeClock();
  const store = openSqliteStore({ path: ":memory:", clock, connection: preparedInMemory() });
  t.after(() => store.close());
  await store.takeEngine(candidate("me"), TTL);
  let fault: Error | null = null;
  let lost: string | null = null;
  const asked: string[] = [];
  const watched = new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        if (fault !== null) throw fault;
        if (name === "budgetCap") asked.push(String(args[0]));
        const answer: unknown = await (value as (...all: unknown[]) => Promise<unknown>).apply(target, args);
        if (name !== lost) return answer;
        lost = null;
        throw new Error("the answer was lost");
      };
    },
  }) as Store;
  const budgets = new Budgets({ store: watched, clock, log: silentLog, caps });
  budgets.setOwner("me");
  const waiter = new Signal();
  /** Takes permits until refused, asking again whenever signalled. */
  const takeAll = async (resolver: string) => {
    let taken = 0;
    for (let asked = 0; asked < 50 && taken < 20; asked += 1) {
      if (budgets.take(resolver, waiter)) taken += 1;
      else await clock.advance(1);
    }
    return taken;
  };
  /** Permits that this owner holds in the store, measured by what another could still acquire. */
  const lent = async (resolver: string, cap: number) => {
    const mine = await store.acquirePermits(resolverKey(resolver), "me", 0, cap);
    return mine;
  };
  const fail = (error: Error | null) => (fault = error);
  /** The next call succeeds, but its reply is lost. */
  const lose = (verb: "acquirePermits" | "releasePermits") => (lost = verb);
  return { clock, store, budgets, waiter, takeAll, lent, asked, fail, lose };
}

test("a resolver that nobody limited needs no unit", async (t) => {
  const { takeAll, lent } = await make(t, {});
  assert.equal(await takeAll("free"), 20);
  assert.equal(await lent("free", 5), 0);
});

test("a cap for all that are not named holds for each of them by itself", async (t) => {
  const { takeAll } = await make(t, { "*": 2, named: 4 });
  assert.deepEqual([await takeAll("one"), await takeAll("other"), await takeAll("named")], [2, 2, 4]);
});

test("a configured cap holds, and a released unit serves the next", async (t) => {
  const { budgets, takeAll, clock, waiter } = await make(t, { slow: 3 });
  assert.equal(await takeAll("slow"), 3);
  const other = new Signal();
  assert.equal(budgets.take("slow", other), false);
  const woken = other.wait(clock, null);
  assert.equal(await isDone(woken), false);
  budgets.release("slow", waiter);
  await woken;
  assert.equal(budgets.take("slow", other), true);
  assert.equal(budgets.take("slow", other), false);
});

test("what stays unused goes back to the store after a second", async (t) => {
  const { budgets, takeAll, lent, clock, waiter } = await make(t, { slow: 3 });
  assert.equal(await takeAll("slow"), 3);
  assert.equal(await lent("slow", 3), 3);
  for (let n = 0; n < 3; n += 1) budgets.release("slow", waiter);
  await clock.advance(999);
  assert.equal(await lent("slow", 3), 3);
  await clock.advance(1);
  assert.equal(await lent("slow", 3), 0);
  assert.equal(await takeAll("slow"), 3);
});

test("a cap that is lowered lets what runs finish and starts no more; raised, it wakes who waits", async (t) => {
  const { store, budgets, takeAll, waiter, clock } = await make(t, { slow: 4 });
  assert.equal(await takeAll("slow"), 4);
  await store.setBudgetCap(resolverKey("slow"), 2);
  await budgets.refresh(1);
  for (const expected of [false, false, true]) {
    budgets.release("slow", waiter);
    await clock.advance(1);
    assert.equal(budgets.take("slow", waiter), expected);
  }
  await store.setBudgetCap(resolverKey("slow"), 6);
  const woken = waiter.wait(clock, null);
  await budgets.refresh(2);
  await woken;
  assert.equal(await takeAll("slow"), 4);
});

test("a cap that is set while work runs without one holds from then on, and can be taken away again", async (t) => {
  const { store, budgets, takeAll, waiter } = await make(t, {});
  assert.equal(await takeAll("slow"), 20);
  await store.setBudgetCap(resolverKey("slow"), 1);
  await budgets.refresh(3);
  // Those that began without a cap count, too.
  assert.equal(await takeAll("slow"), 0);
  for (let ended = 0; ended < 20; ended += 1) budgets.release("slow", waiter);
  assert.equal(await takeAll("slow"), 1);
  await store.setBudgetCap(resolverKey("slow"), null);
  await budgets.refresh(4);
  assert.equal(await takeAll("slow"), 20);
});

test("a new term of the engine borrows anew, and counts what still runs", async (t) => {
  const { store, budgets, takeAll, clock, waiter } = await make(t, { slow: 3 });
  assert.equal(await takeAll("slow"), 3);
  await store.takeEngine(candidate("me-again"), TTL, "me");
  budgets.setOwner("me-again");
  // The three of the term before are still in flight in this process.
  assert.equal(await takeAll("slow"), 0);
  budgets.release("slow", waiter);
  await clock.advance(200);
  assert.equal(await takeAll("slow"), 1);
});

test("a store that fails is asked again after a second", async (t) => {
  const { budgets, waiter, clock, fail, takeAll } = await make(t, { slow: 2 });
  fail(new Error("no answer"));
  assert.equal(budgets.take("slow", waiter), false);
  const woken = waiter.wait(clock, null);
  await clock.advance(999);
  assert.equal(await isDone(woken), false);
  fail(null);
  await clock.advance(1);
  await woken;
  assert.equal(await takeAll("slow"), 2);
});

test("what could not be given back is given back when the store answers again", async (t) => {
  const { budgets, takeAll, lent, clock, waiter, fail } = await make(t, { slow: 3 });
  assert.equal(await takeAll("slow"), 3);
  for (let n = 0; n < 3; n += 1) budgets.release("slow", waiter);
  fail(new Error("no answer"));
  await clock.advance(5000);
  fail(null);
  assert.equal(await lent("slow", 3), 3);
  await clock.advance(3000);
  assert.equal(await lent("slow", 3), 0);
});

test("units that were borrowed and given back without an answer are neither lost nor given back twice", async (t) => {
  const { budgets, takeAll, lent, clock, waiter, lose } = await make(t, { slow: 3 });
  lose("acquirePermits");
  assert.equal(budgets.take("slow", waiter), false);
  await clock.advance(1);
  assert.equal(budgets.take("slow", waiter), false, "it is learnt, and borrowed");
  await clock.advance(1);
  assert.equal(await lent("slow", 3), 3, "of which nobody here knows");
  await clock.advance(3000);
  assert.equal(await lent("slow", 3), 0, "nobody wanted it any more");
  assert.equal(await takeAll("slow"), 3);
  lose("releasePermits");
  for (let n = 0; n < 3; n += 1) budgets.release("slow", waiter);
  await clock.advance(1000);
  assert.equal(await takeAll("slow"), 3, "borrowed again");
  await clock.advance(3000);
  assert.equal(await lent("slow", 3), 3);
});

test("a change is asked about once, however many lanes hear of it, and only for resolvers that are in use", async (t) => {
  const { budgets, takeAll, clock, asked, waiter } = await make(t, { slow: 2 });
  for (let crawl = 0; crawl < 100; crawl += 1) {
    assert.equal(await takeAll(`crawl-${crawl}`), 20);
    for (let ended = 0; ended < 20; ended += 1) budgets.release(`crawl-${crawl}`, waiter);
  }
  assert.equal(await takeAll("slow"), 2);
  await clock.advance(1000);
  asked.length = 0;
  await Promise.all(Array.from({ length: 10 }, () => budgets.refresh(1)));
  assert.deepEqual(asked, [resolverKey("slow")]);
  await budgets.refresh(1);
  assert.equal(asked.length, 1);
  await budgets.refresh(2);
  assert.equal(asked.length, 2);
});

test("a change that could not be read is asked about again", async (t) => {
  const { store, budgets, takeAll, fail } = await make(t, { slow: 2 });
  assert.equal(await takeAll("slow"), 2);
  await store.setBudgetCap(resolverKey("slow"), 4);
  fail(new Error("no answer"));
  await assert.rejects(budgets.refresh(1), /no answer/);
  fail(null);
  await budgets.refresh(1);
  assert.equal(await takeAll("slow"), 2);
});

test("a resolver that is waited for is not forgotten", async (t) => {
  const { store, budgets, takeAll, waiter, clock } = await make(t, { slow: 0 });
  assert.equal(await takeAll("slow"), 0);
  await clock.advance(5000);
  const woken = waiter.wait(clock, null);
  await store.setBudgetCap(resolverKey("slow"), 3);
  await budgets.refresh(1);
  await woken;
  assert.equal(await takeAll("slow"), 3);
});

test("while several lanes want a limit, none of them has more than its share, and alone a lane has all of it", async (t) => {
  const { budgets, clock } = await make(t, { crawl: 10 });
  const [slow, fast] = [new Signal(), new Signal()];
  const takeAll = async (lane: Signal) => {
    let taken = 0;
    for (let quiet = 0; quiet < 3; quiet += 1) {
      while (budgets.take("crawl", lane)) [taken, quiet] = [taken + 1, 0];
      await clock.advance(1);
    }
    return taken;
  };
  assert.equal(await takeAll(slow), 10, "nobody else wants any");
  assert.equal(await takeAll(fast), 0);
  // What the slow one ends goes to the other, until both have the same.
  for (const expected of [1, 1, 1, 1, 1]) {
    budgets.release("crawl", slow);
    assert.equal(await takeAll(slow), 0);
    assert.equal(await takeAll(fast), expected);
  }
  budgets.release("crawl", slow);
  assert.equal(await takeAll(fast), 0, "half of it is its share");
  assert.equal(await takeAll(slow), 1);
  // The fast one has nothing more to do.
  for (let ended = 0; ended < 5; ended += 1) budgets.release("crawl", fast);
  await clock.advance(1001);
  assert.equal(await takeAll(slow), 5);
});

test("a lane keeps its last place for what its page has led to; when nothing comes, another lane is told", async (t) => {
  const { budgets, clock } = await make(t, { crawl: 3 });
  const [hangs, fast] = [new Signal(), new Signal()];
  while (!budgets.take("crawl", fast)) await clock.advance(1);
  assert.deepEqual([budgets.take("crawl", hangs), budgets.take("crawl", hangs)], [true, true]);
  assert.equal(budgets.take("crawl", hangs), false);
  budgets.release("crawl", fast);
  assert.equal(budgets.take("crawl", hangs), false, "it would have all three, for as long as it hangs");
  await clock.advance(500);
  assert.equal(budgets.take("crawl", fast), true);
  budgets.release("crawl", fast);
  assert.equal(budgets.take("crawl", hangs), false);
  // Earlier answers do not count.
  hangs.raise();
  await hangs.wait(clock, null);
  const woken = hangs.wait(clock, null);
  assert.equal(await isDone(woken), false);
  await clock.advance(1100);
  assert.equal(await isDone(woken), true);
  assert.equal(budgets.take("crawl", hangs), true, "the other one has nothing more to do");
});

test("whoever came first gives up half of a limit when another process wants some, and has all of it again afterwards", async (t) => {
  const { store, clock } = await make(t, {});
  for (const owner of ["me", "they"]) await store.joinOwners(owner, TTL);
  // As on a database that many processes share.
  const shared = new Proxy(store, {
    get: (target, name) =>
      name === "capabilities" ? { singleEngine: false, notifies: false } : Reflect.get(target, name),
  }) as Store;
  const [ours, theirs] = ["me", "they"].map((owner) => {
    const budgets = new Budgets({ store: shared, clock, log: silentLog, caps: { crawl: 10 } });
    budgets.setOwner(owner);
    return { budgets, lane: new Signal(), used: 0 };
  }) as [Process, Process];
  interface Process {
    budgets: Budgets;
    lane: Signal;
    used: number;
  }
  /** As much as it gets, for as long as this. */
  const takes = async (process: Process, ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      while (process.budgets.take("crawl", process.lane)) process.used += 1;
      assert.ok(ours.used + theirs.used <= 10, "the limit holds over both");
      await clock.advance(50);
    }
  };
  const ends = (process: Process, count: number) => {
    for (let ended = 0; ended < count; ended += 1) process.budgets.release("crawl", process.lane);
    process.used -= count;
  };
  await takes(ours, 500);
  assert.equal(ours.used, 10, "nobody else wants any");
  await takes(theirs, 2500);
  assert.equal(theirs.used, 0, "what is under way is finished first");
  ends(ours, 10);
  await takes(ours, 50);
  assert.equal(ours.used, 5);
  await takes(theirs, 2000);
  assert.equal(theirs.used, 5);
  ends(theirs, 5);
  await clock.advance(4000);
  await takes(ours, 2500);
  assert.equal(ours.used, 10, "the other one has nothing more to do");
  await takes(theirs, 300);
  assert.equal(await store.permitContenders(resolverKey("crawl")), 2);
  await clock.advance(4000);
  ends(ours, 10);
  await clock.advance(4000);
  assert.equal(await store.permitContenders(resolverKey("crawl")), 0, "nothing is left of either's wish");
});
