import assert from "node:assert/strict";
import { test } from "node:test";
import { StepProgress } from "../../src/lanes/handlers/step-progress.ts";
import { withinBounds } from "../../src/lanes/handlers/step-time.ts";
import { FakeClock, settled } from "../support/fake-clock.ts";
import { reasonOf } from "../support/net.ts";

const never = () => new Promise<never>(() => {});

function bounds(clock: FakeClock, seconds: number | null) {
  const stop = new AbortController();
  const deadline = seconds === null ? null : clock.now() + seconds * 1000;
  return { stop, bounds: { clock, signal: stop.signal, deadline, seconds } };
}

test("a step that is done in time gives what it has, and leaves no timer", async () => {
  const clock = new FakeClock();
  assert.equal(await withinBounds(bounds(clock, 10).bounds, async () => "done"), "done");
  assert.equal(clock.waiting, 0);
});

test("a step is told when its time is over, and fails for that, whatever it makes of it", async () => {
  for (const react of [() => "done all the same", () => Promise.reject(new Error("stopped"))]) {
    const clock = new FakeClock();
    const ended = reasonOf(
      withinBounds(bounds(clock, 10).bounds, async (signal) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return react();
      }),
    );
    await clock.advance(10_000);
    assert.equal(await ended, "timeout/step_timeout");
    assert.equal(clock.waiting, 0);
  }
});

test("a step that does not listen is left behind 5 seconds after it was told", async () => {
  const clock = new FakeClock();
  let end: string | null = null;
  void reasonOf(withinBounds(bounds(clock, 10).bounds, never)).then((reason) => (end = reason));
  await clock.advance(14_999);
  await settled();
  assert.equal(end, null);
  await clock.advance(1);
  await settled();
  assert.equal(end, "timeout/step_timeout");
});

test("a step that is not wanted any more is told, and left behind if it does not listen", async () => {
  const clock = new FakeClock();
  const { stop, bounds: within } = bounds(clock, null);
  const ended = reasonOf(withinBounds(within, never));
  stop.abort();
  await clock.advance(5000);
  assert.equal(await ended, "cancelled/run_cancelled");
});

test("setting the wall clock changes nothing about the time of a step at work", async () => {
  const clock = new FakeClock();
  let end: string | null = null;
  void reasonOf(
    withinBounds(
      bounds(clock, 10).bounds,
      (signal) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
    ),
  ).then((reason) => (end = reason));
  clock.wall -= 3_600_000;
  await clock.advance(9999);
  await settled();
  assert.equal(end, null);
  await clock.advance(1);
  await settled();
  assert.equal(end, "timeout/step_timeout");
});

test("what a step says of itself is written at once, then once a second, and not after its end", async () => {
  const clock = new FakeClock();
  const written: unknown[] = [];
  const progress = new StepProgress(clock, async (told) => void written.push(told));
  for (const done of [1, 2, 3]) progress.tell(done, 10, `${done} of 10`);
  assert.deepEqual(written, [{ fraction: 0.1, message: "1 of 10" }]);
  await clock.advance(1000);
  assert.deepEqual(written.at(-1), { fraction: 0.3, message: "3 of 10" });
  progress.tell(4, 10);
  await progress.stop();
  await clock.advance(5000);
  assert.equal(written.length, 2);
});

test("a step that was left behind says nothing more, whatever it tells", async () => {
  const written: unknown[] = [];
  const progress = new StepProgress(new FakeClock(), async (told) => void written.push(told));
  await progress.stop();
  progress.tell(1, 2, "late");
  assert.deepEqual(written, []);
});
