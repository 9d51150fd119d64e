import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as turn } from "node:timers/promises";
import { QUEUE_STATES, RUN_STATES, TASK_STATES, TERMINAL_RUN_STATES } from "../../src/domain/run/states.ts";
import { loadPart, noteLoadedAnew, ServerAway, wasLoadedAnew } from "../../web/src/logic/lazy-part.ts";
import { SubmitOnce } from "../../web/src/logic/submit-once.ts";
import { sparklinePath, summaryOf } from "../../web/src/ui/logic/series.ts";
import { GO_TO, NO_KEY, PAIR_MS, press } from "../../web/src/logic/shortcuts.ts";
import { isActive, lookOf } from "../../web/src/logic/states.ts";
import { Debouncer } from "../../web/src/ui/logic/debouncer.ts";
import {
  ALWAYS,
  fitColumns,
  leastWidth,
  moveRow,
  nextSort,
  rowIndex,
  shownColumns,
  sortRows,
} from "../../web/src/logic/table.ts";
import { moreBeyond } from "../../web/src/ui/logic/tabs.ts";

test("every state has a word, a tone and a shape of its own", () => {
  for (const state of [...RUN_STATES, ...TASK_STATES, ...QUEUE_STATES])
    assert.notEqual(lookOf(state).shape, "dot", state);
  const looks = RUN_STATES.map((state) => `${lookOf(state).tone} ${lookOf(state).shape}`);
  // Running and recovering look alike on purpose: both go on by themselves.
  assert.equal(new Set(looks).size, RUN_STATES.length - 1, looks.join(", "));
  assert.deepEqual(
    RUN_STATES.filter((state) => !isActive(state)),
    TERMINAL_RUN_STATES,
  );
  assert.equal(lookOf("something_new").word, "Something new");
  assert.equal(lookOf("constructor").word, "Constructor");
});

test("keys come alone or in pairs, and never while somebody types", () => {
  const key = (name: string, more: Partial<{ modified: boolean; typing: boolean; at: number }> = {}) => ({
    key: name,
    modified: false,
    typing: false,
    at: 0,
    ...more,
  });
  assert.equal(press(NO_KEY, key("n")).keys, "n");
  const after = press(NO_KEY, key("g"));
  assert.equal(after.keys, null);
  assert.equal(press(after.state, key("r", { at: 300 })).keys, "g r");
  assert.equal(press(after.state, key("x", { at: 300 })).keys, null);
  assert.equal(press(after.state, key("n", { at: PAIR_MS + 1 })).keys, "n");
  assert.equal(press(after.state, key("r", { typing: true })).keys, null);
  assert.equal(press(NO_KEY, key("n", { modified: true })).keys, null);
  assert.equal(new Set(GO_TO.map(({ keys }) => keys)).size, GO_TO.length);
});

test("a table is sorted up, down, and as it was; what has no value comes last", () => {
  const rows = [{ n: 2 }, { n: null }, { n: 10 }, { n: 1 }];
  const order = (descending: boolean) => sortRows(rows, ({ n }) => n, descending).map(({ n }) => n);
  assert.deepEqual(order(false), [1, 2, 10, null]);
  assert.deepEqual(order(true), [10, 2, 1, null]);
  assert.deepEqual(
    sortRows(["b10", "a", "b9"], (text) => text, false),
    ["a", "b9", "b10"],
  );
  const up = nextSort(null, "n");
  const down = nextSort(up, "n");
  assert.deepEqual([up?.descending, down?.descending, nextSort(down, "n")], [false, true, null]);
});

test("keys move through rows and stop at their ends; columns that were chosen are shown", () => {
  assert.deepEqual(
    [moveRow(-1, "j", 3), moveRow(2, "j", 3), moveRow(0, "k", 3), moveRow(1, "End", 3), moveRow(0, "j", 0)],
    [0, 2, 0, 2, -1],
  );
  const columns = [{ id: "a" }, { id: "b", hidden: true }, { id: "c" }];
  const ids = (chosen: string[] | null) => shownColumns(columns, chosen).map(({ id }) => id);
  assert.deepEqual([ids(null), ids(["b", "gone"]), ids(["gone"])], [["a", "c"], ["b"], ["a", "c"]]);
});

test("a table folds the columns for which it has no room, those of the lowest priority first, of equal ones the last", () => {
  const columns = [
    { id: "name", width: "minmax(0, 2fr)", phone: "head" as const },
    { id: "status", width: "100px", priority: 9 },
    { id: "size", width: "100px" },
    { id: "when", width: "minmax(100px, 1fr)" },
    { id: "extra", width: "50px", phone: "hide" as const },
    { id: "actions", width: "40px", priority: ALWAYS },
  ];
  assert.deepEqual(columns.map(leastWidth), [170, 100, 100, 100, 50, 40]);
  const ids = (width: number) => fitColumns(columns, width).shown.map(({ id }) => id);
  const all = 32 + 170 + 100 + 100 + 100 + 50 + 40 + 5 * 12;
  assert.deepEqual(ids(all), ["name", "status", "size", "when", "extra", "actions"]);
  assert.deepEqual(ids(all - 1), ["name", "status", "size", "when", "actions"]);
  assert.deepEqual(ids(580), ["name", "status", "size", "actions"]);
  assert.deepEqual(ids(450), ["name", "status", "actions"]);
  const least = fitColumns(columns, 200);
  assert.deepEqual([least.shown.map(({ id }) => id), least.isTight], [["name", "actions"], true]);
  assert.deepEqual(
    fitColumns(columns, 450).folded.map(({ id }) => id),
    ["size", "when", "extra"],
  );
  assert.equal(fitColumns(columns, Infinity).isTight, false);
  assert.deepEqual([leastWidth({}), leastWidth({ width: "minmax(0, 1fr)" })], [80, 120]);
});

test("a small line has gaps where nothing is known, and says in words what it shows", () => {
  assert.equal(sparklinePath([0, 10], 100, 20, 0), "M0.0 20.0L100.0 0.0");
  assert.equal(sparklinePath([1, null, 1], 100, 20, 0).split("M").length - 1, 2);
  assert.equal(sparklinePath([null, null], 100, 20), "");
  assert.equal(summaryOf("Pages", [1, 5, 3], String), "Pages: now 3, lowest 1, highest 5.");
  assert.equal(summaryOf("Pages", [null], String), "Pages: no values yet.");
});

test("a part that does not come waits for a server that is away; of one that is there the page is loaded anew, once", async () => {
  let anew = 0;
  const means = (there: boolean, can = true) => ({
    answers: async () => there,
    loadAnew: () => {
      anew += 1;
      return can;
    },
  });
  const gone = new Error("404");
  const fail = () => Promise.reject(gone);
  assert.equal(await loadPart(async () => "part", means(true)), "part");
  await assert.rejects(loadPart(fail, means(false)), ServerAway);
  assert.equal(anew, 0);
  assert.equal(await Promise.race([loadPart(fail, means(true)), turn(5, "still loading")]), "still loading");
  assert.equal(anew, 1);
  await assert.rejects(loadPart(fail, means(true, false)), gone);

  const noted = noteLoadedAnew("/assets/index-1.js", 1000);
  assert.equal(wasLoadedAnew(null, "/assets/index-1.js", 2000), false);
  assert.equal(wasLoadedAnew(noted, "/assets/index-1.js", 2000), true);
  assert.equal(wasLoadedAnew(noted, "/assets/index-2.js", 2000), false, "another build");
  assert.equal(wasLoadedAnew(noted, "/assets/index-1.js", 3_600_000), false, "long ago");
});

test("what is begun by a button is begun once, and after an unknown end it names itself by the same key", async () => {
  const lost = new Error("no answer");
  const doubleClicks: (() => void)[] = [];
  let created = 0;
  const once = new SubmitOnce({
    newKey: () => `key ${(created += 1)}`,
    isUnknown: (error) => error === lost,
    later: (work) => doubleClicks.push(work),
  });
  const sent: string[] = [];
  const begin = (what: string, end: () => string) =>
    once.do(what, async (key) => {
      sent.push(`${what}: ${key}`);
      await Promise.resolve();
      return end();
    });
  const fails = (error: Error) => () => {
    throw error;
  };
  await assert.rejects(Promise.all([begin("a", fails(lost)), begin("a", () => "never asked for")]), lost);
  assert.deepEqual(await Promise.all([begin("a", () => "run 1"), begin("a", () => "run 2")]), ["run 1", "run 1"]);
  assert.equal(await begin("b", () => "another"), "another");
  assert.equal(await begin("a", () => "run 3"), "run 1", "the second click of a double click");
  for (const over of doubleClicks) over();
  const refused = new Error("not like that");
  await assert.rejects(begin("a", fails(refused)), refused);
  assert.equal(await begin("a", () => "run 4"), "run 4");
  assert.deepEqual(sent, ["a: key 1", "a: key 1", "b: key 2", "a: key 3", "a: key 4"]);
});

test("the row that keys have led to stays the same when others come in, and its place is kept when it goes", () => {
  const at = (rows: string[], key: string, index: number) => rowIndex(rows, (row) => row, { key, index });
  assert.deepEqual([at(["a", "b"], "a", 0), at(["new", "a", "b"], "a", 0), at(["b", "c"], "a", 1)], [0, 1, 1]);
  assert.deepEqual([at(["b"], "a", 5), at([], "a", 0), rowIndex(["a"], (row) => row, null)], [0, -1, -1]);
});

test("what is asked for again and again is done soon, and then not before it has rested", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  let done = 0;
  const soon = new Debouncer(() => (done += 1), { soonMs: 100, restMs: () => 5000 });
  const asked = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      soon.ask();
      t.mock.timers.tick(50);
    }
    return done;
  };
  assert.deepEqual([asked(50), asked(50), asked(4900), asked(100), asked(5000)], [0, 1, 1, 2, 3]);
  t.mock.timers.tick(60_000);
  assert.equal(done, 3, "nothing is done that nobody asks for");
  soon.ask();
  soon.stop();
  t.mock.timers.tick(60_000);
  assert.equal(done, 3);
});

test("a list of tabs says at which edge it goes on", () => {
  const at = (scrollLeft: number, scrollWidth = 500) => moreBeyond({ scrollLeft, scrollWidth, clientWidth: 300 });
  assert.deepEqual([at(0, 300), at(0), at(80), at(199.5), at(200)], ["", "end", "start end", "start", "start"]);
});
