import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../src/base/log.ts";
import { laneOfStep } from "../../src/domain/workflow/definition.ts";
import { LaneScheduler } from "../../src/engine/embedded/scheduler.ts";
import { FakeClock, settled } from "../support/fake-clock.ts";
import { isDone, MORE, ScriptedHost } from "./kit.ts";

function make(options: { maxActive?: number; urgent?: Record<string, number> } = {}) {
  const clock = new FakeClock();
  const host = new ScriptedHost();
  let holds = true;
  const scheduler = new LaneScheduler({
    host,
    clock,
    log: silentLog,
    owner: "term-1",
    ttlMs: 60_000,
    leaseHolds: () => holds,
    maxActive: options.maxActive ?? 8,
    sliceMs: 2000,
    store: { lanePriorities: async (lanes) => lanes.map((lane) => options.urgent?.[lane] ?? 0) },
  });
  return { clock, host, scheduler, loseLease: () => (holds = false) };
}

test("a lane that is offered many times is worked on once", async () => {
  const { clock, host, scheduler } = make();
  for (let n = 0; n < 5; n += 1) scheduler.offer("a");
  assert.deepEqual(host.started, ["a"]);
  await host.end("a");
  // The four offers that came meanwhile may have come too late for the owner to see.
  await clock.advance(0);
  assert.deepEqual(host.started, ["a", "a"]);
  await host.end("a");
  await clock.advance(60_000);
  assert.deepEqual(host.started, ["a", "a"]);
});

test("the ticket names the lane, its owner, and whether the lease still holds", () => {
  const { host, scheduler, loseLease } = make();
  scheduler.offer("a");
  const ticket = host.ticket("a");
  assert.deepEqual([ticket.lane, ticket.owner, ticket.ttlMs], ["a", "term-1", 60_000]);
  assert.equal(ticket.leaseHolds(), true);
  loseLease();
  assert.equal(ticket.leaseHolds(), false);
});

test("an offer during the work wakes the owner and is counted", async () => {
  const { clock, host, scheduler } = make();
  scheduler.offer("a");
  const ticket = host.ticket("a");
  const woken = ticket.changed.wait(clock, null);
  assert.equal(await isDone(woken), false);
  scheduler.offer("a");
  await woken;
  assert.equal(ticket.offers(), 1);
});

test("a lane that says it has more comes back behind the lanes that wait", async () => {
  const { clock, host, scheduler } = make({ maxActive: 1 });
  for (const lane of ["a", "b", "c"]) scheduler.offer(lane);
  for (let turn = 0; turn < 7; turn += 1) {
    await host.end(host.lanes[0] as string, MORE);
    await clock.advance(0);
  }
  assert.deepEqual(host.started.slice(0, 7), ["a", "b", "c", "a", "b", "c", "a"]);
});

test("never more lanes at once than allowed, and all get their turn", async () => {
  const { host, scheduler } = make({ maxActive: 3 });
  const lanes = Array.from({ length: 20 }, (_, n) => `lane-${n}`);
  for (const lane of lanes) scheduler.offer(lane);
  while (host.lanes.length > 0) {
    assert.ok(host.lanes.length <= 3);
    await host.end(host.lanes[0] as string);
  }
  assert.deepEqual(host.started, lanes);
});

test("steps of workflows leave half of the places to sites, and all take turns in the order in which they came", async () => {
  const { clock, host, scheduler } = make({ maxActive: 4 });
  const steps = Array.from({ length: 5 }, (_, slot) => laneOfStep("run", 0, slot));
  for (const lane of steps) scheduler.offer(lane);
  scheduler.offer("a");
  await settled();
  assert.deepEqual(host.started, [steps[0], steps[1], "a"]);
  await clock.advance(2000);
  // Nothing could begin in its place but what is not to.
  assert.deepEqual([host.ticket("a").yieldWanted(), host.ticket(steps[0]!).yieldWanted()], [false, true]);
  scheduler.offer("b");
  scheduler.offer("c");
  await settled();
  assert.deepEqual(host.started.slice(3), ["b"]);
  assert.equal(host.ticket("a").yieldWanted(), true);
  await host.end(steps[0]!);
  await host.end("a");
  assert.deepEqual(host.started.slice(4), [steps[2], "c"]);
});

test("where there is one place, steps and sites take turns", async () => {
  const { host, scheduler } = make({ maxActive: 1 });
  const lanes = [laneOfStep("run", 0), "a", laneOfStep("run", 1)];
  for (const lane of lanes) scheduler.offer(lane);
  for (const lane of lanes) await host.end(lane);
  assert.deepEqual(host.started, lanes);
});

test("lanes with more urgent work go first, and whoever has waited goes before what is little more urgent", async () => {
  const urgent: Record<string, number> = { low: -5, urgent: 5, "later and urgent": 5 };
  const { clock, host, scheduler } = make({ maxActive: 1, urgent });
  scheduler.offer("first");
  scheduler.offerAll(["low", "plain", "urgent", "raised"]);
  await clock.advance(5001);
  scheduler.offer("later and urgent");
  await clock.advance(0);
  urgent["raised"] = 100;
  scheduler.offer("raised");
  await clock.advance(0);
  while (host.lanes.length > 0) await host.end(host.lanes[0] as string);
  assert.deepEqual(host.started, ["first", "raised", "urgent", "plain", "later and urgent", "low"]);
});

test("those that are offered together, or found, begin with the most urgent", async () => {
  const { clock, host, scheduler } = make({ maxActive: 1, urgent: { b: 1, c: 2 } });
  scheduler.offerWork(["a", "b", "c"].map((lane) => ({ lane, readyAt: 0 })));
  await settled();
  assert.deepEqual(host.started, ["c"]);
  await host.end("c", { more: false, wakeAt: clock.now() + 1000 });
  assert.deepEqual(host.started, ["c", "b"]);
});

test("a lane that says it has more, and more urgent, has the next turn as well, until others have waited for long enough", async () => {
  const { clock, host, scheduler } = make({ maxActive: 1, urgent: { a: 5 } });
  for (const lane of ["a", "b"]) scheduler.offer(lane);
  for (let turn = 0; turn < 5; turn += 1) {
    await clock.advance(2000);
    await host.end(host.lanes[0] as string, MORE);
    await clock.advance(0);
  }
  assert.deepEqual(host.started, ["a", "a", "a", "b", "a", "a"]);
});

test("an owner is asked to yield only after its time, and only when others wait", async () => {
  const { clock, host, scheduler } = make({ maxActive: 1 });
  scheduler.offer("a");
  const ticket = host.ticket("a");
  await clock.advance(10_000);
  assert.equal(ticket.yieldWanted(), false);
  scheduler.offer("b");
  assert.equal(ticket.yieldWanted(), true);
  await host.end("a", MORE);
  await clock.advance(0);
  const other = host.ticket("b");
  await clock.advance(1999);
  assert.equal(other.yieldWanted(), false);
  await clock.advance(1);
  assert.equal(other.yieldWanted(), true);
});

test("a lane with work for later is started then, not before", async () => {
  const { clock, host, scheduler } = make();
  scheduler.offer("a");
  await host.end("a", { more: false, wakeAt: clock.now() + 30_000 });
  await clock.advance(29_999);
  assert.deepEqual(host.started, ["a"]);
  await clock.advance(1);
  assert.deepEqual(host.started, ["a", "a"]);
});

test("an offer comes before the time a lane waits for, and the timer does not start it twice", async () => {
  const { clock, host, scheduler } = make();
  scheduler.offerAt("a", clock.now() + 30_000);
  assert.deepEqual(host.started, []);
  scheduler.offer("a");
  await host.end("a");
  await clock.advance(60_000);
  assert.deepEqual(host.started, ["a"]);
});

test("a lane offered for later twice is started once", async () => {
  const { clock, host, scheduler } = make();
  scheduler.offerAt("a", clock.now() + 1000);
  scheduler.offerAt("a", clock.now() + 1000);
  await clock.advance(5000);
  await host.end("a");
  await clock.advance(5000);
  assert.deepEqual(host.started, ["a"]);
});

test("a time that has passed is now", () => {
  const { clock, host, scheduler } = make();
  scheduler.offerAt("a", clock.now() - 1);
  assert.deepEqual(host.started, ["a"]);
});

test("a host that breaks is tried again after a second, and disturbs no other lane", async () => {
  const { clock, host, scheduler } = make();
  scheduler.offer("a");
  scheduler.offer("b");
  await host.fail("a");
  assert.deepEqual(host.lanes, ["b"]);
  await clock.advance(999);
  assert.deepEqual(host.lanes, ["b"]);
  await clock.advance(1);
  assert.deepEqual(host.lanes, ["b", "a"]);
});

test("a change of limits wakes every owner and is counted", async () => {
  const { clock, host, scheduler } = make();
  scheduler.offer("a");
  scheduler.offer("b");
  const waits = ["a", "b"].map((lane) => host.ticket(lane).changed.wait(clock, null));
  scheduler.controlChanged();
  await Promise.all(waits);
  assert.equal(host.ticket("a").controls(), 1);
});

test("draining starts nothing any more and ends when the last lane has", async () => {
  const { clock, host, scheduler } = make({ maxActive: 2 });
  for (const lane of ["a", "b", "c"]) scheduler.offer(lane);
  scheduler.offerAt("later", clock.now() + 10);
  const drained = scheduler.drain();
  assert.equal(host.ticket("a").drain.aborted, true);
  assert.equal(host.ticket("a").hurry.aborted, false);
  await host.end("a", MORE);
  assert.equal(await isDone(drained), false);
  await host.end("b", { more: false, wakeAt: clock.now() + 5 });
  await drained;
  scheduler.offer("d");
  await clock.advance(60_000);
  assert.deepEqual(host.started, ["a", "b"]);
  assert.equal(clock.waiting, 0);
});

test("draining with nothing at work is over at once", async () => {
  const { scheduler } = make();
  await scheduler.drain();
});

test("in a hurry, owners are told to stop what runs", async () => {
  const { host, scheduler } = make();
  host.obedient = false;
  scheduler.offer("a");
  const drained = scheduler.drain();
  const woken = host.ticket("a").changed.wait(new FakeClock(), null);
  scheduler.hurry();
  await woken;
  assert.equal(host.ticket("a").hurry.aborted, true);
  assert.equal(await isDone(drained), false);
  await host.end("a");
  await drained;
});

test("a fence during a drain ends both waits", async () => {
  const { host, scheduler } = make();
  host.obedient = false;
  scheduler.offer("a");
  const drained = scheduler.drain();
  const fenced = scheduler.fence();
  assert.equal(host.ticket("a").fence.aborted, true);
  await host.end("a");
  await fenced;
  assert.equal(await isDone(drained), true, "whoever waits for the drain must not wait for ever");
});
