import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../support/source.ts";
import { clusterPlan } from "./cluster/plan.ts";
import { simulate } from "./cluster/report.ts";
import { playSchedules, sentenceOf } from "./cluster/schedules.ts";

// The times here are simulated ones: they do not depend on the machine.
const SMALL = { pagesPerSite: 120, leaseTtlMs: 15_000, reconcileMs: 5000 };

test("twelve workers share the lanes, and killed and frozen ones among them cost no page and no limit", () => {
  const plan = clusterPlan(12, { ...SMALL, pagesPerSite: 240, killed: 2, frozen: 2, faultAtMs: 20_000 });
  const report = simulate(plan);
  assert.deepEqual(report.violations, []);
  assert.ok(report.fullest <= 1 && report.fullest > 0.9, `a site is used as far as it allows: ${report.fullest}`);
  // Eight lanes each would be even; those that came late to the table get theirs one by one, slice after slice.
  assert.ok(report.lanes.least >= 3 && report.lanes.most <= 9, JSON.stringify(report.lanes));
  assert.ok(report.pagesOfWorkers.least > report.pagesOfWorkers.middle / 3, JSON.stringify(report.pagesOfWorkers));
  const { leaseTtlMs, heartbeatMs, reconcileMs } = plan;
  for (const { least, most } of [report.recoveredAfterKill, report.recoveredAfterFreeze]) {
    // Nobody takes a lane before its lease is over, and then somebody does soon.
    assert.ok(least >= leaseTtlMs - heartbeatMs, `after ${least} ms`);
    assert.ok(most <= leaseTtlMs + 2 * reconcileMs, `after ${most} ms`);
  }
  assert.equal(report.fences, plan.frozen, "only those that were frozen lost their lease");
  assert.ok(report.refetched > 0 && report.refetched < report.pages / 10);
  assert.ok(report.rowsPerPage > plan.rowsPerPage && report.rowsPerPage < plan.rowsPerPage * 1.2);
});

test("more sites than all workers can hold take turns, and all come to their end", () => {
  const report = simulate(clusterPlan(3, { ...SMALL, slots: 4, sites: 60, pagesPerSite: 20, killed: 1, frozen: 1 }));
  assert.deepEqual(report.violations, []);
  assert.deepEqual(report.lanes, { least: 4, middle: 4, most: 4 });
  assert.ok(report.ownerChanges > 60, "lanes changed hands");
});

test("a database that cannot keep up makes pages wait, and loses no lease and no limit", () => {
  const plan = clusterPlan(12, { ...SMALL, pagesPerSite: 40, killed: 0, frozen: 0 });
  const report = simulate({ ...plan, writeMs: 40, cores: 1 });
  assert.deepEqual(report.violations, []);
  assert.ok(report.writerBusy > 0.9, `${report.writerBusy}`);
  // The longer outcomes wait, the more of them are written together.
  assert.ok(report.settlesPerPage < simulate(plan).settlesPerPage);
  assert.equal(report.fences, 0);
});

/** They differ in everything: what goes wrong, and when. */
for (const [count, from, slow] of [
  [40, 1, ""],
  [1500, 1001, " [slow]"],
] as const)
  test(`in ${count} schedules writers wait for each other, and for too long, and nothing is lost${slow}`, () => {
    const sum = playSchedules(from, count);
    assert.ok(
      sum.lockWaits > count && sum.lockTimeouts > count / 10 && sum.killed > 0 && sum.frozen > 0,
      sentenceOf(sum),
    );
    assert.ok(sum.pauses > 0 && sum.repeated > 0, sentenceOf(sum));
  });

test("it is noticed when runs are locked in another order, or leases wait for work", () => {
  assert.throws(() => playSchedules(1, 40, undefined, "order of locks"), /deadlock: /);
  assert.throws(
    () => playSchedules(1, 40, undefined, "heartbeats wait"),
    /a worker that was not frozen lost its lanes/,
  );
});

test("one seed, one story; another seed, another", () => {
  const plan = clusterPlan(4, { ...SMALL, pagesPerSite: 30 });
  assert.deepEqual(simulate(plan), simulate(plan));
  assert.notEqual(simulate({ ...plan, seed: 2 }).seconds, simulate(plan).seconds);
});

test("npm run simulate -- --workers shows a column for each size", () => {
  const args = ["scripts/run.mjs", join("test", "simulation", "main.ts"), "--workers", "2,4", "--pages-per-site", "20"];
  const said = execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  assert.match(said, /^\| workers +\| +2 \| +4 \|$/m);
  assert.match(said, /^\| violations of limits, locks and leases +\| +0 \| +0 \|$/m);
  assert.throws(
    () => execFileSync(process.execPath, [...args, "--slots", "many"], { cwd: root, encoding: "utf8", stdio: "pipe" }),
    /--slots: expected a number, got "many"/,
  );
});
