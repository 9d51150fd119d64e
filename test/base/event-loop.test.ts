import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { test } from "node:test";
import { inTurns, TurnQueue, Turns } from "../../src/base/process/event-loop.ts";
import { countTurns } from "../support/turns.ts";

test("long work gives a turn when its parts have taken long enough, and never for what is short", async () => {
  let given = 0;
  const give = async () => void (given += 1);
  const long = new Turns({ pieceMs: 0, give });
  for (let part = 0; part < 10; part += 1) await long.after();
  assert.equal(given, 10);
  for (let part = 0; part < 10; part += 1) await long.after(5);
  assert.equal(given, 12, "the clock is looked at once in five parts");
  const short = new Turns({ pieceMs: 1e9, give });
  for (let part = 0; part < 1000; part += 1) await short.after();
  assert.equal(given, 12);
});

test("work that comes in stages ends with its value, and gives a turn between stages", async () => {
  let given = 0;
  function* stages(): Generator<void, string> {
    yield;
    yield;
    return "done";
  }
  const turns = new Turns({ pieceMs: 0, give: async () => void (given += 1) });
  assert.equal(await inTurns(stages(), turns), "done");
  assert.equal(given, 2);
});

test("calls that come at once begin in turns of their own, in their order; one that comes alone at once", async (t) => {
  const turns = countTurns(t);
  const queue = new TurnQueue();
  const begun: { n: number; turn: number }[] = [];
  assert.equal(queue.take(), undefined);
  await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      await queue.take();
      begun.push({ n, turn: turns() });
    }),
  );
  assert.deepEqual(
    begun.map(({ n }) => n),
    Array.from({ length: 20 }, (_, n) => n),
  );
  assert.equal(new Set(begun.map(({ turn }) => turn)).size, 20);
  await setImmediate();
  await setImmediate();
  assert.equal(queue.take(), undefined, "nobody waits any more");
});
