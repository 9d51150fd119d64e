import assert from "node:assert/strict";
import { test } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import { MemoryLimit } from "../../src/base/process/memory-limit.ts";
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

test("who wants a page waits until there is room, or until it is not wanted any more; one is let in always", async () => {
  const clock = new FakeClock();
  const { limit, state } = limitOf(clock, 100);
  state.usedMb = 120;
  const leaving = new AbortController();
  const said: string[] = [];
  const wants = (name: string, signal?: AbortSignal) =>
    limit.enter(signal).then(
      (leave) => {
        said.push(`${name} came in`);
        return leave;
      },
      (error: unknown) => {
        said.push(`${name} ${(error as Error).message}`);
        return () => {};
      },
    );
  const [first, , third, fourth] = [wants("first"), wants("second", leaving.signal), wants("third"), wants("fourth")];
  await settled();
  leaving.abort(new Error("left"));
  await clock.advance(5000);
  assert.deepEqual(said.splice(0), ["first came in", "second left"]);
  (await first)();
  await clock.advance(5000);
  await third;
  assert.deepEqual(said.splice(0), ["third came in"]);
  state.usedMb = 80;
  await clock.advance(1000);
  await fourth;
  assert.deepEqual(said, ["fourth came in"]);
});

test("a limit that the process is above before it has begun anything is named as too low, with a better one", async () => {
  const clock = new FakeClock();
  const { limit, state } = limitOf(clock, 100);
  state.usedMb = 150;
  await assert.rejects(limit.check(), /APP_MAX_MEMORY_MB is 100, .*150 MB at startup, .* set it to 300 or more$/);
});

test("without a limit nobody is held up", async () => {
  const { limit, state } = limitOf(new FakeClock(), null);
  state.usedMb = 1e9;
  await limit.check();
  await limit.enter();
  assert.equal(state.relieved, 0);
});
