import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { EventLoopTurns } from "../../src/lanes/owner/event-loop-turns.ts";

test("lanes that work without waiting for anything go on a few at a time, in their order; one that is alone does not wait", async () => {
  // Each lane works for two milliseconds.
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  const turns = new EventLoopTurns(clock);
  const order: number[] = [];
  let most = 0;
  let inTurn = 0;
  const begun: string[] = [];
  const lane = async (n: number) => {
    await Promise.resolve();
    const turn = turns.yieldNow();
    begun.push(turn === null ? "at once" : "later");
    if (turn !== null) await turn;
    now += 2;
    order.push(n);
    inTurn += 1;
    most = Math.max(most, inTurn);
    setImmediate(() => (inTurn = 0));
  };
  await Promise.all(Array.from({ length: 100 }, (_, n) => lane(n)));
  assert.deepEqual(
    order,
    Array.from({ length: 100 }, (_, n) => n),
  );
  assert.equal(begun.filter((how) => how === "at once").length, 5);
  assert.ok(most <= 16, `${most} in one turn`);
  await new Promise((resolve) => setImmediate(resolve));
  now += 1000;
  assert.equal(turns.yieldNow(), null);
});
