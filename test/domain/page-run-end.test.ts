import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { FAILURE_REASONS, type FailureReason } from "../../src/domain/run/failure.ts";
import { endOfPageRun, NO_TASKS } from "../../src/domain/run/run-end.ts";
import type { PageStats, RunFacts } from "../../src/domain/run/run-facts.ts";

const stats: PageStats = {
  http_status: 500,
  content_type: "text/html",
  content_length: 12,
  title: null,
  final_url: "https://shop.example/",
  duration_ms: 7,
  strategy: "http",
};

test("a page that was got completes its run, with its figures", () => {
  const end = endOfPageRun({ ...NO_TASKS, completed: 1 }, { attempt: 2, stats });
  assert.deepEqual(end, { status: "completed", message: "Run completed", meta: { attempt: 2, stats } });
});

test("a page that was not says why in its own words, with its figures as well", () => {
  const facts: RunFacts = {
    attempt: 3,
    stats,
    failure_code: "bad_response",
    failure_reason: "http_server_error",
    error_message: "the server answered 500 (server error)",
  };
  assert.deepEqual(endOfPageRun({ ...NO_TASKS, failed: 1 }, facts), {
    status: "failed",
    message: "Run failed: the server answered 500 (server error)",
    meta: { attempt: 3, failure_code: "bad_response", failure_reason: "http_server_error", stats },
  });
});

test("a run of one page is never half done, and its last sentence begins with how it ended", () => {
  const reasons = Object.keys(FAILURE_REASONS) as FailureReason[];
  const facts = fc.record(
    { attempt: fc.nat(9), failure_reason: fc.constantFrom(...reasons), error_message: fc.option(fc.string()) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(facts, fc.boolean(), (some, good) => {
      const end = endOfPageRun({ ...NO_TASKS, [good ? "completed" : "failed"]: 1 }, some as RunFacts);
      assert.equal(end.status, good ? "completed" : "failed");
      assert.ok(end.message.startsWith(good ? "Run completed" : "Run failed: "));
      assert.ok(end.message.length > "Run failed:".length || good);
    }),
  );
});
