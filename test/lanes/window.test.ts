import assert from "node:assert/strict";
import { test } from "node:test";
import { PREFETCH, Window } from "../../src/lanes/owner/window.ts";
import type { ClaimedTask } from "../../src/store/ports/port.ts";
import { FakeClock } from "../support/fake-clock.ts";

const task = (key: string, resolver: string | null = null) => ({ key, resolver }) as ClaimedTask;
const tasks = (count: number, resolver: string | null = null) =>
  Array.from({ length: count }, (_, n) => task(`${resolver ?? "t"}${n}`, resolver));
const any = () => true;

test("tasks come out in the order in which they were claimed", () => {
  const window = new Window(new FakeClock(), 2);
  window.add(tasks(3));
  assert.deepEqual(
    Array.from({ length: 4 }, () => window.take(any)?.key),
    ["t0", "t1", "t2", undefined],
  );
});

test("a well-filled window asks for nothing; one that runs low asks for more", () => {
  const clock = new FakeClock();
  const window = new Window(clock, 10);
  const first = window.wanted();
  assert.equal(first, 20);
  window.add(tasks(first));
  assert.equal(window.wanted(), 0);
  for (let n = 0; n < 15; n += 1) window.take(any);
  assert.ok(window.wanted() > 0);
});

test("where many share a database, a window that is used up in no time grows faster", async () => {
  const clock = new FakeClock();
  const window = new Window(clock, 10, PREFETCH.shared);
  const sizes: number[] = [];
  for (const lasts of [1000, 10, 1000, 1000]) {
    window.takeAll();
    const wanted = window.wanted();
    sizes.push(wanted);
    window.add(tasks(wanted));
    await clock.advance(lasts);
  }
  assert.deepEqual(sizes, [20, 40, 160, 256]);
});

test("a window that is used up quickly grows, one that lasts shrinks again", async () => {
  const clock = new FakeClock();
  const window = new Window(clock, 10);
  const sizes: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    window.takeAll();
    const wanted = window.wanted();
    sizes.push(wanted);
    window.add(tasks(wanted));
    await clock.advance(10);
  }
  assert.deepEqual(sizes, [20, 40, 80, 160, 256, 256]);
  for (let round = 0; round < 6; round += 1) {
    await clock.advance(5000);
    window.takeAll();
    const wanted = window.wanted();
    sizes.push(wanted);
    window.add(tasks(wanted));
  }
  assert.equal(sizes.at(-1), 20);
});

test("a window that could not be filled stays small, and asks for what can begin", () => {
  const window = new Window(new FakeClock(), 10);
  assert.equal(window.wanted(), 20);
  for (let round = 0; round < 6; round += 1) {
    window.add(tasks(2));
    window.takeAll();
    assert.equal(window.wanted(), 10);
  }
  window.add(tasks(10));
  assert.equal(window.wanted(), 0);
});

test("a lane that pauses between requests asks for no more than it begins soon", () => {
  const window = new Window(new FakeClock(), 10);
  assert.equal(window.wanted(2), 2);
  window.add(tasks(2));
  assert.equal(window.wanted(2), 0);
  window.take(any);
  assert.equal(window.wanted(2), 1);
});

test("tasks of a resolver without room are passed over, and do not count as filling", () => {
  const window = new Window(new FakeClock(), 2);
  window.add([...tasks(4, "slow"), ...tasks(2)]);
  const onlyOthers = (resolver: string) => resolver !== "slow";
  assert.deepEqual([window.take(onlyOthers)?.key, window.take(onlyOthers)?.key], ["t0", "t1"]);
  assert.equal(window.take(onlyOthers), null);
  const none = { room: () => 0, wait: () => {} };
  assert.deepEqual(window.claimRules(none, 2).withoutResolvers, ["slow"]);
  assert.ok(window.wanted() > 0, "there is room for others");
  window.unblock();
  assert.equal(window.take(any)?.key, "slow0");
});

test("a resolver is asked once, not for each of its tasks", () => {
  const window = new Window(new FakeClock(), 2);
  window.add(tasks(100, "slow"));
  let asked = 0;
  const no = () => {
    asked += 1;
    return false;
  };
  for (let n = 0; n < 5; n += 1) assert.equal(window.take(no), null);
  assert.equal(asked, 1);
});

test("on a database that many processes share a window grows until it lasts for seconds", async () => {
  const clock = new FakeClock();
  const window = new Window(clock, 10, PREFETCH.shared);
  const sizes: number[] = [];
  // Fifty tasks a second.
  for (let round = 0; round < 6; round += 1) {
    const wanted = window.wanted();
    sizes.push(wanted);
    window.add(tasks(wanted));
    window.takeAll();
    await clock.advance(wanted * 20);
  }
  assert.deepEqual(sizes, [20, 40, 80, 80, 80, 80]);
});
