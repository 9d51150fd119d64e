import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { endOfRun, NO_TASKS, type TaskCounts } from "../../src/domain/run/run-end.ts";
import { canRunMove, OPEN_TASK_STATES, TASK_STATES, TERMINAL_RUN_STATES } from "../../src/domain/run/states.ts";

const TABLE: [Partial<TaskCounts>, string, RegExp][] = [
  [{}, "completed", /0 of 0/],
  [{ completed: 3 }, "completed", /3 of 3 done/],
  [{ completed: 1, skipped: 2 }, "completed", /3 of 3 done/],
  [{ skipped: 2 }, "completed", /2 of 2 done/],
  [{ completed: 2, failed: 1 }, "partial", /2 of 3 done, 1 failed/],
  [{ skipped: 1, failed: 4 }, "partial", /1 of 5 done, 4 failed/],
  [{ failed: 2 }, "failed", /none of 2/],
  [{ failed: 1, cancelled: 1 }, "failed", /none of 2/],
];

for (const [counts, status, message] of TABLE) {
  test(`${JSON.stringify(counts)} ends ${status}`, () => {
    const end = endOfRun({ ...NO_TASKS, ...counts });
    assert.equal(end.status, status);
    assert.match(end.message, message);
    assert.match(end.message, /^Run (completed|failed)/);
  });
}

test("every end is one that a running run may come to", () => {
  const ended = TASK_STATES.filter((state) => !OPEN_TASK_STATES.includes(state));
  const counts = fc.record(Object.fromEntries(ended.map((state) => [state, fc.nat({ max: 1000 })])));
  fc.assert(
    fc.property(counts, (some) => {
      const { status } = endOfRun({ ...NO_TASKS, ...some });
      return TERMINAL_RUN_STATES.includes(status) && canRunMove("running", status);
    }),
  );
});
