import assert from "node:assert/strict";
import { test } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import { MemoryLimit } from "../../src/base/memory-limit.ts";
import { FakeClock, settled } from "../support/fake-clock.ts";

const MB = 1024 * 1024;

function limitOf(clock: FakeClock, limitMb: number | null) {
  const state = { usedMb: 50, relieved: 0 };
  const limit = new MemoryLimit({
    clock,
    limitBytes: limitMb === null ? null : limitMb * MB,
    used: async () => state.usedMb * MB,
    relieve: () => (state.relieved += 1),
  });
  return { limit, state };
}

test("above the limit nothing is begun until a tenth of it is free again", async () => {
  const clock = new FakeClock();
  const { limit, state } = limitOf(clock, 100);
  const full = () =>
    limit.check().then(
      () => false,
      (error: unknown) => isOrbError(error, "memory_full"),
    );
  assert.equal(await full(), false);
  const story: [number, boolean][] = [];
  for (const usedMb of [100, 101, 95, 91, 90, 99, 100]) {
    state.usedMb = usedMb;
    await clock.advance(1000);
    story.push([usedMb, await full()]);
  }
  assert.deepEqual(story, [
    [100, false],
    [101, true],
    [95, true],
    [91, true],
    [90, false],
    [99, false],
    [100, false],
  ]);
  assert.equal(state.relieved, 3, "what only waits for use is let go");
});

test("who wants a page waits until there is room, or until it is not wanted any more", async () => {
  const clock = new FakeClock();
  const { limit, state } = limitOf(clock, 100);
  state.usedMb = 120;
  const leaving = new AbortController();
  const ends: string[] = [];
  const first = limit.room().then(() => ends.push("came in"));
  const second = limit.room(leaving.signal).catch((error: unknown) => ends.push((error as Error).message));
  await settled();
  leaving.abort(new Error("left"));
  await second;
  assert.deepEqual(ends, ["left"]);
  state.usedMb = 80;
  await clock.advance(1000);
  await first;
  assert.deepEqual(ends, ["left", "came in"]);
});

test("without a limit nobody is held up", async () => {
  const { limit, state } = limitOf(new FakeClock(), null);
  state.usedMb = 1e9;
  await limit.check();
  await limit.room();
  assert.equal(state.relieved, 0);
});
