import assert from "node:assert/strict";
import { test } from "node:test";
import { ProxyFailureStreak } from "../../src/lanes/handlers/proxy-failure-streak.ts";

test("tries in vain add up until something comes of the run", () => {
  const streak = new ProxyFailureStreak();
  assert.equal(streak.failed("run", 1_000, 15_000), 14_000);
  assert.equal(streak.failed("run", 16_000, 40_000), 39_000);
  assert.equal(streak.failed("other", 39_000, 40_000), 1_000);
  streak.reset("run", 41_000);
  assert.equal(streak.failed("run", 20_000, 45_000), 4_000, "it began before, and others had success meanwhile");
  assert.equal(streak.failed("run", 46_000, 50_000), 9_000);
});

test("what the run did not try does not count", () => {
  const streak = new ProxyFailureStreak();
  streak.failed("run", 0, 5_000);
  assert.equal(streak.failed("run", 600_000, 601_000), 1_000, "its site was paused in between");
});
