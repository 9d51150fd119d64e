import assert from "node:assert/strict";
import { test } from "node:test";
import { RUN_KINDS as KNOWN_KINDS, RUN_STATES as KNOWN_STATES } from "../../src/domain/run/states.ts";
import { EXPORT_FORMATS as KNOWN_FORMATS } from "../../src/exporters/registry.ts";
import { changeAll, countWords, matchedWords } from "../../web/src/pages/runs/logic/bulk.ts";
import { EXPORT_FORMATS } from "../../web/src/pages/runs/logic/result-table.ts";
import {
  choiceOf,
  matches,
  NO_FILTER,
  queryOf,
  readFilter,
  RUN_KINDS,
  RUN_STATES,
  writeFilter,
} from "../../web/src/pages/runs/logic/run-filter.ts";
import { belowTitle } from "../../web/src/logic/run-page.ts";
import { choose, hasGrown, isPartial, withRows } from "../../web/src/logic/run-rows.ts";
import {
  addView,
  BUILT_IN,
  currentView,
  readViews,
  removeView,
  writeViews,
} from "../../web/src/pages/runs/logic/saved-views.ts";

const NOW = Date.parse("2026-05-04T10:20:30Z");

test("the dashboard knows every state, kind and format that the server has", () => {
  assert.deepEqual([...RUN_STATES], [...KNOWN_STATES]);
  assert.deepEqual([...RUN_KINDS].toSorted(), [...KNOWN_KINDS].toSorted());
  assert.deepEqual(EXPORT_FORMATS.map(({ format }) => format).toSorted(), [...KNOWN_FORMATS].toSorted());
});

test("a filter goes into the address and comes back, and what is no filter is passed over", () => {
  const text = "status=running,failed&kind=crawl&site=shop.example%3A81&q=a+%26+b&time=24h&steps=true";
  const filter = readFilter(new URLSearchParams(text));
  assert.deepEqual(filter, {
    status: ["running", "failed"],
    kind: "crawl",
    site: "shop.example:81",
    q: "a & b",
    job: "",
    span: "24h",
    steps: true,
  });
  assert.equal(writeFilter(filter), text);
  const odd = readFilter(new URLSearchParams("status=nope,,&kind=__proto__&time=x&job=1&q=%20%20"));
  assert.deepEqual(odd, NO_FILTER);
  assert.equal(writeFilter(NO_FILTER), "");
});

test("what the server is asked is the filter, with a beginning that stays the same for a minute", () => {
  const filter = readFilter(new URLSearchParams("status=failed,partial&time=1h&q=x"));
  assert.deepEqual(queryOf(filter, NOW), {
    status: "partial,failed",
    q: "x",
    parent: "none",
    since: "2026-05-04T09:20:00.000Z",
  });
  assert.deepEqual(queryOf(filter, NOW), queryOf(filter, NOW + 20_000));
  assert.deepEqual(choiceOf(filter, NOW), {
    status: ["partial", "failed"],
    q: "x",
    parent: "none",
    since: "2026-05-04T09:20:00.000Z",
  });
  const all = { ...NO_FILTER, steps: true };
  assert.deepEqual([queryOf(all, NOW), choiceOf(all, NOW)], [{}, {}], "with those of steps");
  assert.deepEqual(queryOf({ ...NO_FILTER, q: "0bb57da0-3a" }, NOW), { q: "0bb57da0-3a" }, "an id is any run's");
});

const run = (id: string, more: object = {}) => ({
  id,
  job_id: null,
  status: "running",
  kind: "crawl",
  site: "a.example",
  name: null as string | null,
  url: "https://a.example/Start" as string | null,
  created_at: `2026-05-04T10:00:0${id}Z`,
  ...more,
});

test("a run that has just begun is put into the lists it belongs to, and into no other", () => {
  const fits = (search: string, more: object = {}) =>
    matches(readFilter(new URLSearchParams(search)), run("1", more), NOW);
  assert.ok(fits(""));
  assert.ok(fits("q=start") && !fits("q=other"));
  assert.ok(fits("q=named", { name: "Well named" }));
  assert.ok(fits("status=running&kind=crawl&site=a.example&time=1h"));
  assert.ok(!fits("status=failed") && !fits("kind=page") && !fits("site=b.example"));
  const ofStep = { parent: { run_id: "2", task_id: "3" } };
  assert.ok(!fits("", ofStep) && fits("steps=true", ofStep) && fits("", { parent: null }));
  assert.ok(!fits("time=1h", { created_at: "2026-05-04T09:00:00Z" }));
  const pages = [
    { rows: [run("5"), run("3")], next: "x" },
    { rows: [run("2")], next: "y" },
  ];
  const changed = [run("3", { status: "failed" }), run("7"), run("4"), run("1"), run("8", { kind: "page" })];
  const next = withRows(pages, changed, ({ kind }) => kind === "crawl");
  assert.deepEqual(
    next.map(({ rows }) => rows.map(({ id, status }) => `${id} ${status}`)),
    [["7 running", "5 running", "4 running", "3 failed"], ["2 running"]],
    "what is older than all that was loaded is loaded in its turn",
  );
  assert.equal(next[1], pages[1], "pages without changes are the same");
  assert.equal(pages[0]?.rows[1]?.status, "running");
  const whole = withRows([pages[0]!, { rows: [run("2")], next: null }], [run("1"), run("4")], () => true);
  assert.deepEqual(
    whole.map(({ rows }) => rows.map(({ id }) => id)),
    [
      ["5", "4", "3"],
      ["2", "1"],
    ],
    "a complete list has also what is older",
  );
  const none = withRows([{ rows: [] as ReturnType<typeof run>[], next: null }], [run("1")], () => true);
  assert.deepEqual(none[0]?.rows.length, 1);
});

test("a list that has grown, or that the stream tells in part, is loaded again", () => {
  const pages = (...sizes: number[]) =>
    sizes.map((size) => ({ rows: Array.from({ length: size }, (_, index) => run(String(index % 10))) }));
  assert.deepEqual(
    [[4], [8], [9], [8, 4], [9, 4]].map((sizes) => hasGrown(pages(...sizes), 4)),
    [false, false, true, false, true],
  );
  const isRunning = (status: string) => status === "running";
  assert.deepEqual([isPartial(pages(10, 10), isRunning), isPartial(pages(10, 11), isRunning)], [false, true]);
});

test("many runs are changed call by call: what was counted, each once, until somebody stops it", async () => {
  const asked: string[] = [];
  const outcome = (next: string | null) => ({
    done: 2,
    failed_count: 1,
    failed: [{ run_id: "r", detail: "d" }],
    next,
  });
  const sums: number[] = [];
  const go = (signal: AbortSignal, calls: (string | null)[]) =>
    changeAll(
      { next: "first" },
      (from) => {
        asked.push(from);
        return Promise.resolve(outcome(calls.shift() ?? null));
      },
      ({ done }) => sums.push(done),
      signal,
    );
  const sum = await go(new AbortController().signal, ["second", "third", null]);
  assert.deepEqual([asked, sums, sum.failed.length], [["first", "second", "third"], [2, 4, 6], 3]);
  assert.equal((await go(AbortSignal.abort(), ["second"])).done, 0);
  assert.equal(matchedWords(10_000), "10,000 or more runs");
  assert.equal(countWords(12_345), "12,345 runs");
});

test("views have names, are kept, replaced and removed, and whatever stands in the storage does no harm", () => {
  const failed = readFilter(new URLSearchParams("status=failed&site=shop.example"));
  const views = addView(addView([], "  Shop  ", failed), "Mine", NO_FILTER);
  assert.deepEqual(readViews(writeViews(views)), views);
  assert.equal(currentView(views, failed)?.name, "Shop");
  assert.equal(currentView(BUILT_IN, NO_FILTER)?.name, "All");
  assert.deepEqual(
    addView(views, "Shop", NO_FILTER).map(({ name }) => name),
    ["Mine", "Shop"],
  );
  assert.deepEqual(removeView(views, "Shop"), [{ name: "Mine", filter: NO_FILTER }]);
  assert.deepEqual(addView([], "  ", failed), []);
  for (const bad of [null, "", "{", "{}", "[1,null,{}]", '[{"name":" ","search":""}]'])
    assert.deepEqual(readViews(bad), []);
});

test("rows are chosen one by one and, with shift, all between two", () => {
  const ids = ["a", "b", "c", "d"];
  const one = choose(new Set(), ids, "b", { last: null, range: false });
  assert.deepEqual([...one], ["b"]);
  const more = choose(one, ids, "d", { last: "b", range: true });
  assert.deepEqual([...more].toSorted(), ["b", "c", "d"]);
  assert.deepEqual([...choose(more, ids, "b", { last: "d", range: true })], []);
  assert.deepEqual([...choose(one, ids, "a", { last: "gone", range: true })].toSorted(), ["a", "b"]);
});

test("runs of one address are told apart by what stands below them", () => {
  const run = { id: "60a997cb-f979", name: null, url: "http://a.example:9901/", kind: "crawl", site: "a.example:9901" };
  assert.equal(belowTitle(run), "/ · 60a997cb");
  assert.equal(belowTitle({ ...run, url: "http://a.example:9901/list?page=2" }), "/list?page=2 · 60a997cb");
  assert.equal(belowTitle({ ...run, name: "Prices" }), "a.example:9901");
  assert.equal(belowTitle({ ...run, url: null, kind: "queue" }), null);
});
