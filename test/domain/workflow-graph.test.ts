import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  currentStep,
  dependenceOf,
  dependentsOf,
  followersOf,
  levelsOf,
  progressOf,
  secondsLeft,
  type TimedStep,
  weightsOf,
} from "../../src/domain/workflow/graph.ts";

/** get → (check, label) → export; aside stands alone. */
const STEPS = [[], [0], [0], [1, 2], []].map((dependencies) => ({ dependencies }));

test("who follows whom", () => {
  assert.deepEqual(dependentsOf(STEPS), [[1, 2], [3], [3], [], []]);
  assert.deepEqual(followersOf(STEPS, 0), [1, 2, 3]);
  assert.deepEqual(followersOf(STEPS, 1), [3]);
  assert.deepEqual(followersOf(STEPS, 4), []);
  assert.deepEqual(levelsOf(STEPS), [0, 1, 1, 2, 0]);
  const depends = dependenceOf(STEPS);
  assert.equal(depends(3, 0), true);
  assert.equal(depends(0, 3), false);
  assert.equal(depends(2, 1), false);
});

test("the current step is the first that has not ended", () => {
  assert.equal(currentStep([true, false, true]), 1);
  assert.equal(currentStep([true, true]), 2);
  assert.equal(currentStep([]), 0);
});

test("steps weigh as much as they are said to take, others as much as these on average", () => {
  assert.deepEqual(weightsOf([300, null, 100]), [300, 200, 100]);
  assert.deepEqual(weightsOf([null, null]), [1, 1]);
  assert.deepEqual(weightsOf([0, null, 0]), [1, 1, 1]);
  assert.deepEqual(weightsOf([0, 10]), [1, 10]);
});

test("progress is weighted, counts what a running step has done, and is 100 only at the end", () => {
  const weights = weightsOf([300, null, 100]);
  assert.equal(progressOf(weights, [0, 0, 0], false), 0);
  assert.equal(progressOf(weights, [0.5, 0, 0], false), 25);
  assert.equal(progressOf(weights, [1, 0, 0], false), 50);
  assert.equal(progressOf(weights, [1, 1, 1], false), 99);
  assert.equal(progressOf(weights, [1, 1, 1], true), 100);
  assert.equal(progressOf(weights, [7, -3, Number.MIN_VALUE], false), 50, "shares are from 0 to 1");
});

const timed = (more: Partial<TimedStep> = {}): TimedStep => ({
  dependencies: [],
  ended: false,
  history: [],
  estimate: null,
  elapsed: null,
  share: 0,
  ...more,
});

test("the time left goes along the longest way through what is open", () => {
  const steps = [
    timed({ ended: true, estimate: 1000 }),
    timed({ dependencies: [0], estimate: 60, elapsed: 20 }),
    timed({ dependencies: [0], estimate: 10 }),
    timed({ dependencies: [1, 2], history: [30, 10, 50] }),
  ];
  assert.equal(secondsLeft(steps), 40 + 30);
  assert.equal(secondsLeft(steps.map((step) => ({ ...step, ended: true }))), 0);
  assert.equal(secondsLeft([timed({ estimate: 60, elapsed: 90 })]), 0, "late, but nobody knows by how much");
  assert.equal(secondsLeft([timed({ estimate: 60, elapsed: 90, share: 0.5 })]), 90, "the step itself knows better");
  assert.equal(
    secondsLeft([timed({ estimate: 60 }), timed({ dependencies: [0] })]),
    120,
    "unknown ones are like others",
  );
  assert.equal(secondsLeft([timed(), timed({ dependencies: [0] })]), null);
  assert.equal(secondsLeft([timed({ elapsed: 10, share: 0.25 })]), 30);
});

const graphs = fc
  .array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 40 })
  .map((rows) =>
    rows.map((row, index) => ({ dependencies: index === 0 ? [] : [...new Set(row.map((n) => n % index))] })),
  );

test("followers and dependence are two sides of the same graph", () => {
  fc.assert(
    fc.property(graphs, (steps) => {
      const depends = dependenceOf(steps);
      const levels = levelsOf(steps);
      for (const step of steps.keys()) {
        const followers = followersOf(steps, step);
        for (const other of steps.keys()) assert.equal(depends(other, step), followers.includes(other));
        for (const other of followers) assert.ok((levels[other] ?? 0) > (levels[step] ?? 0));
      }
    }),
  );
});

test("progress never falls as steps go on and end, and the time left is never negative", () => {
  const runs = fc.array(
    fc.tuple(
      fc.option(fc.integer({ min: 0, max: 10_000 })),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
    ),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(runs, fc.infiniteStream(fc.nat()), (steps, choose) => {
      const weights = weightsOf(steps.map(([estimate]) => estimate));
      const todo = steps.map(([, shares]) => [...shares.toSorted((a, b) => a - b), 1]);
      const shares = steps.map(() => 0);
      let last = progressOf(weights, shares, false);
      while (todo.some((rest) => rest.length > 0)) {
        const open = [...todo.keys()].filter((index) => (todo[index]?.length ?? 0) > 0);
        const chosen = open[(choose.next().value ?? 0) % open.length] ?? 0;
        shares[chosen] = todo[chosen]?.shift() ?? 1;
        const now = progressOf(weights, shares, false);
        assert.ok(now >= last && now < 100, `${last} → ${now}`);
        last = now;
        const left = secondsLeft(
          steps.map(([estimate], index) =>
            timed({
              estimate,
              ended: todo[index]?.length === 0,
              share: shares[index] ?? 0,
              elapsed: (shares[index] ?? 0) > 0 ? 5 : null,
            }),
          ),
        );
        assert.ok(left === null || left >= 0);
      }
      assert.equal(last, 99);
    }),
  );
});
