import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { definitionChanges, outlineOf, readJson, same } from "../../web/src/pages/workflows/logic/flow-definition.ts";
import { directionFor, fitting, layOut, NODE, zoomed } from "../../web/src/pages/workflows/logic/flow-graph.ts";
import {
  flowQuery,
  type FlowEvent,
  type FlowRow,
  type LiveRun,
  mayChange,
  readFlowFilter,
  withLiveRuns,
  writeFlowFilter,
} from "../../web/src/pages/workflows/logic/flow-list.ts";
import {
  actionsOf,
  type FlowStep,
  itemsToFetch,
  namesOf,
  recoverableFrom,
  recoveryPlan,
  stepLine,
  type StepDetail,
  stepPercent,
  stepsDone,
} from "../../web/src/pages/workflows/logic/flow-steps.ts";
import { ganttOf, ticksOf } from "../../web/src/pages/workflows/logic/gantt.ts";
import { outcomeNotes, outcomeWords } from "../../web/src/pages/workflows/logic/step-outcome.ts";
import { blocksOf, diffLines } from "../../web/src/pages/workflows/logic/line-diff.ts";

const AT = Date.parse("2026-05-01T10:00:00Z");
const time = (seconds: number) => new Date(AT + seconds * 1000).toISOString();

function step(
  task_name: string,
  status: FlowStep["status"],
  dependencies: number[] = [],
  more: Partial<FlowStep> = {},
) {
  return {
    id: task_name,
    task_name,
    task_type: "webhook",
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
    started_at: null,
    completed_at: null,
    next_try_at: null,
    estimated_duration: null,
    actual_duration: null,
    ...more,
  } satisfies FlowStep;
}

describe("recovering, as it is explained before it is done", () => {
  // read → keep ✗ → pack; side ✗ stands alone; tell was not needed.
  const steps = [
    step("read", "completed"),
    step("keep", "failed", [0]),
    step("pack", "skipped", [1]),
    step("side", "failed"),
    step("tell", "skipped", [0]),
  ];

  it("does again what did not end well, and what was skipped for want of it", () => {
    const { again, kept, left, refusal } = recoveryPlan(steps, null);
    assert.deepEqual([again, kept, left, refusal], [[1, 2, 3], [0, 4], [], null]);
  });

  it("from a step: that one and what follows from it, and nothing of other branches", () => {
    assert.deepEqual(recoveryPlan(steps, 0), { again: [0, 1, 2, 4], kept: [], left: [3], refusal: null });
    assert.deepEqual(recoveryPlan(steps, 3), { again: [3], kept: [0, 4], left: [1, 2], refusal: null });
  });

  it("cannot begin behind a step that has no result", () => {
    assert.equal(recoveryPlan(steps, 2).refusal, "Needs the result of keep, which is failed.");
    assert.deepEqual(recoverableFrom(steps), [0, 1, 3, 4]);
    assert.equal(namesOf(steps, [0, 1, 2]), "read, keep and pack");
    assert.equal(namesOf(steps, [0, 1, 2], 1), "read and 2 more");
  });

  it("is offered to what failed and was not recovered too often", () => {
    const flow = { recovery_attempts: 0, max_recovery_attempts: 1 };
    assert.equal(actionsOf({ ...flow, status: "failed" }).recover, true);
    assert.equal(actionsOf({ ...flow, status: "failed", recovery_attempts: 1 }).recover, false);
    assert.deepEqual(
      Object.entries(actionsOf({ ...flow, status: "paused" })).filter(([, can]) => can),
      [
        ["resume", true],
        ["cancel", true],
      ],
    );
  });
});

describe("the line of a step", () => {
  it("says what matters now", () => {
    const entries = { total: 40, open: 30, completed: 8, failed: 2, skipped: 0 };
    const listed = step("a", "running", [], { entries, started_at: time(0) });
    assert.equal(stepLine(listed, AT), "10 of 40, 2 failed");
    assert.equal(stepPercent(listed), 25);
    const again = step("a", "retrying", [], { retry_count: 2, next_try_at: time(8) });
    assert.equal(stepLine(again, AT), "Retry 2 of 3 in 8 s");
    const failed = step("a", "failed", [], { error_message: "the server answered 404" });
    assert.equal(stepLine(failed, AT), "the server answered 404");
    const done = step("a", "completed", [], { actual_duration: 4.2 });
    assert.equal(stepLine(done, AT), "4.2 s");
    const said = { ...again, error_message: "the server answered 500" };
    assert.equal(stepLine(said, AT), "Retry 2 of 3 in 8 s: the server answered 500");
    const waits = step("a", "running", [], {
      waiting_for: {
        for: "run",
        run_id: "x",
        until: time(9),
        run: null,
        message: `Downloading: 0 of 14. s: Retrying: refused. Attempt 2 of 3 at ${time(9).slice(0, 19).replace("T", " ")} UTC`,
        last_failure: null,
      },
      started_at: time(0),
    });
    assert.equal(stepLine(waits, AT), "Downloading: 0 of 14. s: Retrying: refused. Attempt 2 of 3 · retries in 9 s");
  });
});

describe("the drawing of a workflow", () => {
  const steps = [
    { name: "a", dependencies: [] },
    { name: "b", dependencies: [0] },
    { name: "c", dependencies: [0] },
    { name: "d", dependencies: [1, 2, 0] },
  ];

  it("puts steps behind what they wait for, and none on another", () => {
    for (const direction of ["across", "down"] as const) {
      const { nodes, edges, width, height } = layOut(steps, direction);
      const along = (index: number) => (direction === "across" ? nodes[index]!.x : nodes[index]!.y);
      for (const { from, to } of edges) assert.ok(along(from) < along(to), `${from} stands before ${to}`);
      for (const a of nodes)
        for (const b of nodes)
          if (a.index < b.index)
            assert.ok(
              Math.abs(a.x - b.x) >= NODE.width || Math.abs(a.y - b.y) >= NODE.height,
              `${a.index} and ${b.index} do not overlap`,
            );
      assert.equal(edges.length, 5);
      assert.ok(edges.every(({ path }) => /^M[\d.]+ [\d.]+C/.test(path)));
      for (const { x, y } of nodes)
        assert.ok(
          x >= 0 && y >= 0 && x + NODE.width <= width && y + NODE.height <= height,
          "all of it is on the paper",
        );
    }
  });

  it("is drawn for one step, for none, and for hundreds", () => {
    assert.equal(layOut([], "across").nodes.length, 0);
    assert.equal(layOut([{ name: "a", dependencies: [] }], "down").nodes.length, 1);
    const many = Array.from({ length: 300 }, (_, index) => ({
      name: String(index),
      dependencies: index === 0 ? [] : [Math.floor((index - 1) / 4)],
    }));
    assert.equal(layOut(many, "across").edges.length, 299);
  });

  it("grows and shrinks by steps, and fits its box without being blown up", () => {
    assert.equal(zoomed(1, 1), 1.25);
    assert.equal(zoomed(0.62, -1), 0.55);
    assert.equal(zoomed(0.25, -1), 0.25);
    assert.equal(fitting({ width: 2000, height: 300 }, { width: 1000, height: 600 }), 0.5);
    assert.equal(fitting({ width: 200, height: 100 }, { width: 1000, height: 600 }), 1);
    // A chain goes down where it could not be read across; what stands side by side goes the way that needs less width.
    const chain = [0, 1, 2, 3].map((n) => ({ name: `s${n}`, dependencies: n === 0 ? [] : [n - 1] }));
    const wide = [0, 1, 2, 3].map((n) => ({ name: `s${n}`, dependencies: [] }));
    assert.deepEqual([directionFor(chain, 1000), directionFor(chain, 400)], ["across", "down"]);
    assert.deepEqual([directionFor(wide, 100), directionFor(chain, Infinity)], ["across", "across"]);
  });
});

describe("steps on a line of time", () => {
  it("places each by its beginning and end; what runs goes on until now", () => {
    const steps = [
      step("a", "completed", [], { started_at: time(0), completed_at: time(4) }),
      step("b", "running", [0], { started_at: time(4) }),
      step("c", "pending", [1]),
      step("d", "skipped", [1], { started_at: time(4), completed_at: time(4) }),
    ];
    const { bars, ms } = ganttOf(steps, AT + 8000);
    assert.equal(ms, 8000);
    assert.deepEqual(
      bars.map(({ at }) => at),
      [{ left: 0, width: 0.5, ms: 4000 }, { left: 0.5, width: 0.5, ms: 4000 }, null, null],
    );
    assert.deepEqual(ganttOf([], AT), { bars: [], ticks: [], ms: 0 });
  });

  it("has a few round times below it, for milliseconds and for weeks", () => {
    assert.deepEqual(
      ticksOf(8000).map(({ name }) => name),
      ["0", "2 s", "4 s", "6 s", "8 s"],
    );
    for (const ms of [3, 999, 61_000, 3_700_000, 40 * 86_400_000]) {
      const { length } = ticksOf(ms);
      assert.ok(length >= 2 && length <= 8, `${length} for ${ms}`);
    }
  });
});

describe("what is different between two versions", () => {
  it("line by line, as few as can be", () => {
    const lines = diffLines("a\nb\nc\nd", "a\nc\nx\nd\ne");
    assert.deepEqual(
      lines.map(({ kind, text, before, after }) => [kind[0], text, before, after]),
      [
        ["s", "a", 1, 1],
        ["r", "b", 2, null],
        ["s", "c", 3, 2],
        ["a", "x", null, 3],
        ["s", "d", 4, 4],
        ["a", "e", null, 5],
      ],
    );
    assert.ok(diffLines("a\nb", "a\nb").every(({ kind }) => kind === "same"));
  });

  it("gives back both texts, whatever they are", () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 200; round += 1) {
      const text = () => Array.from({ length: random(12) }, () => "abcd"[random(4)]).join("\n");
      const [before, after] = [text(), text()];
      const lines = diffLines(before, after);
      const side = (not: string) =>
        lines
          .filter(({ kind }) => kind !== not)
          .map((line) => line.text)
          .join("\n");
      assert.equal(side("added"), before);
      assert.equal(side("removed"), after);
    }
  });

  it("puts away what is far from a change", () => {
    const before = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    const blocks = blocksOf(diffLines(before.join("\n"), before.with(15, "other").join("\n")), 2);
    assert.deepEqual(
      blocks.map((block) => ("hidden" in block ? -block.hidden.length : block.lines.length)),
      [-13, 6, -12],
    );
  });

  it("in words: which steps and params came, went and changed", () => {
    const before = {
      name: "x",
      params: { properties: { url: { type: "string" }, old: {} }, required: ["url"] },
      steps: [
        { name: "a", task_type: "scrape", params: { url: "1" } },
        { name: "b", task_type: "export" },
      ],
    };
    const after = {
      params: { required: ["url"], properties: { url: { type: "string" }, hook: {} } },
      name: "x",
      description: "new",
      steps: [
        { name: "a", task_type: "scrape", params: { url: "2" }, max_retries: 1 },
        { name: "c", task_type: "webhook" },
      ],
    };
    assert.deepEqual(
      definitionChanges(before, after).map(({ kind, what, keys }) => [kind, what, ...keys].join(" ")),
      [
        "changed step a params max_retries",
        "removed step b",
        "added step c",
        "removed param old",
        "added param hook",
        "changed description",
      ],
    );
    assert.deepEqual(definitionChanges(before, structuredClone(before)), []);
    assert.equal(same({ a: 1, b: [1] }, { b: [1], a: 1 }), true);
    assert.equal(same([1], { 0: 1 }), false);
  });
});

describe("a definition as people read it", () => {
  it("names what steps wait for, by name or index, and what params are", () => {
    const { steps, params } = outlineOf({
      params: {
        type: "object",
        properties: {
          hook: { type: ["string", "null"], default: null },
          urls: { type: "array", description: "The pages." },
        },
        required: ["urls"],
      },
      steps: [
        { name: "read", task_type: "scrape", params: { urls: "${{ params.urls }}" } },
        { name: "tell", task_type: "webhook", dependencies: ["read", 0], when: "params.hook != null", max_retries: 0 },
        { name: "each", task_type: "scrape", for_each: { in: "${{ steps.read.items }}", concurrency: 2 } },
      ],
    });
    assert.deepEqual(steps[1]?.dependencies, [0, 0]);
    assert.deepEqual(steps[1]?.notes, ["0 retries"]);
    assert.equal(steps[2]?.forEach, "${{ steps.read.items }} (2 at a time)");
    assert.deepEqual(
      params.map(({ name, type, required, usual }) => [name, type, required, usual]),
      [
        ["urls", "array", true, null],
        ["hook", "string or null", false, "null"],
      ],
    );
    assert.deepEqual(outlineOf("nonsense").steps, []);
  });

  it("says where JSON stops being JSON", () => {
    assert.deepEqual(readJson('{"steps": []}'), { value: { steps: [] } });
    assert.match((readJson("[1]") as { error: string }).error, /is an object/);
    assert.match((readJson('{"a": ') as { error: string }).error, /^Invalid JSON/);
  });
});

describe("the list of workflows", () => {
  it("has its filters in the address, beside what else stands there", () => {
    const search = new URLSearchParams("tab=templates&status=recoverable&q=cats");
    const filter = readFlowFilter(search);
    assert.deepEqual(flowQuery(filter), { status: "recoverable", q: "cats", limit: 100 });
    assert.equal(writeFlowFilter(search, { ...filter, q: "", status: null }).toString(), "tab=templates");
    assert.equal(readFlowFilter(new URLSearchParams("status=nonsense")).status, null);
  });

  it("is loaded again for what may change it, and not for every run that there is", () => {
    const rows = [
      { id: "a", status: "running" },
      { id: "b", status: "completed" },
    ] as FlowRow[];
    const changes = (run_id: string, type: FlowEvent["type"], meta = {}, status: "failed" | null = null) =>
      mayChange({ run_id, type, meta }, rows, { status });
    assert.ok(changes("a", "workflow.step_started") && !changes("b", "workflow.step_started"));
    assert.ok(changes("b", "run.reopened") && !changes("a", "task.retry_scheduled"));
    assert.ok(changes("c", "run.created", { kind: "workflow" }) && !changes("c", "run.created", { kind: "crawl" }));
    assert.ok(!changes("c", "run.completed") && changes("c", "run.failed", {}, "failed"));
  });

  it("takes over what the stream tells of its rows, and leaves the others as they are", () => {
    const row = (id: string) => ({ id, status: "running", progress: 10 }) as FlowRow;
    const told = (id: string, status: string, progress: number) =>
      ({ id, kind: "workflow", status, progress }) as LiveRun;
    const rows = [row("a"), row("b")];
    assert.equal(withLiveRuns(rows, [told("c", "running", 50), told("a", "running", 10)]), rows);
    const next = withLiveRuns(rows, [told("a", "completed", 100)]);
    assert.deepEqual([next[0]?.status, next[0]?.progress, next[1] === rows[1]], ["completed", 100, true]);
  });
});

it("says of a link to a step's items how many of them it leads to", () => {
  const kept = (...roles: string[]) =>
    roles.map((role, n) => ({ id: `${role}-${n}`, role })) as unknown as StepDetail["artifacts"];
  const fetched = (items_count: number | null, ...roles: string[]) =>
    itemsToFetch({ items_count, artifacts: kept(...roles) });
  assert.deepEqual(fetched(1000, "file", "items"), { words: "All as JSON", file: null });
  assert.deepEqual(fetched(1001, "file", "items"), { words: "All as JSON Lines", file: "items-1" });
  for (const roles of [["file"], ["items", "items"]])
    assert.deepEqual(fetched(1001, ...roles), { words: "First 1,000 as JSON", file: null });
});

describe("what steps brought", () => {
  const failed_pages = [{ url: "https://shop.example/p/17", error: "the server answered 404 (not found)" }];
  const brought = (task_type: string, result: Record<string, unknown> | null, items_count: number | null = null) => ({
    task_name: `the ${task_type}`,
    task_type,
    status: "completed",
    result,
    items_count,
  });
  const words = (kind: string, result: Record<string, unknown> | null, items?: number) =>
    outcomeWords(brought(kind, result, items));

  it("is said in a few words, by kind of step", () => {
    assert.equal(words("crawl", { pages: 29, failed: 1, failed_pages }), "29 pages, 1 failed");
    assert.equal(words("compare", { first_run: false, changed: 6, added: 0, removed: 2 }), "6 changed, 2 gone");
    assert.equal(words("compare", { first_run: false, changed: 0 }), "No changes");
    assert.equal(words("compare", { first_run: true }), "First run, nothing to compare with");
    assert.equal(words("deduplicate", { kept: 13, removed: 1 }), "13 kept, 1 duplicate");
    assert.equal(words("filter", { kept: 13, removed: 2 }), "13 kept, 2 dropped");
    assert.equal(words("export", { count: 13, bytes: 2000 }), "13 records, 2 KB");
    assert.equal(words("own", { anything: 1 }, 30), "30 records");
    assert.equal(words("own", null), "");
    assert.equal(outcomeWords({ ...brought("crawl", { pages: 1 }), status: "failed" }), "");
  });

  it("names what was tolerated, and an export without records", () => {
    const steps = [
      brought("crawl", { pages: 29, failed: 1, failed_pages }),
      brought("validate", { valid: 0, invalid: 1, reasons: { not_an_image: 1 } }),
      brought("filter", { kept: 7, removed: 3, reasons: { too_few_words: 2, no_text: 1 } }),
      brought("export", { count: 0 }),
      brought("download", { downloaded: 3, failed: 0 }),
    ];
    assert.deepEqual(outcomeNotes(steps), [
      { step: "the crawl", text: "1 of 30 pages failed: shop.example/p/17 (the server answered 404 (not found))" },
      { step: "the validate", text: "1 of 1 file invalid: not an image (1)" },
      { step: "the filter", text: "3 of 10 records dropped: too few words (2), no text (1)" },
      { step: "the export", text: "the export is empty: no records" },
    ]);
  });

  it("stands before how long it took; a condition that was not met is no error", () => {
    const done = step("read", "completed", [], { actual_duration: 4.1 });
    assert.equal(stepLine(done, AT, "29 pages, 1 failed"), "29 pages, 1 failed · 4.1 s");
    const why = "its condition is not met: steps.compare.output.changed > 0";
    assert.equal(stepLine(step("notify", "skipped", [], { error_message: why }), AT), "Condition not met");
    const other = step("crawl", "skipped", [], { error_message: why, task_type: "crawl" });
    assert.equal(stepLine(other, AT), "Condition not met");
    assert.equal(stepLine(step("x", "skipped", [], { error_message: "step read failed" }), AT), "step read failed");
  });

  it("a workflow that failed is measured by what it completed", () => {
    const counts = {
      pending: 0,
      queued: 0,
      running: 0,
      retrying: 0,
      completed: 1,
      failed: 1,
      skipped: 4,
      cancelled: 0,
    };
    assert.equal(stepsDone("failed", counts, 6), "1 of 6 steps completed");
    assert.equal(stepsDone("completed", { ...counts, completed: 3, failed: 0, skipped: 1 }, 4), "4 of 4 steps done");
  });
});
