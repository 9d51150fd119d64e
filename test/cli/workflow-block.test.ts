import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import type { LastFailure } from "../../src/domain/run/last-failure.ts";
import type { TaskState } from "../../src/domain/run/states.ts";
import { plainSigns } from "../../src/cli/print/signs.ts";
import { failureWords } from "../../src/cli/print/waiting-words.ts";
import { workflowBlock } from "../../src/cli/workflow/workflow-block.ts";
import { type Details, WorkflowDisplay, workflowText } from "../../src/cli/workflow/workflow-display.ts";
import { resultWords } from "../../src/cli/workflow/workflow-line.ts";
import { treeOf } from "../../src/cli/workflow/workflow-tree.ts";
import type { StepProgress, WorkflowProgress } from "../../src/orchestrator/workflows/progress.ts";

const NOW = Date.parse("2026-11-15T10:00:00Z");
const later = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();
const ID = "0197c3a1-5a2e-7c3f-9d52-1c8d5f1a2b3c";

function step(name: string, status: TaskState, dependencies: number[], more: Partial<StepProgress> = {}): StepProgress {
  return {
    id: ID,
    task_name: name,
    task_type: "wait",
    status,
    step_index: 0,
    dependencies,
    retry_count: 0,
    max_retries: 3,
    progress: 0,
    progress_message: null,
    waiting_for: null,
    child_run_ids: [],
    entries: null,
    error_message: null,
    failure_code: null,
    failure_reason: null,
    started_at: status === "pending" ? null : later(-12),
    completed_at: null,
    next_try_at: null,
    estimated_duration: null,
    actual_duration: ["completed", "failed"].includes(status) ? 12 : null,
    ...more,
  };
}

function workflow(steps: StepProgress[], more: Partial<WorkflowProgress> = {}): WorkflowProgress {
  return {
    workflow_id: ID,
    job_id: null,
    name: "Cat pictures",
    status: "running",
    progress: 40,
    current_step: 1,
    current_step_name: "download",
    total_steps: steps.length,
    counts: { pending: 0, queued: 0, running: 0, retrying: 0, completed: 0, failed: 0, skipped: 0, cancelled: 0 },
    elapsed_seconds: 42,
    time_remaining_seconds: 180,
    error_message: null,
    recovery_attempts: 0,
    max_recovery_attempts: 3,
    started_at: later(-42),
    completed_at: null,
    last_checkpoint: null,
    message: null,
    waiting_for: null,
    steps,
    ...more,
  };
}

/** Something in every state that a step can be in. */
const ALL = workflow([
  step("crawl", "completed", [], { task_type: "crawl" }),
  step("pictures", "running", [0], {
    waiting_for: { for: "run", run_id: ID, until: null, run: null, message: "Downloading: 3 of 9", last_failure: null },
    estimated_duration: 300,
  }),
  step("check", "pending", [1]),
  step("pages", "running", [0], { entries: { total: 100, open: 60, completed: 38, failed: 2, skipped: 0 } }),
  step("tell", "retrying", [0], { retry_count: 2, next_try_at: later(3), error_message: "the server answered 503" }),
  step("pause", "running", [0], {
    waiting_for: { for: "time", until: later(75), message: "", last_failure: null },
  }),
  step("count", "running", [0], { progress: 25, progress_message: "1,200 of them" }),
  step("odd", "failed", [0], { error_message: "it was\nodd \u001b[31m" }),
  step("after odd", "skipped", [7], { error_message: "step odd failed" }),
  step("next", "queued", [0]),
  step("pack", "pending", [2, 3]),
]);
const DETAILS: Details = {
  children: new Map([[ID, { words: "38 of 100 known pages, 8.2/s", waits: null }]]),
  results: new Map([[0, "pages 100, failed 0"]]),
};
const plain = { out: () => {}, err: () => {}, live: true, colour: false };

function block(columns: number, rows: number, view = ALL, terminal = plain): string[] {
  const moment = { view, ...DETAILS, tree: treeOf(view.steps), elapsedSeconds: 42, now: NOW, spinner: "⠋" };
  return workflowBlock(terminal, moment, { columns, rows });
}

const drawn = (graph: number[][]) =>
  treeOf(graph.map((dependencies) => ({ dependencies }))).map(
    ({ step: index, rails, after }) => `${rails}${index}${after === null ? "" : ` after ${after.join(",")}`}`,
  );

test("a step whose site is left alone says for how long, and an attempt that is due waits for its site", () => {
  const last_failure: LastFailure = {
    failure_code: "bad_response",
    failure_reason: "http_server_error",
    message: "the server answered 500",
    http_status: 500,
    url: null,
    attempt: 2,
    max_attempts: 3,
    next_try_at: later(-60),
  };
  const until = later(240);
  const time = `${until.slice(0, 10)} ${until.slice(11, 19)} UTC`;
  const message = `a.example: It kept failing, and is left alone until ${time}: the server answered 500`;
  const waiting_for = { for: "run" as const, run_id: ID, run: null, until, message, last_failure };
  const lines = block(160, 20, workflow([step("pictures", "running", [], { waiting_for })]));
  assert.match(lines.join("\n"), /is left alone for 4 min: the server answered 500/);
  assert.match(failureWords(last_failure, NOW), /; attempt 2 of 3 as soon as its site allows$/);
});

describe("the tree of a workflow", () => {
  test("a chain goes straight down, branches stand side by side, and what waits for all of them stands behind them", () => {
    assert.deepEqual(drawn([[], [0], [1]]), ["0", "1", "2"]);
    assert.deepEqual(drawn([[], [0], [1], [0], [3], [3], [4, 5], [2, 6]]), [
      ...["0", "├─ 1", "│  2", "└─ 3", "   ├─ 4", "   └─ 5", "   6", "7"],
    ]);
  });

  test("several beginnings are branches; a dependency that follows from another is not told", () => {
    assert.deepEqual(drawn([[], [], [0], [1], [2, 3]]), ["├─ 0", "│  2", "└─ 1", "   3", "4"]);
    assert.deepEqual(drawn([[], [0], [0, 1]]), ["0", "1", "2"]);
  });

  test("what the place of a step does not tell is told beside it", () => {
    assert.deepEqual(drawn([[], [], [], [0, 1], [1, 2], [3, 4]]), [
      ...["├─ 0", "├─ 1", "└─ 2", "├─ 3 after 0,1", "└─ 4 after 1,2", "5"],
    ]);
  });

  test("every step is there once, behind those it depends on, however many there are", () => {
    const graph = Array.from({ length: 1000 }, (_, index) =>
      Array.from({ length: index % 7 }, (__, nth) => Math.floor(index / (nth + 2))).filter((one) => one < index),
    );
    const order = treeOf(graph.map((all) => ({ dependencies: [...new Set(all)] }))).map((line) => line.step);
    assert.deepEqual(
      order.toSorted((a, b) => a - b),
      [...graph.keys()],
    );
    const place = new Map(order.map((index, at) => [index, at]));
    for (const [index, all] of graph.entries())
      for (const one of all) assert.ok((place.get(one) ?? 0) < (place.get(index) ?? 0), `${one} before ${index}`);
  });
});

describe("the picture of a workflow", () => {
  test("on a wide screen everything is there", () => {
    assert.deepEqual(block(100, 24), [
      "⠋ Cat pictures  ██████░░░░░░░░░░ 40 %  3 of 11 steps ended  0:42  about 3 min left",
      "✓ crawl         crawl           0:12  pages 100, failed 0",
      "├─ ◐ pictures   wait   0:12 of ~5:00  38 of 100 known pages, 8.2/s",
      "│  · check      wait",
      "├─ ⠋ pages      wait            0:12  ███░░░░░ 40/100  2 failed",
      "├─ ↻ tell       wait            0:12  retry 2 of 3 in 3 s: the server answered 503",
      "├─ ◐ pause      wait            0:12  waits, 75 s left",
      "├─ ⠋ count      wait            0:12  ██░░░░░░ 25 %  1,200 of them",
      "├─ ✗ odd        wait            0:12  it was odd [31m",
      "│  – after odd  wait                  skipped: step odd failed",
      "└─ ○ next       wait                  waiting for a worker",
      "· pack          wait                  after check, pages",
    ]);
  });

  test("on a narrow one kinds, bars and estimates give way", () => {
    assert.deepEqual(block(60, 24).slice(0, 5), [
      "⠋ Cat pictures  40 %  3/11 steps  0:42  ~3 min left",
      "✓ crawl         0:12  pages 100, failed 0",
      "├─ ◐ pictures   0:12  38 of 100 known pages, 8.2/s",
      "│  · check",
      "├─ ⠋ pages      0:12  40/100  2 failed",
    ]);
  });

  test("no line is broken and no row too much, whatever the screen is like", () => {
    for (let columns = 30; columns <= 200; columns += 1)
      for (const rows of [2, 3, 6, 10, 50])
        for (const colour of [false, true]) {
          const lines = block(columns, rows, ALL, { ...plain, colour });
          assert.ok(lines.length < rows, `${lines.length} lines on ${rows} rows`);
          for (const line of lines)
            assert.ok(stripVTControlCharacters(line).length < columns, `${columns} columns: ${line}`);
        }
  });

  test("of 200 steps those are shown that something happens to, and the others are counted", () => {
    const many = workflow(
      Array.from({ length: 200 }, (_, index) =>
        step(
          `s${index}`,
          index < 90 ? "completed" : index < 92 ? "running" : "pending",
          index === 0 ? [] : [index - 1],
        ),
      ),
    );
    const lines = block(60, 12, many);
    assert.equal(lines.length, 11);
    assert.equal(lines[1], "  … 87 completed");
    assert.ok(lines.some((line) => line.startsWith("⠋ s90 ")) && lines.some((line) => line.startsWith("⠋ s91 ")));
    assert.match(lines.at(-1) ?? "", /^ {2}… 10\d pending$/);
  });

  test("a screen that knows only ASCII gets only that", () => {
    const text = plainSigns(block(100, 24).join("\n"));
    assert.doesNotMatch(text, /[^\n -~]/);
    assert.match(text, /^\|- z pictures /m);
    const ascii = workflowText({ ...plain, ascii: true }, ALL, DETAILS, { columns: 60, now: NOW });
    assert.doesNotMatch(ascii, /[^\n -~]/);
  });

  test("one that is paused, recovered or failed says so", () => {
    const head = (more: Partial<WorkflowProgress>) => block(100, 3, workflow(ALL.steps, more))[0] ?? "";
    assert.match(head({ status: "paused", time_remaining_seconds: null }), /^Cat pictures {2}paused .* 40 %/);
    assert.match(head({ recovery_attempts: 2 }), /Cat pictures {2}recovery 2 /);
    assert.match(head({ status: "failed" }), /^Cat pictures {2}failed /);
  });
});

test("off a terminal every change of a step is a line", () => {
  const said: string[] = [];
  const terminal = { out: () => {}, err: (text: string) => void said.push(text), live: false, colour: false };
  const display = new WorkflowDisplay(terminal, () => NOW, "plain", {});
  const at = (...steps: StepProgress[]) => display.show(workflow(steps), DETAILS);
  at(step("crawl", "pending", []), step("odd", "pending", [0]), step("last", "pending", [1]));
  at(step("crawl", "running", []), step("odd", "pending", [0]), step("last", "pending", [1]));
  at(step("crawl", "running", []), step("odd", "pending", [0]), step("last", "pending", [1]));
  const again = { retry_count: 1, next_try_at: later(2), error_message: "it is\nodd" };
  at(step("crawl", "completed", []), step("odd", "retrying", [0], again), step("last", "pending", [1]));
  at(step("crawl", "completed", []), step("odd", "running", [0], { retry_count: 1 }), step("last", "pending", [1]));
  at(
    step("crawl", "completed", []),
    step("odd", "failed", [0], { error_message: "it is odd" }),
    step("last", "skipped", [1], { error_message: "step odd failed" }),
  );
  assert.deepEqual(said, [
    "crawl: started\n",
    "crawl: completed after 0:12: pages 100, failed 0\n",
    "odd: retry 1 of 3 in 2 s: it is odd\n",
    "odd: started again, retry 1 of 3\n",
    "odd: failed: it is odd\n",
    "last: skipped: step odd failed\n",
  ]);
});

test("off a terminal a step that began and ended between two looks has both lines", () => {
  const said: string[] = [];
  const terminal = { out: () => {}, err: (text: string) => void said.push(text), live: false, colour: false };
  const ended = workflow([step("crawl", "completed", []), step("odd", "skipped", [0])]);
  new WorkflowDisplay(terminal, () => NOW, "plain", {}).show(ended, DETAILS);
  assert.deepEqual(said, ["crawl: started\n", "crawl: completed after 0:12: pages 100, failed 0\n", "odd: skipped\n"]);
  said.length = 0;
  const later = new WorkflowDisplay(terminal, () => NOW, "plain", {});
  later.was(ended);
  later.show(ended, DETAILS);
  assert.deepEqual(said, ["completed earlier: crawl\n", "skipped earlier: odd\n"]);
});

test("what stays of it has its name and time above the steps, and no text is cut", () => {
  const error = `it is odd: ${"very ".repeat(40)}odd`;
  const failed = workflow([step("odd", "failed", [], { error_message: error })], { status: "failed" });
  const text = workflowText(plain, failed, DETAILS, { columns: 60, now: NOW, head: true });
  assert.match(text, /^Cat pictures {2}failed {2}\d+ % {2}1\/1 steps {2}[\d:]+\n/);
  assert.ok(text.includes(error), text);
});

test("of what a step puts out, people get what they can read", () => {
  const output = {
    count: 12,
    bytes: 150_000,
    artifact_hash: "ab",
    status: "ok",
    text: "x".repeat(50),
    list: [1],
    none: null,
  };
  assert.equal(resultWords(output), "count 12, 146 KiB, status ok");
  assert.equal(resultWords(null), "");
});
