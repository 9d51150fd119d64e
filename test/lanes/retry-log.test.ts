import assert from "node:assert/strict";
import { test } from "node:test";
import { failure, type FailureReason } from "../../src/domain/run/failure.ts";
import { RetryLog } from "../../src/lanes/owner/retry-log.ts";
import type { ClaimedTask } from "../../src/store/ports/port.ts";

const task = (more: Partial<ClaimedTask> = {}) =>
  ({
    id: "t",
    runId: "r",
    runKind: "crawl",
    key: "k",
    site: "a.example",
    url: "https://a.example/x",
    tries: 0,
    ...more,
  }) as ClaimedTask;

const retry = (reason: FailureReason = "http_server_error") =>
  ({ kind: "retry", failure: failure(reason, "it failed", { httpStatus: 500 }), readyAt: 10_000 }) as const;

test("a failed try of a page of a crawl is logged with its attempt, its cause and the time of the next", () => {
  const { message, meta, level } = new RetryLog().event(task({ tries: 1 }), retry(), 4, 0) ?? {};
  assert.equal(message, "Retry scheduled: attempt 3 of 4 in 10 s for https://a.example/x, because it failed");
  assert.equal(level, "warn");
  assert.deepEqual(meta, {
    attempt: 3,
    max_attempts: 4,
    delay_ms: 10_000,
    ready_at: "1970-01-01T00:00:10.000Z",
    failure_code: "bad_response",
    failure_reason: "http_server_error",
    http_status: 500,
    url: "https://a.example/x",
    task_id: "t",
  });
});

test("what logs itself, or does not fail, is not logged here", () => {
  const log = new RetryLog();
  assert.equal(log.event(task({ runKind: "page" }), retry(), 4, 0), null);
  assert.equal(log.event(task({ runKind: "queue" }), retry(), 4, 0), null);
  assert.equal(log.event(task(), { kind: "skipped", why: "unchanged" }, 4, 0), null);
});

test("of one cause at one site the first are logged, and of a run not too many in all", () => {
  const log = new RetryLog();
  const messages = (count: number, more: Partial<ClaimedTask>, reason?: FailureReason) =>
    Array.from({ length: count }, () => log.event(task(more), retry(reason), 4, 0)?.message ?? null).filter(
      (message) => message !== null,
    );
  const alike = messages(500, {});
  assert.equal(alike.length, 21);
  assert.equal(alike.at(-1), "Log truncated: further retries at a.example (http_server_error) are not logged");
  assert.equal(messages(1, {}, "connection_reset").length, 1, "another cause");
  assert.equal(messages(1, { runId: "other" }).length, 1, "another run");
  const sites = Array.from({ length: 300 }, (_, n) => messages(1, { site: `${n}.example` })).flat();
  assert.equal(sites.at(-1), "Log truncated: further retries of this run are not logged");
  assert.ok(sites.length < 200);
});
