import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { CrawlDisplay } from "../../src/cli/crawl/crawl-display.ts";
import { crawlBlock, type CrawlMoment, waitsAsAWhole } from "../../src/cli/crawl/crawl-block.ts";
import { failure } from "../../src/domain/run/failure.ts";
import { lastFailure } from "../../src/domain/run/last-failure.ts";
import type { WaitingView, WaitReason } from "../../src/domain/run/waiting.ts";
import type { CrawlDetail } from "../../src/orchestrator/crawls/view.ts";
import type { RunSiteView } from "../../src/orchestrator/runs/sites.ts";

const NOW = Date.parse("2026-11-15T10:00:00Z");
const later = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();

function crawl(more: Partial<CrawlDetail> = {}): CrawlDetail {
  return {
    task_id: "0197c3a1-5a2e-7c3f-9d52-1c8d5f1a2b3c",
    crawl_id: "0197c3a1-5a2e-7c3f-9d52-1c8d5f1a2b3c",
    name: null,
    url: "https://a.example/",
    urls: ["https://a.example/"],
    url_count: 1,
    followed_items: 0,
    skipped: {},
    warnings: [],
    status: "running",
    progress: 40,
    total_items: 1038,
    queued_items: 616,
    running_items: 10,
    completed_items: 405,
    failed_items: 7,
    skipped_items: 0,
    cancelled_items: 0,
    retrying_items: 0,
    unchanged_items: 0,
    sign_in_items: 0,
    changes: null,
    max_pages: 10_000,
    success_rate: 0.98,
    duration_seconds: 42,
    time_remaining_seconds: 1700,
    pages_per_second: 9.8,
    errors: { timeout: 3, connection: 1, general: 3 },
    goal: null,
    end_reason: null,
    export_format: "json",
    created_at: later(-50),
    started_at: later(-42),
    finished_at: null,
    expires_at: null,
    kept: false,
    keep_runs: null,
    message: null,
    waiting_for: null,
    error_groups: (["http_not_found", "timeout_headers", "dns_failed"] as const).map((reason, index) => ({
      failure_code: "bad_response",
      failure_reason: reason,
      class: "general",
      count: 3 - index,
      status: "failed",
      retryable: reason !== "http_not_found",
      next_try_at: null,
      example: { url: null, message: "", page_task_id: "x", task_id: "x" },
    })),
    retrying_groups: [],
    waiting_sites: [],
    ...more,
  };
}

function site(name: string, waiting: RunSiteView["waiting_for"] = null, failed = 0): RunSiteView {
  return {
    site: name,
    counts: { queued: 80, running: 5, retrying: 0, completed: 15, failed, skipped: 0 },
    waiting_for: waiting,
    next_try_at: null,
    last_failure: null,
    held_until: null,
    breaker: { state: "closed", failures: 0, reopens_at: null },
  };
}

function waits(reason: WaitReason, seconds: number | null = null, message = ""): WaitingView {
  return { reason, until: seconds === null ? null : later(seconds), message, last_failure: null };
}

const SITES = [
  site("a.example"),
  site("a-site-with-a-very-long-name.of.a.department.example", waits("circuit_open", 250), 5),
  site("held.example", waits("rate_limited", 12)),
  site("paused.example", waits("site_paused")),
  site("slow.example", waits("min_delay", null, "Paced: 2 s between requests")),
];

function block(columns: number, rows: number, more: Partial<CrawlMoment> = {}, colour = false): string[] {
  const moment: CrawlMoment = {
    view: crawl(),
    sites: SITES,
    rate: 10.4,
    rateOf: (name) => (name === "a.example" ? 8.2 : 0.5),
    elapsedSeconds: 42,
    now: NOW,
    spinner: "⠋",
    ...more,
  };
  const terminal = { out: () => {}, err: () => {}, live: true, colour };
  return crawlBlock(terminal, moment, { columns, rows });
}

describe("the picture of a crawl", () => {
  test("no line is broken and no row too much, whatever the screen is like", () => {
    for (let columns = 40; columns <= 200; columns += 1)
      for (const rows of [3, 6, 10, 50])
        for (const colour of [false, true]) {
          const lines = block(columns, rows, {}, colour);
          assert.ok(lines.length < rows, `${lines.length} lines on ${rows} rows`);
          for (const line of lines)
            assert.ok(stripVTControlCharacters(line).length < columns, `${columns} columns: ${line}`);
        }
  });

  test("on a wide screen everything is there", () => {
    assert.deepEqual(block(100, 24), [
      "⠋ ██████░░░░░░░░░░ 412 of 1038 known pages  at least 4 min left  0:42",
      "  10/s now  616 queued  10 in flight  9.8/s mean",
      "  7 failed (3 timeout, 1 connection, 3 other)  3 http_not_found  2 timeout_headers  1 dns_failed",
      "  a.example                                             15/100  8.2/s",
      "  a-site-with-a-very-long-name.of.a.department.example  20/105  circuit open, 4 min left  5 failed",
      "  held.example                                          15/100  rate limited, 12 s left",
      "  paused.example                                        15/100  paused",
      "  slow.example                                          15/100  0.5/s, paced: 2 s between requests",
    ]);
  });

  test("on a narrow one names give way to reasons, and little is left out", () => {
    assert.deepEqual(block(40, 9), [
      "⠋ 412/1038 pages  ≥ 4 min  0:42",
      "  10/s now  616 queued  10 in flight",
      "  7 failed (3 timeout, 1 connection, 3…",
      "  3 http_not_found  2 timeout_headers",
      "  a.example   15/100  8.2/s",
      "  a-site-wi…  20/105  circuit open, 4 …",
      "  held.exam…  15/100  rate limited, 12…",
      "  … orb runs sites shows every site",
    ]);
  });

  test("what is left is the least: by what is known, and by the site that waits the longest", () => {
    const head = (more: Partial<CrawlMoment>) => block(100, 2, { sites: [], ...more })[0] ?? "";
    assert.match(head({}), /at least 61 s left/);
    assert.match(head({ sites: SITES }), /at least 4 min left/);
    assert.match(head({ foundRate: 0 }), /about 61 s left/, "nothing new is found");
    assert.match(head({ foundRate: 5 }), /61 s–2 min left/);
    assert.match(head({ rate: 0 }), /at least 64 s left/, "by the mean, when nothing is going on");
    const isHeld = crawl({ waiting_for: waits("rate_limited", 12) });
    assert.match(head({ view: isHeld, sites: SITES.slice(2, 3) }), /at least 73 s left/, "after the wait, at its pace");
    assert.doesNotMatch(head({ view: crawl({ completed_items: 1, failed_items: 0, skipped_items: 0 }) }), /left/);
    assert.match(head({ view: crawl({ time_remaining_seconds: 20 }) }), /time limit in 20 s/);
    assert.doesNotMatch(head({ rate: null, view: crawl({ pages_per_second: 0 }) }), /left/);
    const turn = waits("turn", null, "Waiting for a crawl slot");
    assert.match(head({ view: crawl({ status: "pending", waiting_for: turn }) }), /Waiting for a crawl slot/);
  });
});

test("off a terminal a line says what is tried again, and others what sites wait for, now and then", () => {
  let now = NOW;
  const said: string[] = [];
  const terminal = { out: () => {}, err: (text: string) => void said.push(text), live: false, colour: false };
  const display = new CrawlDisplay(terminal, () => now, "plain");
  const last = lastFailure(failure("connection_refused", "nobody listens at dead.example"), {
    url: "https://dead.example/",
    attempt: 2,
    max_attempts: 4,
    next_try_at: later(20),
  });
  const view = crawl({
    retrying_items: 2,
    retrying_groups: crawl().error_groups.slice(1, 2),
    waiting_sites: [
      { site: "dead.example", waiting_for: { ...waits("retry", 20), last_failure: last }, last_failure: last },
      {
        site: "shut.example",
        waiting_for: waits("circuit_open", 300),
        last_failure: null,
      },
    ],
  });
  const line = "412 of 1038 known pages, 9.8/s, 7 failed, 2 retrying (timeout_headers)\n";
  const wait = (seconds: number) =>
    `  dead.example: nobody listens at dead.example; waits for attempt 2 of 4, ${seconds} s left\n`;
  display.show(view, []);
  now += 9000;
  display.show(view, []);
  assert.deepEqual(said, [line, wait(20), "  shut.example: circuit open, 5 min left\n"]);
  now += 1000;
  display.show({ ...view, waiting_sites: view.waiting_sites.slice(0, 1) }, []);
  assert.deepEqual(said.slice(3), [line.replace("9.8/s", "0.0/s"), wait(10)]);

  test("sites that are done stay to be seen, and those that gave nothing", () => {
    const none = { queued: 0, running: 0, retrying: 0, skipped: 0 };
    const done = { ...site("done.example"), counts: { ...none, completed: 12, failed: 1 } };
    const dead = { ...site("dead.example"), counts: { ...none, completed: 0, failed: 1 } };
    assert.deepEqual(block(80, 24, { sites: [site("a.example"), done, dead] }).slice(3), [
      "  a.example     15/100  8.2/s",
      "  done.example   13/13  done  1 failed",
      "  dead.example     1/1  no pages  1 failed",
    ]);
  });
});

test("a crawl that is only paced keeps its bar and its counts; one that is held says why instead", () => {
  const waiting = (reason: string) =>
    waitsAsAWhole({ waiting_for: { reason, until: null, message: "why", last_failure: null } } as never);
  for (const reason of ["crawl_delay", "min_delay", "rate", "concurrency", "circuit_open"])
    assert.equal(waiting(reason), null, reason);
  assert.equal(waiting("no_worker"), "why");
});
