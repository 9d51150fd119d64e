import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { sharedClock } from "../../src/base/shared-clock.ts";

test("a clock that is off by about a second is replaced once and not now and then", () => {
  const own = { ...systemClock, now: () => 1_000_000 };
  const told: string[] = [];
  const clock = sharedClock(own, createLog({ level: "info", pretty: false, write: (text) => void told.push(text) }));
  const setOffset = (ms: number) => {
    clock.setOffset(ms);
    return clock.now() - own.now();
  };
  assert.deepEqual([990, -990, 1010, 990, -600, 1010, 510].map(setOffset), [0, 0, 1010, 990, -600, 1010, 510]);
  assert.equal(told.length, 1);
  assert.deepEqual([490, 990].map(setOffset), [0, 0]);
  assert.equal(told.length, 2);
});
