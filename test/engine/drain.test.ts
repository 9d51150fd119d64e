import assert from "node:assert/strict";
import { test } from "node:test";
import { settled } from "../support/fake-clock.ts";
import { MORE, NOTHING } from "./kit.ts";
import { Machine } from "./machine.ts";

const LANE = "site:a.example";

test("a drained engine finishes what runs, however long that takes, and a standby takes over", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  const first = await machine.boot();
  const second = await machine.boot();
  first.engine.drain();
  await machine.clock.advance(10 * 60_000);
  assert.equal(first.host.ticket(LANE).yieldWanted(), true);
  assert.equal(first.host.ticket(LANE).hurry.aborted, false);
  assert.deepEqual([first.engine.role, second.engine.role], ["engine", "standby"]);
  await first.host.end(LANE, MORE);
  await machine.clock.advance(1000);
  assert.deepEqual([first.engine.role, second.engine.role], ["drained", "engine"]);
  assert.deepEqual([first.host.lanes, second.host.lanes], [[], [LANE]]);
  second.engine.hurry();
  await second.engine.stop();
  await machine.clock.advance(60_000);
  assert.equal(first.engine.role, "drained", "it takes nothing although nobody else does");
  first.engine.resume();
  await machine.clock.advance(1000);
  assert.equal(first.engine.role, "engine");
  first.engine.hurry();
  await first.engine.stop();
});

for (const [how, end] of [
  ["with nothing left", NOTHING],
  ["with a retry in an hour", { more: false, wakeAt: 3_600_000 }],
] as const) {
  test(`a drained engine rests as soon as its last lane ends ${how}`, async (t) => {
    const machine = new Machine(t);
    await machine.submit(LANE, ["1"]);
    const { engine, host } = await machine.boot();
    engine.drain();
    await host.end(LANE, end.wakeAt === null ? end : { ...end, wakeAt: machine.clock.now() + end.wakeAt });
    await machine.clock.advance(0);
    assert.equal(engine.role, "drained");
    await engine.stop();
  });
}

test("a drain that is taken back while something runs changes nothing", async (t) => {
  const machine = new Machine(t);
  await machine.submit(LANE, ["1"]);
  await machine.submit("site:b.example", ["2"]);
  const { engine, host } = await machine.boot({ maxActiveLanes: 1 });
  engine.drain();
  const [lane = ""] = host.lanes;
  engine.resume();
  assert.equal(host.ticket(lane).yieldWanted(), false);
  await host.end(lane);
  await machine.clock.advance(0);
  assert.equal(host.started.length, 2);
  assert.equal(engine.role, "engine");
  engine.hurry();
  await engine.stop();
});

test("a standby that is drained does not take over, and a drained one stops when asked to", async (t) => {
  const machine = new Machine(t);
  const first = await machine.boot();
  const second = await machine.boot();
  second.engine.drain();
  await machine.clock.advance(1000);
  first.kill();
  await machine.clock.advance(60_000);
  assert.equal(second.engine.role, "drained");
  const stopping = second.engine.stop();
  await settled();
  await stopping;
  assert.equal(second.engine.role, "stopped");
});
