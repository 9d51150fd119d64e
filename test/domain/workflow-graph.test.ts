import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { dependenceOf, secondsLeft, type TimedStep, weightsOf } from "../../src/domain/workflow/graph.ts";

/** get → (check, label) → export; aside stands alone. */
const STEPS = [[], [0], [0], [1, 2], []].map((dependencies) => ({ dependencies }));

test("who follows whom", () => {
  const depends = dependenceOf(STEPS);
  assert.equal(depends(3, 0), true);
  assert.equal(depends(0, 3), false);
  assert.equal(depends(2, 1), false);
});

test("steps weigh as much as they are said to take, others as much as these on average", () => {
  assert.deepEqual(weightsOf([300, null, 100]), [300, 200, 100]);
  assert.deepEqual(weightsOf([null, null]), [1, 1]);
  assert.deepEqual(weightsOf([0, null, 0]), [1, 1, 1]);
  assert.deepEqual(weightsOf([0, 10]), [1, 10]);
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

test("who follows whom is what the ways through the graph say", () => {
  fc.assert(
    fc.property(graphs, (steps) => {
      const depends = dependenceOf(steps);
      const reached: Set<number>[] = [];
      for (const { dependencies } of steps)
        reached.push(new Set(dependencies.flatMap((dependency) => [dependency, ...(reached[dependency] ?? [])])));
      for (const step of steps.keys())
        for (const other of steps.keys()) assert.equal(depends(step, other), reached[step]?.has(other));
    }),
  );
});

test("the time left is never negative", () => {
  const seconds = fc.double({ min: 0, max: 10_000, noNaN: true });
  const steps = fc.array(
    fc.record({
      dependencies: fc.constant([]),
      ended: fc.boolean(),
      history: fc.array(seconds, { maxLength: 3 }),
      estimate: fc.option(seconds),
      elapsed: fc.option(seconds),
      share: fc.double({ min: -1, max: 2, noNaN: true }),
    }),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(fc.property(steps, (all) => (secondsLeft(all) ?? 0) >= 0));
});
