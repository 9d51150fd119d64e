import assert from "node:assert/strict";
import { test } from "node:test";
import { candidate, DONE, newTask, retryAt } from "../contract/store/kit.ts";
import { settled } from "../support/fake-clock.ts";
import { isDone, MORE } from "./kit.ts";
import { BEAT, GRACE, Machine, TTL } from "./machine.ts";

const LANE = "site:a.example";

test("the first process is the engine, the next one stands by", async (t) => {
  const machine = new Machine(t);
  const first = await machine.boot();
  const second = await machine.boot();
  assert.deepEqual([first.engine.role, second.engine.role], ["engine", "standby"]);
  await second.engine.stop();
  await first.engine.stop();
  assert.deepEqual(
    [first.roles, second.roles],
    [
      ["engine", "stopped"],
      ["standby", "stopped"],
    ],
  );
  assert.equal(await machine.client.engineHolder(), null);
});

test("work that lies in the store at the start is found", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1", "2"]);
  const { engine, host } = await machine.boot();
  assert.deepEqual(host.lanes, [LANE]);
  await host.end(LANE);
  await engine.stop();
});

test("work of another process arrives at once with a poke, and soon without", async (t) => {
  const machine = new Machine(t);
  const { engine, host, pid } = await machine.boot();
  await machine.submit(LANE, ["1"]);
  machine.poke(`socket-of-${pid}`, [LANE]);
  await machine.clock.advance(0);
  assert.deepEqual(host.lanes, [LANE]);
  await machine.submit("site:b.example", ["2"]);
  await machine.clock.advance(250);
  assert.deepEqual(host.lanes, [LANE, "site:b.example"]);
  for (const lane of [...host.lanes]) await host.end(lane);
  await engine.stop();
});

test("a change of limits by another process reaches owners, poked or not", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  const { engine, host, pid } = await machine.boot();
  const ticket = host.ticket(LANE);
  await machine.clock.advance(1000);
  assert.equal(ticket.controls(), 0);
  await machine.client.setSite("a.example", { maxConcurrency: 1 });
  await machine.clock.advance(250);
  assert.equal(ticket.controls(), 1);
  machine.poke(`socket-of-${pid}`, null);
  await machine.clock.advance(0);
  assert.ok(ticket.controls() >= 2);
  engine.controlChanged();
  assert.ok(ticket.controls() >= 3);
  // The engine looks at everything now; the lane is still at work, so it is not offered again.
  await machine.clock.advance(0);
  await host.end(LANE);
  await engine.stop();
});

test("a ticket that got lost is issued again by the reconciler", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  const { engine, host } = await machine.boot();
  // The owner ends its turn and says that nothing is left, which is not true.
  await host.end(LANE);
  await machine.clock.advance(29_000);
  assert.deepEqual(host.lanes, []);
  await machine.clock.advance(1500);
  assert.deepEqual(host.lanes, [LANE]);
  await host.end(LANE);
  await engine.stop();
});

test("a retry that is due later wakes its lane then", async (t) => {
  const machine = new Machine(t);
  const run = await machine.submit(LANE, ["1"]);
  const { client, clock } = machine;
  await client.takeEngine(candidate("earlier"), TTL);
  const grant = await client.takeLane(LANE, "earlier", TTL);
  const claim = await client.claim(grant!, { limit: 1 }, clock.now());
  const [task] = claim!.tasks;
  await client.settle(
    [{ hold: grant!, tasks: [{ task: task!, verdict: retryAt(clock.now() + 20_000), attempt: null }] }],
    clock.now(),
  );
  await client.releaseEngine("earlier");
  const { engine, host } = await machine.boot();
  await clock.advance(19_000);
  assert.deepEqual(host.started, []);
  await clock.advance(1000);
  assert.deepEqual(host.lanes, [LANE]);
  assert.equal((await client.run(run.id))?.status, "running");
  await host.end(LANE);
  await engine.stop();
});

test("with more lanes than may be worked on at once, all move on", async (t) => {
  const machine = new Machine(t);
  const lanes = Array.from({ length: 6 }, (_, n) => `site:s${n}.example`);
  for (const lane of lanes) await machine.submit(lane, [`key-${lane}`]);
  const { engine, host } = await machine.boot({ maxActiveLanes: 2 });
  for (let turn = 0; turn < 12; turn += 1) {
    assert.equal(host.lanes.length, 2);
    await host.end(host.lanes[0] as string, MORE);
    await machine.clock.advance(0);
  }
  assert.deepEqual(new Set(host.started), new Set(lanes));
  host.obedient = true;
  engine.hurry();
  await engine.stop();
});

test("a stop finishes what runs, gives the lock back, and the standby goes on at once", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  const first = await machine.boot();
  const second = await machine.boot();
  const stopping = first.engine.stop();
  await machine.clock.advance(GRACE - 1);
  assert.equal(first.host.ticket(LANE).drain.aborted, true);
  assert.equal(first.host.ticket(LANE).hurry.aborted, false);
  assert.equal(await isDone(stopping), false);
  await first.host.end(LANE, MORE);
  await stopping;
  await machine.clock.advance(1000);
  assert.equal(second.engine.role, "engine");
  assert.deepEqual(second.host.lanes, [LANE]);
  second.engine.hurry();
  await second.engine.stop();
});

test("what is not done within the grace period is handed back", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  const { engine, host } = await machine.boot();
  const stopping = engine.stop();
  await machine.clock.advance(GRACE);
  await stopping;
  assert.deepEqual(host.lanes, []);
  assert.equal(await machine.client.engineHolder(), null);
});

test("a second stop means now", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  const { engine } = await machine.boot();
  const stopping = engine.stop();
  await settled();
  engine.hurry();
  await stopping;
});

test("a killed engine is replaced within a second", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  const first = await machine.boot();
  const second = await machine.boot();
  first.kill();
  await machine.clock.advance(1000);
  assert.equal(second.engine.role, "engine");
  assert.deepEqual(second.host.lanes, [LANE]);
  second.engine.hurry();
  await second.engine.stop();
});

test("a killed engine's leases are taken back at once by the next start", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  const first = await machine.boot();
  first.kill();
  const second = await machine.boot();
  assert.equal(second.engine.role, "engine");
  assert.deepEqual(second.host.lanes, [LANE]);
  second.engine.hurry();
  await second.engine.stop();
});

test("a frozen engine is replaced after its lease, not before, and stops by itself when it wakes", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  const first = await machine.boot();
  const second = await machine.boot();
  first.freeze();
  await machine.clock.advance(TTL - 1000);
  assert.equal(second.engine.role, "standby");
  const ticket = first.host.ticket(LANE);
  assert.equal(ticket.leaseHolds(), true);
  await machine.clock.advance(2500);
  assert.equal(second.engine.role, "engine");
  // Before any message reaches it, its own clock tells it that the lane may be somebody else's.
  assert.equal(ticket.leaseHolds(), false);
  first.wake();
  await machine.clock.advance(BEAT + 1000);
  assert.equal(first.engine.role, "standby");
  assert.deepEqual(first.host.lanes, []);
  assert.equal(second.engine.role, "engine");
  second.engine.hurry();
  await Promise.all([first.engine.stop(), second.engine.stop()]);
});

test("an engine whose heartbeat is refused stops writing and stands by", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  const { engine, host, roles } = await machine.boot();
  await machine.usurp();
  await machine.clock.advance(BEAT);
  assert.deepEqual(roles, ["engine", "standby"]);
  assert.deepEqual(host.lanes, []);
  await engine.stop();
  assert.equal((await machine.client.engineHolder())?.id, "usurper", "it gives back only what is its own");
});

test("a store that fails for a moment costs nothing", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  const { engine, host, roles, storeFails } = await machine.boot();
  storeFails(new Error("no answer"));
  await machine.clock.advance(BEAT * 2);
  storeFails(null);
  await machine.clock.advance(TTL * 3);
  assert.deepEqual(roles, ["engine"]);
  assert.deepEqual(host.lanes, [LANE]);
  await host.end(LANE);
  await engine.stop();
});

test("a store that fails for longer than the lease makes the engine stop in time, and start again when it is back", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  const { engine, host, roles, storeFails } = await machine.boot();
  storeFails(new Error("no answer"));
  await machine.clock.advance(TTL);
  assert.deepEqual(host.lanes, []);
  assert.deepEqual(roles.slice(0, 2), ["engine", "standby"]);
  await machine.clock.advance(TTL);
  storeFails(null);
  await machine.clock.advance(3000);
  assert.equal(engine.role, "engine");
  assert.deepEqual(host.lanes, [LANE]);
  engine.hurry();
  await engine.stop();
});

test("an engine that loses its lease while it stops ends at once", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  const { engine, host } = await machine.boot();
  const stopping = engine.stop();
  await settled();
  const ticket = host.ticket(LANE);
  await machine.usurp();
  await machine.clock.advance(BEAT);
  assert.equal(ticket.fence.aborted, true);
  await stopping;
});

test("a stop ends soon after the grace period even when a lane does not", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  const { engine, host, storeFails } = await machine.boot();
  host.obedient = false;
  const ticket = host.ticket(LANE);
  // As on a full disk: the lane has outcomes that it cannot write, and would wait for room.
  ticket.fence.addEventListener("abort", () => void host.end(LANE));
  storeFails(new Error("the disk is full"));
  const stopping = engine.stop();
  await machine.clock.advance(GRACE + 5000);
  await stopping;
});

test("without sockets the engine works and its standby takes over", async (t) => {
  const machine = new Machine(t);
  machine.linksBroken = true;
  const first = await machine.boot();
  const second = await machine.boot();
  await machine.submit(LANE, ["1"]);
  await machine.clock.advance(250);
  assert.deepEqual(first.host.lanes, [LANE]);
  first.kill();
  await machine.clock.advance(1000);
  assert.equal(second.engine.role, "engine");
  second.engine.hurry();
  await second.engine.stop();
});

test("each way to hear of work that fails is told once, and once when it works again", async (t) => {
  const machine = new Machine(t);
  machine.linksBroken = true;
  const { engine, host, pid, storeFails } = await machine.boot();
  await machine.clock.advance(20_000);
  assert.deepEqual(machine.said, ["other processes cannot wake the engine; it looks for work every 250 ms"]);
  machine.linksBroken = false;
  await machine.clock.advance(5000);
  assert.deepEqual(machine.said.slice(1), ["other processes can wake the engine again"]);
  await machine.submit(LANE, ["1"]);
  machine.poke(`socket-of-${pid}`, [LANE]);
  await machine.clock.advance(0);
  assert.deepEqual(host.lanes, [LANE]);

  storeFails(new Error("no store"));
  await machine.clock.advance(2000);
  assert.deepEqual(machine.said.slice(2), [
    "cannot read whether the store has changed; its work is read every time",
    "the reconciler cannot read the store; retrying",
  ]);
  storeFails(null);
  await machine.submit("site:b.example", ["2"]);
  await machine.clock.advance(1000);
  assert.deepEqual(machine.said.slice(4), ["changes of the store are seen again", "the store can be read again"]);
  assert.deepEqual(host.lanes, [LANE, "site:b.example"]);
  for (const lane of [...host.lanes]) await host.end(lane);
  await engine.stop();
});

test("a standby that cannot reach the engine's socket does not press the database", async (t) => {
  const machine = new Machine(t);
  machine.linksBroken = true;
  const first = await machine.boot();
  const second = await machine.boot();
  await machine.clock.advance(10_000);
  const before = second.calls.get("takeEngine") ?? 0;
  await machine.clock.advance(10_000);
  const asked = (second.calls.get("takeEngine") ?? 0) - before;
  assert.ok(asked <= 12, `it wrote to the database ${asked} times in 10 s`);
  await Promise.all([first.engine.stop(), second.engine.stop()]);
});

test("a standby stops at once", async (t) => {
  const machine = new Machine(t);
  const first = await machine.boot();
  const second = await machine.boot();
  await second.engine.stop();
  assert.equal(machine.clock.monotonic(), 1_000_000);
  await first.engine.stop();
});

test("an offer to a standby is not lost: the engine finds the work in the store", async (t) => {
  const machine = new Machine(t);
  const first = await machine.boot();
  const second = await machine.boot();
  await machine.submit(LANE, ["1"]);
  second.engine.offer([LANE]);
  assert.deepEqual(second.host.lanes, []);
  await machine.clock.advance(250);
  assert.deepEqual(first.host.lanes, [LANE]);
  first.engine.hurry();
  await Promise.all([first.engine.stop(), second.engine.stop()]);
});

test("a clock that jumps by a day changes nothing about who is the engine", async (t) => {
  const machine = new Machine(t);
  const first = await machine.boot();
  const second = await machine.boot();
  for (const jump of [86_400_000, -172_800_000, 3_600_000]) {
    machine.clock.jump(jump);
    await machine.clock.advance(TTL * 2);
    assert.deepEqual([first.engine.role, second.engine.role], ["engine", "standby"]);
  }
  await Promise.all([first.engine.stop(), second.engine.stop()]);
});

test("the work of an ended lane is left alone", async (t) => {
  const machine = new Machine(t);
  const { client, clock } = machine;
  const run = await machine.submit(LANE, ["1"]);
  await client.takeEngine(candidate("earlier"), TTL);
  const grant = await client.takeLane(LANE, "earlier", TTL);
  const claim = await client.claim(grant!, { limit: 1 }, clock.now());
  const tasks = claim!.tasks.map((task) => ({ task, verdict: DONE, attempt: null }));
  await client.settle([{ hold: grant!, tasks }], clock.now());
  await client.releaseEngine("earlier");
  const { engine, host } = await machine.boot();
  await clock.advance(61_000);
  assert.deepEqual(host.started, []);
  await client.enqueue(run.id, [newTask("2", { lane: LANE })], clock.now());
  await clock.advance(250);
  assert.deepEqual(host.started, [LANE]);
  await host.end(LANE);
  await engine.stop();
});
