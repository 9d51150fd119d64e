import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Acquired, judge, type Traced } from "./lock-order.ts";

type Row = [type: string, key: string | number, more?: Partial<Acquired>];

const transaction = (scope: Traced["scope"], ...rows: Row[]): Traced => ({
  scope,
  acquired: rows.map(([type, key, more = {}]) => ({
    ...{ type, key: [key], mode: "no key update", waits: true, sql: "" },
    ...more,
  })),
});

const ALONE = { mode: "update" } as const;
const problemsOf = (...list: Traced[]) => judge(list).problems;

describe("the order in which transactions lock", () => {
  test("two that lock two tables in the same order are in order, and in another are not", () => {
    const one = transaction("runs", ["sites", "a"], ["site_counts", "a"]);
    assert.deepEqual(problemsOf(one, one), []);
    assert.deepEqual(judge([one]).order, ["sites", "site_counts"]);
    const swapped = transaction("runs", ["site_counts", "a"], ["sites", "a"]);
    assert.match(problemsOf(one, swapped).join(), /locked in a circle/);
  });

  test("rows of a table have to be locked in the order of their keys", () => {
    assert.deepEqual(problemsOf(transaction("runs", ["lanes", 2], ["lanes", 10])), []);
    assert.match(problemsOf(transaction("runs", ["lanes", 10], ["lanes", 2])).join(), /lanes are locked out of order/);
    // What is left out if others have locked it waits for nobody; but others wait for it.
    assert.deepEqual(problemsOf(transaction("runs", ["lanes", 10], ["lanes", 2, { waits: false }])), []);
    assert.match(
      problemsOf(transaction("runs", ["lanes", 10, { waits: false }], ["lanes", 2])).join(),
      /lanes are locked out of order/,
    );
  });

  test("rows of a run may be locked in any order, but only under the lock of the run", () => {
    const rows: Row[] = [
      ["tasks", 2, { partition: 7 }],
      ["tasks", 1, { partition: 7 }],
    ];
    const guarded = judge([transaction("runs", ["partition", 7, ALONE], ...rows)]);
    assert.deepEqual(guarded.problems, []);
    assert.equal(guarded.guarded.get("tasks"), "partition");
    assert.match(problemsOf(transaction("runs", ["partition", 8, ALONE], ...rows)).join(), /tasks are locked out/);
    assert.match(problemsOf(transaction("runs", ...rows, ["partition", 7, ALONE])).join(), /tasks are locked out/);
    assert.match(problemsOf(transaction("row", ...rows)).join(), /tasks are locked out/);
    assert.deepEqual(problemsOf(transaction("runs", ...rows.map(([a, b]): Row => [a, b, { own: true }]))), []);
  });

  test("what every writer locks under one name may be locked in any order", () => {
    const rows: Row[] = [
      ["robots", 2],
      ["robots", 1],
    ];
    const named = transaction("runs", ["name robots", "", ALONE], ...rows);
    assert.deepEqual(problemsOf(named), []);
    assert.match(problemsOf(named, transaction("runs", ["robots", 1])).join(), /robots are locked out of order/);
    // Another name is another lock.
    const keyed = transaction("runs", ["name job", "x", ALONE], ...rows);
    assert.match(problemsOf(keyed).join(), /robots are locked out of order/);
    const owned = rows.map(([a, b]): Row => [a, b, { guard: ["name job", "x"] }]);
    assert.deepEqual(problemsOf(transaction("runs", ["name job", "x", ALONE], ...owned)), []);
  });

  test("one that excludes all others meets only those that take no lock of the deployment", () => {
    const all = transaction("all", ["lanes", 2], ["lanes", 1]);
    assert.deepEqual(problemsOf(all, transaction("runs", ["lanes", 1], ["lanes", 2])), []);
    assert.match(problemsOf(all, transaction("row", ["lanes", 1])).join(), /lanes are locked out of order/);
  });

  test("a row that is only kept from being deleted is in nobody's way, until somebody deletes it", () => {
    const keeps = transaction("row", ["budget_permits", 1], ["owners", "a", { mode: "key share" }]);
    const renews = transaction("row", ["owners", "a"], ["budget_permits", 1]);
    assert.deepEqual(problemsOf(keeps, renews), []);
    assert.match(problemsOf(keeps, renews, transaction("row", ["owners", "a", ALONE])).join(), /locked in a circle/);
  });

  test("a new row is waited for by those alone that insert the same", () => {
    const isNew = { ...ALONE, isNew: true } as const;
    const inserts = (...rows: Row[]) => transaction("runs", ["name new lanes", "", ALONE], ...rows);
    assert.deepEqual(problemsOf(inserts(["sites", "z", isNew], ["sites", "a"])), []);
    assert.match(problemsOf(transaction("runs", ["sites", "z", isNew], ["sites", "a"])).join(), /sites are locked out/);
  });
});
