import assert from "node:assert/strict";
import { test } from "node:test";
import { type FirstTab, firstTab } from "../../web/src/logic/run-first-tab.ts";

const NONE = { queued: 0, running: 0, retrying: 0, completed: 0, failed: 0, skipped: 0 };

test("a run opens with what people come for", () => {
  const shown = (kind: string, status: string, counts: Partial<typeof NONE> | null = null) =>
    firstTab({ id: "1", kind, status }, counts === null ? null : { ...NONE, ...counts }, null).tab;
  assert.deepEqual(
    ["queued", "running", "paused"].map((status) => shown("crawl", status)),
    ["pages", "pages", "pages"],
  );
  assert.deepEqual(
    [shown("crawl", "completed"), shown("crawl", "partial", { completed: 1, failed: 9 })],
    ["results", "results"],
  );
  assert.deepEqual(
    [{ completed: 1, failed: 1 }, { failed: 1 }, {}].map((counts) => shown("crawl", "failed", counts)),
    ["results", "errors", "events"],
  );
  assert.deepEqual(
    [shown("crawl", "cancelled", { completed: 2 }), shown("crawl", "cancelled", {})],
    ["results", "events"],
  );
  assert.deepEqual(
    ["running", "waiting_for_human", "completed", "failed", "cancelled"].map((status) => shown("page", status)),
    ["results", "results", "results", "errors", "events"],
  );
  assert.equal(shown("queue", "running"), "events");
});

test("whoever looks at a run is not taken elsewhere when it ends, unless there was nothing to read", () => {
  const after = (kind: string, first: string, then: string, counts = NONE): FirstTab[] => {
    const one = firstTab({ id: "1", kind, status: first }, null, null);
    return [one, firstTab({ id: "1", kind, status: then }, counts, one)];
  };
  const [watched, ended] = after("crawl", "running", "completed");
  assert.equal(ended, watched, "the very same");
  assert.deepEqual(
    after("page", "running", "failed").map(({ tab }) => tab),
    ["results", "errors"],
  );
  assert.deepEqual(
    after("page", "running", "completed").map(({ tab }) => tab),
    ["results", "results"],
  );
  // What came of it is known a moment after it.
  const got = { ...NONE, completed: 3, failed: 1 };
  assert.deepEqual(
    after("crawl", "failed", "failed", got).map(({ tab }) => tab),
    ["errors", "results"],
  );
  assert.equal(
    firstTab({ id: "2", kind: "crawl", status: "completed" }, null, watched ?? null).tab,
    "results",
    "another run",
  );
});
