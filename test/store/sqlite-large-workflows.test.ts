import assert from "node:assert/strict";
import { test } from "node:test";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { largeSketch } from "../contract/store/workflow-large.ts";
import { sketchWorkflow } from "../contract/store/workflow-kit.ts";
import { handClock, tempFolder } from "./bench.ts";

const run = () => ({
  kind: "workflow" as const,
  name: "w",
  maxAttempts: null,
  snapshot: null,
  workflow: sketchWorkflow(largeSketch(400)),
});

test("a workflow of many steps is written in parts: others have their turn in between, and see nothing of it", async () => {
  await using folder = await tempFolder();
  const { clock } = handClock();
  await using store = openSqliteStore({ path: `${folder.path}/orb.db`, clock });
  const created = store.startRun(run(), [], clock.now());
  const state = { isMade: false };
  void created.then(() => (state.isMade = true));
  let turns = 0;
  while (!state.isMade) {
    turns += 1;
    const seen = await store.runs({ limit: 10 });
    if (!state.isMade)
      assert.ok(
        seen.every(({ status }) => status === "running"),
        "as a whole or not at all",
      );
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(turns >= 10, `${turns} turns`);
  assert.equal((await store.workflow((await created).created.id))?.totalSteps, 400);
  assert.deepEqual((await store.audit()).findings, []);
});

test("what a process leaves of a workflow that dies while it makes it is seen by nobody, and removed", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/orb.db`;
  const { clock, times } = handClock();
  const first = openSqliteStore({ path, clock });
  const making = first.startRun(run(), [], clock.now());
  await new Promise((resolve) => setImmediate(resolve));
  await first.close();
  await assert.rejects(making);
  await using store = openSqliteStore({ path, clock });
  assert.deepEqual(await store.runs({ limit: 10 }), []);
  assert.deepEqual((await store.audit()).findings, []);
  const limits = { temporaryBefore: 0, endedBefore: null };
  assert.equal(await store.removeExpired(500), 0, "somebody could be at it");
  times.wall += 2 * 3_600_000;
  await store.expireRuns(limits, 1000, clock.now());
  while ((await store.removeExpired(500)) > 0);
  assert.deepEqual((await store.audit()).findings, []);
  const connection = new SqliteConnection(path, { readOnly: true });
  for (const table of ["runs", "streams", "tasks", "steps", "step_edges"])
    assert.equal(connection.db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"], 0, table);
  connection.close();
});
