import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { STORE_ACCESS, type StoreMethods } from "../../src/store/ports/access.ts";
import { storeContract } from "../contract/store.ts";
import { candidate } from "../contract/store/kit.ts";
import { servicesGate } from "../support/services-kit.ts";
import { judge } from "./lock-order.ts";
import { PostgresBench } from "./postgres-bench.ts";

describe("Postgres, with the order of locks traced", servicesGate, () => {
  const bench = PostgresBench.startTraced();
  after(async () => (await bench)[Symbol.asyncDispose]());
  storeContract("Postgres", async () => (await bench).harness());

  test("whatever the scenarios did: rows that runs share are locked in one order", async (t) => {
    // The leader's lock; the scenarios of the engine's are for a database with a single engine.
    const store = await (await (await bench).harness()).open();
    await store.takeEngine(candidate("leader"), 1000);
    await store.releaseEngine("leader");
    const traced = await (await bench).traced();
    if (traced === null) return t.skip("needs pg_walinspect, which comes with Postgres 15 or newer");
    const writing = (Object.keys(STORE_ACCESS) as (keyof StoreMethods)[]).filter(
      (name) => STORE_ACCESS[name] !== "read",
    );
    const { called } = await bench;
    const missing = writing.filter((name) => !called.has(name));
    assert.deepEqual(missing, [], "run the whole file: this test looks at what all others did");
    const { problems, guarded, order } = judge(traced);
    assert.equal(problems.length, 0, problems.slice(0, 20).join("\n"));
    // What belongs to a run is locked under the lock of the run alone, and what runs share is among what was looked at.
    for (const table of ["runs", "streams", "tasks", "artifacts", "run_errors", "steps", "workflows"])
      assert.equal(guarded.get(table), "partition", table);
    for (const table of ["page_states", "page_copies", "fixtures"]) assert.equal(guarded.get(table), "name job", table);
    for (const table of ["monitors", "monitor_states", "monitor_changes", "monitor_files"])
      assert.equal(guarded.get(table), "name monitor", table);
    for (const table of ["owners", "lanes", "sites", "site_counts", "orphaned_files", "budgets", "control"])
      assert.ok(order.includes(table), `${table} among ${order.join(", ")}`);
  });
});
